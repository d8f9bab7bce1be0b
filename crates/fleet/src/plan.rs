//! Plans servers for a boundary set: their GPUs, memory and ports, and phases if not all fit at once.

use crate::gpus::{Gpus, USABLE_PERMILLE};
use crate::model::{GB, MemoryEstimate, Model};
use crate::order::{LoadOrder, MAX_MODELS, OrderError, SearchBudget, order};
use crate::pack::{PackItem, pack};
use aske_chat::Hint;
use serde::Serialize;
use std::borrow::Cow;

/// A server of the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Server {
    /// The model it serves.
    pub model: Model,
    /// Its memory.
    #[serde(rename = "need")]
    pub memory: MemoryEstimate,
    /// The number of its GPUs.
    #[serde(rename = "spread")]
    pub tensor_parallel: usize,
    /// Thousandths of each GPU that it uses.
    pub share: u32,
    /// The port it listens on.
    pub port: u16,
}

/// A server on its GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// The index among the plan's servers.
    pub server: usize,
    /// The indices of its GPUs.
    pub gpus: Vec<usize>,
}

/// The changes at the start of a phase, and the pairs that run in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// Servers that stop, by index.
    pub stop: Vec<usize>,
    /// Servers that start.
    pub start: Vec<Placement>,
    /// Pairs of solvers.
    pub pairs: Vec<[String; 2]>,
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The GPUs.
    pub gpus: Gpus,
    /// Thousandths of each GPU that are reserved for other processes.
    pub reserved: Vec<u32>,
    /// All servers.
    pub servers: Vec<Server>,
    /// The phases; one if all servers fit at once.
    pub phases: Vec<Phase>,
    /// The number of times a model is loaded.
    pub loads: usize,
    /// A lower bound on the loads of any plan.
    pub bound: usize,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// There are no models to serve.
    #[error("nothing to serve: no model of this configuration is on a server of this machine")]
    NoModels,
    /// The size of a model is unknown.
    #[error("models.{0}: its size is unknown")]
    UnknownSize(String),
    /// The planned sequences exceed a model's context.
    #[error("models.{name}: sequences of {length} tokens exceed its context of {max_context}")]
    ContextTooLong {
        /// The model.
        name: String,
        /// The planned length.
        length: u32,
        /// Its context.
        max_context: u32,
    },
    /// A model does not fit on these GPUs.
    #[error(
        "models.{name} does not fit on {gpus}: {need:.1} GB (weights {weights:.1}, cache {cache:.1}, overhead \
         {overhead:.1}), and at most {free:.1} GB of a GPU are free for servers"
    )]
    TooLarge {
        /// The model.
        name: String,
        /// The GPUs.
        gpus: Gpus,
        /// Its memory, in gigabytes.
        need: f64,
        /// Its weights.
        weights: f64,
        /// Its cache.
        cache: f64,
        /// Its overhead.
        overhead: f64,
        /// The memory that servers may use on the GPU with most of it.
        free: f64,
    },
    /// Memory is reserved on a GPU that does not exist.
    #[error("memory is reserved on GPU {index}, but {gpus} ends with GPU {}", .gpus.count - 1)]
    NoSuchGpu {
        /// The index of the GPU.
        index: usize,
        /// The GPUs.
        gpus: Gpus,
    },
    /// The resident models do not fit together.
    #[error("the models that stay loaded in every phase do not fit on {0} together")]
    ResidentsTooLarge(Gpus),
    /// Two models cannot be loaded together.
    #[error("`{one}` and `{other}` do not fit on {gpus} together, so their pair cannot run")]
    PairTooLarge {
        /// The first model.
        one: String,
        /// The second model.
        other: String,
        /// The GPUs.
        gpus: Gpus,
    },
    /// There are too many models.
    #[error("{0} models exceed the limit of {MAX_MODELS}")]
    TooManyModels(usize),
    /// There are not enough ports.
    #[error("not enough ports from {0} on")]
    PortsExhausted(u16),
}

impl Hint for PlanError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NoModels => {
                "a model is served here if its provider is `openai` and its url is on this machine, such as \
                               http://localhost:8001/v1"
                    .into()
            }
            Self::UnknownSize(name) => format!("set `params` in [models.{name}], in billions").into(),
            Self::ContextTooLong { max_context, .. } => {
                format!("--length {max_context}, or smaller token budgets in [protocol]").into()
            }
            Self::TooLarge { .. } | Self::ResidentsTooLarge(_) | Self::PairTooLarge { .. } => {
                "fewer sequences (--sequences), eight bits (--quantisation fp8), or more GPUs (--gpus)".into()
            }
            Self::NoSuchGpu { .. } => "GPUs are numbered from 0".into(),
            Self::TooManyModels(_) => "select fewer models with --solvers".into(),
            Self::PortsExhausted(_) => "choose a lower first port with --port".into(),
        })
    }
}

