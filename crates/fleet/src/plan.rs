//! A plan: which servers on which GPUs, with how much of their memory, on which ports; and in which phases where not all
//! fit at once.

use crate::gpus::{Gpus, ROOM};
use crate::model::{GB, Model, Need};
use crate::order::{Effort, Impossible, MOST_MODELS, Order, order};
use crate::pack::{Item, pack};
use serde::Serialize;

/// A server of the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Server {
    /// What it serves.
    pub model: Model,
    /// The memory it needs.
    pub need: Need,
    /// GPUs that it is spread over.
    pub spread: usize,
    /// Thousandths of each of them that it takes.
    pub share: u32,
    /// Where it listens.
    pub port: u16,
}

/// A server on its GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// Its place among the plan's servers.
    pub server: usize,
    /// The numbers of its GPUs.
    pub gpus: Vec<usize>,
}

/// What changes, and the pairs that are asked then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// Servers that stop, by their place.
    pub stop: Vec<usize>,
    /// Servers that start.
    pub start: Vec<Placed>,
    /// Pairs of solvers.
    pub pairs: Vec<[String; 2]>,
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The GPUs.
    pub gpus: Gpus,
    /// Every server.
    pub servers: Vec<Server>,
    /// One phase where all fit at once.
    pub phases: Vec<Phase>,
    /// Loads of all phases.
    pub loads: usize,
    /// No plan has fewer.
    pub bound: usize,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Nothing is to be served.
    #[error("there is nothing to serve: no model of this configuration is on a server of this machine")]
    Nothing,
    /// Neither its size nor its name tells what it needs.
    #[error("models.{0}: its size is not known")]
    Size(String),
    /// It cannot read that much.
    #[error("models.{name}: sequences of {length} tokens are planned, but it reads {longest} at most")]
    Length {
        /// The model.
        name: String,
        /// What is planned.
        length: u32,
        /// What it can.
        longest: u32,
    },
    /// It fits on no number of these GPUs.
    #[error(
        "models.{name} does not fit on {gpus}: {need:.1} GB (weights {weights:.1}, cache {cache:.1}, overhead \
         {overhead:.1})"
    )]
    Large {
        /// The model.
        name: String,
        /// The GPUs.
        gpus: Gpus,
        /// All it needs, in gigabytes, and of what it is made.
        need: f64,
        /// Its weights.
        weights: f64,
        /// Its cache.
        cache: f64,
        /// Its overhead.
        overhead: f64,
    },
    /// Models that stay leave no room for others.
    #[error("the models that stay throughout do not fit on {0} together")]
    Stay(Gpus),
    /// Two models cannot be loaded together.
    #[error("`{one}` and `{other}` do not fit on {gpus} together, so their pair cannot be asked")]
    Apart {
        /// One.
        one: String,
        /// The other.
        other: String,
        /// The GPUs.
        gpus: Gpus,
    },
    /// There are too many.
    #[error("{0} models are more than can be ordered")]
    Many(usize),
    /// Ports run out.
    #[error("there are not enough ports from {0} on")]
    Ports(u16),
}

impl PlanError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Nothing => {
                "a model is served here if its provider is `openai` and its url is of this machine, such as \
                 http://localhost:8001/v1"
                    .to_owned()
            }
            Self::Size(name) => format!("set `params` in [models.{name}], in billions"),
            Self::Length { longest, .. } => {
                format!("--length {longest}, or smaller token budgets in [protocol]")
            }
            Self::Large { .. } | Self::Stay(_) | Self::Apart { .. } => {
                "fewer sequences (--sequences), eight bits (--quantisation fp8), or more GPUs (--gpus)"
                    .to_owned()
            }
            Self::Many(_) => format!("plan at most {MOST_MODELS} models at a time, with --solvers"),
            Self::Ports(_) => "choose a lower first port with --port".to_owned(),
        }
    }
}

impl Plan {
    /// Plans servers for these models. `elsewhere` are solvers that need no GPU of this fleet.
    pub fn new(
        models: &[Model],
        elsewhere: &[String],
        gpus: Gpus,
        first_port: u16,
        effort: Effort,
    ) -> Result<Self, PlanError> {
        if models.is_empty() {
            return Err(PlanError::Nothing);
        }
        let servers = models
            .iter()
            .enumerate()
            .map(|(at, model)| server(model, gpus, first_port, at))
            .collect::<Result<Vec<_>, _>>()?;
        let items: Vec<Item> = servers.iter().map(|s| Item { share: s.share, gpus: s.spread }).collect();
        if let Some(placed) = pack(&items, gpus.count, ROOM) {
            let start = (0..).zip(placed).map(|(server, gpus)| Placed { server, gpus }).collect();
            let solvers = names(models).chain(elsewhere.iter().cloned()).collect::<Vec<_>>();
            let phases = vec![Phase { stop: Vec::new(), start, pairs: pairs(&solvers) }];
            let loads = servers.len();
            return Ok(Self { gpus, servers, phases, loads, bound: loads });
        }
        in_phases(servers, elsewhere, gpus, effort)
    }

    /// All servers run at the same time.
    pub fn at_once(&self) -> bool {
        self.phases.len() == 1
    }

