// The analyses of a run: outcomes, real separation, abilities, baseline, difficulty, other cross-check solvers.

import { h } from "./dom.js";
import { between, count, percent, points } from "./format.js";
import { badge } from "./outcome.js";
import { named, panel, ranges, table, tablesView } from "./panels.js";

const share = (value) => percent(value);
const logits = (value) => `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}`;
const pValue = (p) => (p === null || p === undefined ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));

function outcomes(run) {
  const rows = run.outcomes.map((one) => [badge(one.outcome), count(one.sessions), percent(one.of ? one.rate : null), between(one.over_pairs) || "–", between(one.these_pairs) || "–", between(one.across_samples) || "–"]);
  return panel("Outcomes", table("Outcomes", ["outcome", "sessions", "share", "95% over pairs", "95% these pairs", "95% across samples (the paper's)"], rows),
    run.sampling && h("p", {}, `The sessions were sampled adaptively. Weighted over all pairs, ${percent(run.sampling.rate.value)} are calibrated (95%: ${between(run.sampling.rate.interval)}).`));
}

function audit(run) {
  if (!run.audit) return panel("Real separation", h("p", { class: "quiet" }, "Not measured: ", h("code", {}, `aske audit ${run.path} --draws 4`), " has the final questions solved again, which separates skill from luck."));
  const { estimates: found, draws, auditable } = run.audit;
  const rows = [["calibrated on fresh draws", found.calibrated], ["real separation", found.separation, "of the two solvers"], ["sampling luck", found.noise],
    found.again && ["calibrated again", found.again, "if it was calibrated in the run"], ["two copies of one solver", found.same], found.shuffled && ["the same questions on other pairs", found.shuffled]];
  return panel("Real separation", ranges("Real separation", rows.filter(Boolean), share, 0),
    h("p", { class: "quiet" }, `Audit of ${count(found.sessions)} of ${count(auditable)} sessions, ${draws} draws of each solver; 95%, clustered by pair.`));
}

function ability(run, { ability: found }) {
  if (!found) return null;
  const rows = found.solvers.map((name, at) => [name, found.abilities.ability[at], found.abilities.fit?.[at]]).filter(([, estimate]) => estimate);
  const right = (name) => run.solvers.find((solver) => solver.name === name);
  const fit = found.abilities.p;
  return panel("Ability of the solvers", ranges("Ability of the solvers, logits", rows.map(([name, estimate]) => {
    const one = right(name);
    return [named(name), estimate, one?.answered ? `${percent(one.right / one.answered, 0)} of ${count(one.answered)} right` : ""];
  }), logits, 0),
  h("p", { class: "quiet" }, `Smallest first, in logits: of two solvers one logit apart, the better one is the one that is right in 73% of the sessions in which exactly one is. From ${count(found.abilities.items)} final questions by conditional likelihood; lines are 95%. Fit of one scale: p ${fit !== null && fit < 0.001 ? "" : "= "}${pValue(fit)}.`));
}

function baseline(run) {
  if (!run.baseline) return null;
  const rows = run.baseline.outcomes.map((one) => {
    const probed = run.outcomes.find((other) => other.outcome === one.outcome);
    return [badge(one.outcome), percent(probed?.of ? probed.rate : null), percent(one.of ? one.rate : null), between(one.over_pairs) || "–"];
  });
  const [probing, without] = [run.sampling?.rate.value ?? run.outcomes[0].rate, run.baseline.outcomes[0].rate];
  return panel("Without probing", h("p", {}, `${percent(probing)} calibrated with probing, ${percent(without)} without, over ${count(run.baseline.questions)} questions: an effect of ${points(probing - without)} points.`),
    table("Without probing", ["outcome", "with probing", "without", "95% over questions"], rows));
}

function difficulty(run) {
  if (run.difficulty.length === 0) return null;
  return panel("Difficulty for easy and hard pairs", run.difficulty.map((found) => [
    h("p", {}, named(found.solver), found.difference
      ? ` fails ${points(found.difference.value)} points more often on questions for the hard pair (95%: ${points(found.difference.interval.low)} to ${points(found.difference.interval.high)}; p ${found.p < 0.001 ? "" : "= "}${pValue(found.p)}).`
      : ": too few questions to compare."),
    table(`Difficulty by ${found.solver}`, ["pair", "failed", "share", "95%"], found.targets.map(({ pair, failed }) => [named(pair), `${count(failed.hits)} of ${count(failed.of)}`, percent(failed.of ? failed.rate : null), between(failed.interval) || "–"]))]));
}

function regrades(run) {
  if (run.regrades.length === 0) return null;
  const rows = run.regrades.map((one) => [named(one.grader), count(one.sessions), percent(one.calibrated[0]), percent(one.calibrated[1]),
    points(one.shift?.difference.value ?? one.calibrated[1] - one.calibrated[0]), one.shift ? `${points(one.shift.difference.interval.low)} to ${points(one.shift.difference.interval.high)}` : "–", count(one.changed)]);
  return panel("Other cross-check solvers", table("Other cross-check solvers", ["graded by", "sessions", "calibrated by the run", "by it", "shift, points", "95%, over pairs", "outcomes changed"], rows));
}

/** The view of `#/run/RUN/analysis`. */
export const analysis = tablesView("Analysis", (run, tables) => [
  outcomes(run), audit(run), ability(run, tables), baseline(run), difficulty(run), regrades(run)].filter(Boolean));