impl Plan {
    /// Plans servers for these models.
    ///
    /// `external` are solvers that need no GPU of this fleet. `reserved` are bytes on each GPU, by index, that other
    /// processes use and servers leave free, such as those of a learner; GPUs beyond its end have none.
    pub fn new(
        models: &[Model],
        external: &[String],
        gpus: Gpus,
        reserved: &[u64],
        first_port: u16,
        budget: SearchBudget,
    ) -> Result<Self, PlanError> {
        if models.is_empty() {
            return Err(PlanError::NoModels);
        }
        if let Some(index) = (gpus.count..reserved.len()).find(|gpu| reserved[*gpu] > 0) {
            return Err(PlanError::NoSuchGpu { index, gpus });
        }
        let reserved: Vec<u32> =
            (0..gpus.count).map(|gpu| gpus.share(reserved.get(gpu).copied().unwrap_or_default())).collect();
        let capacities: Vec<u32> =
            reserved.iter().map(|reserved| USABLE_PERMILLE.saturating_sub(*reserved)).collect();
        let servers = models
            .iter()
            .enumerate()
            .map(|(at, model)| server(model, gpus, &capacities, first_port, at))
            .collect::<Result<Vec<_>, _>>()?;
        let items: Vec<PackItem> =
            servers.iter().map(|s| PackItem { share: s.share, gpus: s.tensor_parallel }).collect();
        if let Some(placed) = pack(&items, &capacities) {
            let start = (0..).zip(placed).map(|(server, gpus)| Placement { server, gpus }).collect();
            let solvers = names(models).chain(external.iter().cloned()).collect::<Vec<_>>();
            let phases = vec![Phase { stop: Vec::new(), start, pairs: pairs(&solvers) }];
            let loads = servers.len();
            return Ok(Self { gpus, reserved, servers, phases, loads, bound: loads });
        }
        in_phases(servers, external, gpus, reserved, &capacities, budget)
    }

    /// Whether all servers run at the same time.
    pub fn at_once(&self) -> bool {
        self.phases.len() == 1
    }

    /// The servers that run in a phase.
    pub fn running(&self, phase: usize) -> Vec<Placement> {
        let mut running: Vec<Placement> = Vec::new();
        for phase in self.phases.iter().take(phase + 1) {
            running.retain(|placed| !phase.stop.contains(&placed.server));
            running.extend(phase.start.iter().cloned());
        }
        running.sort_by_key(|placed| placed.server);
        running
    }

    /// Thousandths of each GPU that are used in a phase, including reserved memory.
    pub fn used(&self, phase: usize) -> Vec<u32> {
        let mut used = self.reserved.clone();
        for placed in self.running(phase) {
            for gpu in placed.gpus {
                used[gpu] += self.servers[placed.server].share;
            }
        }
        used
    }
}

fn server(
    model: &Model,
    gpus: Gpus,
    capacities: &[u32],
    first_port: u16,
    at: usize,
) -> Result<Server, PlanError> {
    let memory = model.memory().ok_or_else(|| PlanError::UnknownSize(model.name.clone()))?;
    if let Some(max_context) = model.max_context()
        && model.length > max_context
    {
        return Err(PlanError::ContextTooLong {
            name: model.name.clone(),
            length: model.length,
            max_context,
        });
    }
    let counts =
        std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count <= gpus.count);
    let fits = |count: &usize| {
        let share = gpus.share(memory.per_gpu(*count as u64));
        capacities.iter().filter(|capacity| share <= **capacity).count() >= *count
    };
    let port = u16::try_from(at).ok().and_then(|at| first_port.checked_add(at));
    let port = port.ok_or(PlanError::PortsExhausted(first_port))?;
    let Some(tensor_parallel) = counts.into_iter().find(fits) else {
        let gb = |bytes: u64| bytes as f64 / GB as f64;
        return Err(PlanError::TooLarge {
            name: model.name.clone(),
            gpus,
            need: gb(memory.per_gpu(1)),
            weights: gb(memory.weights),
            cache: gb(memory.cache),
            overhead: gb(memory.overhead),
            free: f64::from(capacities.iter().copied().max().unwrap_or_default()) * f64::from(gpus.gb)
                / 1000.0,
        });
    };
    let share = gpus.share(memory.per_gpu(tensor_parallel as u64));
    Ok(Server { model: model.clone(), memory, tensor_parallel, share, port })
}