    /// The servers that run in a phase, with their GPUs.
    pub fn running(&self, phase: usize) -> Vec<Placed> {
        let mut running: Vec<Placed> = Vec::new();
        for phase in self.phases.iter().take(phase + 1) {
            running.retain(|placed| !phase.stop.contains(&placed.server));
            running.extend(phase.start.iter().cloned());
        }
        running.sort_by_key(|placed| placed.server);
        running
    }

    /// Thousandths of each GPU that are taken in a phase.
    pub fn taken(&self, phase: usize) -> Vec<u32> {
        let mut taken = vec![0; self.gpus.count];
        for placed in self.running(phase) {
            for gpu in placed.gpus {
                taken[gpu] += self.servers[placed.server].share;
            }
        }
        taken
    }
}

fn server(model: &Model, gpus: Gpus, first_port: u16, at: usize) -> Result<Server, PlanError> {
    let need = model.need().ok_or_else(|| PlanError::Size(model.name.clone()))?;
    if let Some(longest) = model.longest()
        && model.length > longest
    {
        return Err(PlanError::Length { name: model.name.clone(), length: model.length, longest });
    }
    let spreads = std::iter::successors(Some(1), |spread| Some(spread * 2)).take_while(|s| *s <= gpus.count);
    let fits = |spread: &usize| gpus.share(need.on(*spread as u64)) <= ROOM;
    let port = u16::try_from(at).ok().and_then(|at| first_port.checked_add(at));
    let port = port.ok_or(PlanError::Ports(first_port))?;
    let Some(spread) = spreads.into_iter().find(fits) else {
        let gb = |bytes: u64| bytes as f64 / GB as f64;
        return Err(PlanError::Large {
            name: model.name.clone(),
            gpus,
            need: gb(need.on(1)),
            weights: gb(need.weights),
            cache: gb(need.cache),
            overhead: gb(need.overhead),
        });
    };
    let share = gpus.share(need.on(spread as u64));
    Ok(Server { model: model.clone(), need, spread, share, port })
}

/// Solvers come and go, in groups of GPUs as large as the largest model needs.
fn in_phases(
    mut servers: Vec<Server>,
    elsewhere: &[String],
    gpus: Gpus,
    effort: Effort,
) -> Result<Plan, PlanError> {
    let spread = servers.iter().map(|server| server.spread).max().unwrap_or(1);
    for server in &mut servers {
        server.spread = spread;
        server.share = gpus.share(server.need.on(spread as u64));
    }
    let numbers = |group: usize| (group * spread..(group + 1) * spread).collect::<Vec<_>>();
    let (stay, go): (Vec<usize>, Vec<usize>) =
        (0..servers.len()).partition(|at| servers[*at].model.always || !servers[*at].model.solver);
    let mut rooms = vec![ROOM; gpus.count / spread];
    let items: Vec<Item> = stay.iter().map(|at| Item { share: servers[*at].share, gpus: 1 }).collect();
    let placed = pack(&items, rooms.len(), ROOM).ok_or(PlanError::Stay(gpus))?;
    let mut phases = vec![Phase::default()];
    for (at, group) in stay.iter().zip(placed.into_iter().flatten()) {
        rooms[group] -= servers[*at].share;
        phases[0].start.push(Placed { server: *at, gpus: numbers(group) });
    }
    let sizes: Vec<u32> = go.iter().map(|at| servers[*at].share).collect();
    let name = |at: usize| servers[go[at]].model.name.clone();
    let Order { steps, bound } = order(&sizes, &rooms, effort).map_err(|problem| match problem {
        Impossible::Apart(one, other) => PlanError::Apart { one: name(one), other: name(other), gpus },
        Impossible::TooMany => PlanError::Many(go.len()),
    })?;
    // Who needs no GPU, or stays, meets the others as they come for the first time.
    let staying =
        stay.iter().filter(|at| servers[**at].model.solver).map(|at| servers[*at].model.name.clone());
    let there: Vec<String> = staying.chain(elsewhere.iter().cloned()).collect();
    phases[0].pairs = pairs(&there);
    let mut come = vec![false; go.len()];
    let loads = stay.len() + steps.len();
    for step in steps {
        if !step.unload.is_empty() {
            phases.push(Phase { stop: step.unload.iter().map(|at| go[*at]).collect(), ..Phase::default() });
        }
        let Some(phase) = phases.last_mut() else { break };
        phase.start.push(Placed { server: go[step.load], gpus: numbers(step.gpu) });
        phase.pairs.extend(step.pairs.iter().map(|[one, other]| [name(*one), name(*other)]));
        if !std::mem::replace(&mut come[step.load], true) {
            phase.pairs.extend(there.iter().map(|other| [name(step.load), other.clone()]));
        }
    }
    Ok(Plan { gpus, servers, phases, loads, bound: bound + stay.len() })
}

fn names(models: &[Model]) -> impl Iterator<Item = String> {
    models.iter().filter(|model| model.solver).map(|model| model.name.clone())
}

fn pairs(names: &[String]) -> Vec<[String; 2]> {
    let pair = |one: usize, other: usize| [names[one].clone(), names[other].clone()];
    (0..names.len()).flat_map(|one| (one + 1..names.len()).map(move |other| pair(one, other))).collect()
}