/// Plans phases in which solvers are loaded and unloaded, on groups of as many GPUs as the largest model needs.
fn in_phases(
    mut servers: Vec<Server>,
    external: &[String],
    gpus: Gpus,
    reserved: Vec<u32>,
    capacities: &[u32],
    budget: SearchBudget,
) -> Result<Plan, PlanError> {
    let group_size = servers.iter().map(|server| server.tensor_parallel).max().unwrap_or(1);
    for server in &mut servers {
        server.tensor_parallel = group_size;
        server.share = gpus.share(server.memory.per_gpu(group_size as u64));
    }
    // GPUs with the same free memory are grouped, so that as little as possible is lost.
    let mut by_capacity: Vec<usize> = (0..gpus.count).collect();
    by_capacity.sort_by_key(|gpu| (std::cmp::Reverse(capacities[*gpu]), *gpu));
    let groups: Vec<Vec<usize>> = by_capacity
        .chunks_exact(group_size)
        .map(|group| {
            let mut group = group.to_vec();
            group.sort_unstable();
            group
        })
        .collect();
    let smallest = |group: &Vec<usize>| group.iter().map(|gpu| capacities[*gpu]).min().unwrap_or_default();
    let (residents, solvers): (Vec<usize>, Vec<usize>) =
        (0..servers.len()).partition(|at| servers[*at].model.resident || !servers[*at].model.solver);
    let mut capacities: Vec<u32> = groups.iter().map(smallest).collect();
    let items: Vec<PackItem> =
        residents.iter().map(|at| PackItem { share: servers[*at].share, gpus: 1 }).collect();
    let placed = pack(&items, &capacities).ok_or(PlanError::ResidentsTooLarge(gpus))?;
    let mut phases = vec![Phase::default()];
    for (at, group) in residents.iter().zip(placed.into_iter().flatten()) {
        capacities[group] -= servers[*at].share;
        phases[0].start.push(Placement { server: *at, gpus: groups[group].clone() });
    }
    let sizes: Vec<u32> = solvers.iter().map(|at| servers[*at].share).collect();
    let name = |at: usize| servers[solvers[at]].model.name.clone();
    let LoadOrder { steps, bound } = order(&sizes, &capacities, budget).map_err(|error| match error {
        OrderError::NeverTogether(one, other) => {
            PlanError::PairTooLarge { one: name(one), other: name(other), gpus }
        }
        OrderError::TooMany => PlanError::TooManyModels(solvers.len()),
    })?;
    // Pairs with a resident or external solver run when the other solver is loaded for the first time.
    let resident_solvers =
        residents.iter().filter(|at| servers[**at].model.solver).map(|at| servers[*at].model.name.clone());
    let always_loaded: Vec<String> = resident_solvers.chain(external.iter().cloned()).collect();
    phases[0].pairs = pairs(&always_loaded);
    let mut loaded_before = vec![false; solvers.len()];
    let loads = residents.len() + steps.len();
    for step in steps {
        if !step.unload.is_empty() {
            phases.push(Phase {
                stop: step.unload.iter().map(|at| solvers[*at]).collect(),
                ..Phase::default()
            });
        }
        let Some(phase) = phases.last_mut() else { break };
        phase.start.push(Placement { server: solvers[step.load], gpus: groups[step.gpu].clone() });
        phase.pairs.extend(step.pairs.iter().map(|[one, other]| [name(*one), name(*other)]));
        if !std::mem::replace(&mut loaded_before[step.load], true) {
            phase.pairs.extend(always_loaded.iter().map(|other| [name(step.load), other.clone()]));
        }
    }
    Ok(Plan { gpus, reserved, servers, phases, loads, bound: bound + residents.len() })
}

fn names(models: &[Model]) -> impl Iterator<Item = String> {
    models.iter().filter(|model| model.solver).map(|model| model.name.clone())
}

fn pairs(names: &[String]) -> Vec<[String; 2]> {
    let pair = |one: usize, other: usize| [names[one].clone(), names[other].clone()];
    (0..names.len()).flat_map(|one| (one + 1..names.len()).map(move |other| pair(one, other))).collect()
}
