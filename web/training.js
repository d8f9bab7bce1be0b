// A training: curves of all seeds side by side, measurements before and after, and sample questions by step.

import { request } from "./api.js";
import { h, fill } from "./dom.js";
import { count, percent, points, seconds } from "./format.js";
import { badge } from "./outcome.js";
import { chart } from "./plot.js";
import { compareLink, go, homeLink, runLink, sessionLink } from "./route.js";
import { prose, shownName } from "./text.js";

const share = (value) => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)}%`;
const number = (value) => (Math.abs(value) >= 1000 ? count(Math.round(value)) : Number(value.toPrecision(3)).toString());

/** All charts: `[column, title, options]`, in groups. */
const GROUPS = [
  ["Reward and its parts", [["reward", "reward"], ["reward_calibration", "calibration reward"], ["reward_format", "format reward"], ["reward_diversity", "diversity reward"]]],
  ["Outcomes of the rollouts", ["calibrated", "too_easy", "too_hard", "no_question", "bad_cross_check"].map((id) => [id, id, { fixed: [0, 1], shown: share }])],
  ["Watch", [["fixed_calibrated", "calibrated, by the fixed cross-check"], ["agreement", "agrees with the fixed cross-check"], ["truth", "agrees with the oracle"], ["distinct", "distinct questions"],
    ["valid", "valid questions"]].map(([id, title]) => [id, title, { fixed: [0, 1], shown: share }]).concat([["novelty", "novelty"]])],
  ["Policy", [["entropy", "token entropy"], ["ratio", "mean importance ratio"], ["clipped", "clipped ratios", { shown: share }], ["drift", "log-probability drift"],
    ["gradient_norm", "gradient norm"], ["loss", "loss"], ["rate", "learning rate"]]],
  ["Tokens and time", [["tokens", "sampled tokens"], ["read", "tokens with prompts"], ["truncated", "truncated turns"], ["failures", "failed rollouts"], ["step_s", "step, s"], ["sampling_s", "sampling, s"],
    ["learning_s", "learning, s"], ["serving_s", "handing over weights, s"]]],
];

function charts(seeds) {
  const line = (seed, at, column) => ({ name: `seed ${seed.seed}`, tone: `series-${at % 8}`,
    points: (seed.columns.step ?? []).map((step, index) => [step, seed.columns[column]?.[index] ?? null]) });
  const limits = (column, shown) => [...new Set(seeds.map((seed) => seed.limits?.[column]).filter(Boolean))].map((value) => ({ value, name: `limit ${shown(value)}` }));
  // On a narrow screen only the first groups are open.
  const wide = matchMedia("(min-width: 861px)").matches;
  return GROUPS.map(([heading, all], at) => {
    const drawn = all.map(([column, title, options = {}]) =>
      chart({ title, series: seeds.map((seed, at) => line(seed, at, column)), limits: limits(column, options?.shown ?? number), shown: number, legend: false, ...options })).filter(Boolean);
    return drawn.length > 0 && h("details", { class: "chart-group", open: wide || at < 2 }, h("summary", {}, h("h2", {}, heading)), h("div", { class: "charts" }, drawn));
  });
}

const estimate = (found, show) => (found ? [show(found.value), h("span", { class: "quiet" }, ` ${show(found.interval.low)} to ${show(found.interval.high)}`)] : "–");

/** The table that `aske train` writes at its end; each value is checked, for the file may say anything. */
function results(rows) {
  const real = (value) => typeof value === "number" && Number.isFinite(value);
  const sound = (value) => (real(value?.value) && real(value?.interval?.low) && real(value?.interval?.high) ? value : null);
  const known = rows.filter((row) => row && typeof row === "object").slice(0, 70);
  if (known.length === 0) return null;
  const columns = [["", (row) => shownName(String(row.name).slice(0, 60))], ["calibrated", (row) => estimate(sound(row.calibrated), percent)], ["gain, points", (row) => estimate(sound(row.gain), points)],
    ...[["distinct", "distinct"], ["valid", "valid"], ["judge", "own judge right"], ["avg", "held-out avg"], ["pass", "held-out pass"]].map(([key, label]) => [label, (row) => (real(row[key]) ? percent(row[key]) : "–")])];
  return h("div", { class: "scroll" }, h("table", { class: "numbers wide", "aria-label": "Before and after training" },
    h("thead", {}, h("tr", {}, columns.map(([label]) => h("th", { scope: "col" }, label)))),
    h("tbody", {}, known.map((row) => h("tr", {}, columns.map(([, show], at) => (at === 0 ? h("th", { scope: "row" }, show(row)) : h("td", {}, show(row)))))))));
}

/** Sessions of the measurements before and after with their final questions. */
async function samples(found) {
  const before = found.measurements.find((one) => one.seed === null);
  const after = found.measurements.find((one) => one.seed !== null);
  if (!before || !after) return null;
  const page = await request("compare", { first: before.run, second: after.run, differs: "false", limit: 6 });
  if (page.rows.length === 0) return null;
  const cell = (row, side) => h("td", {}, h("a", { class: "plain", href: sessionLink([before.run, after.run][side], row.name) },
    badge(row.outcomes[side]), h("span", { class: "question", dir: "auto" }, row.questions[side] === null ? h("i", { class: "quiet" }, "no question") : prose(row.questions[side]))));
  return [h("div", { class: "scroll" }, h("table", { class: "samples", "aria-label": "Final questions before and after" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "pair"), h("th", { scope: "col" }, "before"), h("th", { scope: "col" }, `after, seed ${after.seed}`))),
    h("tbody", {}, page.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.pair.map((name) => h("span", { class: "name" }, shownName(name), " ")), h("span", { class: "quiet" }, `#${row.sample}`)), cell(row, 0), cell(row, 1)))))),
    h("p", {}, h("a", { href: compareLink([before.run, after.run]) }, "Compare all sessions"))];
}

/** The rollouts of one step of a seed. */
function rollouts(page, run) {
  if (page.groups.every((group) => group.sessions.length === 0)) return h("p", { class: "quiet" }, "No rollout of this step is in the folder.");
  return page.groups.map((group) => h("section", { class: "rollouts", "aria-label": group.pair.join(" and ") },
    h("h3", {}, group.pair.map((name) => h("span", { class: "name" }, shownName(name), " "))),
    h("ol", { class: "rows" }, group.sessions.map((one) => h("li", {}, h("a", { class: `row rollout ${one.outcome ?? "ungraded"}`, href: sessionLink(run, one.name), data: { name: one.name } },
      badge(one.outcome ?? "ungraded", true), h("span", { class: "question", dir: "auto" }, one.question === null ? h("i", { class: "quiet" }, "no question") : prose(one.question))))))));
}

/** The page of a training: `#/run/RUN?seed=&step=`. */
export async function training(context, route) {
  const run = context.run.id;
  let query = route.query;
  const [top, curves, measured, asked] = [h("section", { class: "headline" }), h("div"), h("section", { "aria-label": "Before and after" }), h("section", { "aria-label": "Questions by step" })];
  let found = null;

  const drawTop = () => {
    const last = found.seeds.map((seed) => seed.step ?? 0);
    const time = found.seeds.map((seed) => (seed.columns.step_s ?? []).reduce((sum, one) => sum + one, 0) * seed.every);
    fill(top, h("h1", {}, h("span", { class: "name" }, shownName(run)), " ", h("span", { class: "quiet" }, "training")),
      found.seeds.length === 0 && h("p", { class: "trouble" }, "This training has no seed that can be read."),
      h("ul", { class: "seeds" }, found.seeds.map((seed, at) => h("li", { class: `series-${at % 8}` },
        h("b", {}, `seed ${seed.seed}`), `: step ${count(last[at])}${seed.planned ? ` of ${count(seed.planned)}` : ""}`, time[at] > 0 && ` · ${seconds(time[at])}`,
        " · ", h("a", { href: runLink(seed.run) }, "rollouts"), seed.every > 1 && h("span", { class: "quiet" }, ` · every ${seed.every}th step is drawn`),
        seed.trouble && h("p", { class: "trouble" }, seed.trouble)))));
  };
  const drawMeasured = async () => {
    const links = found.measurements.map((one) => h("a", { class: "button", href: runLink(one.run) }, one.seed === null ? "before" : `after, seed ${one.seed}`));
    const part = h("div");
    fill(measured, h("h2", { class: "below" }, "Before and after"), results(found.result ?? []) ?? h("p", { class: "quiet" }, found.measurements.length ? "The table is written when a seed is finished." : "This training was not measured."),
      links.length > 0 && h("p", { class: "links" }, links), part);
    try {
      fill(part, await samples(found));
    } catch (error) {
      if (error.name !== "AbortError") fill(part, h("p", { class: "quiet" }, error.message));
    }
  };
  const drawAsked = async () => {
    const usable = found.seeds.filter((seed) => (seed.step ?? 0) > 0);
    if (usable.length === 0) return fill(asked);
    const seed = usable.find((one) => String(one.seed) === query.get("seed")) ?? usable[0];
    const step = Math.min(Math.max(1, Number(query.get("step")) || seed.step), seed.step);
    const to = (changes) => runLink(run, [], { seed: String(seed.seed), step: String(step), ...changes });
    const slider = h("input", { type: "range", min: 1, max: seed.step, value: step, "aria-label": "Step", on: { change: () => go(to({ step: slider.value })) } });
    const button = (text, next) => h("a", { class: `button${next < 1 || next > seed.step ? " off" : ""}`, href: to({ step: String(Math.min(Math.max(1, next), seed.step)) }) }, text);
    const list = h("div");
    fill(asked, h("h2", { class: "below" }, "Questions by step"), h("div", { class: "stepper" },
      usable.length > 1 && usable.map((one) => h("a", { class: "button", href: to({ seed: String(one.seed) }), "aria-current": one === seed ? "true" : false }, `seed ${one.seed}`)),
      button("‹", step - 1), slider, button("›", step + 1), h("span", {}, `step ${count(step)} of ${count(seed.step)}`)), list);
    try {
      fill(list, rollouts(await request("rollouts", { run: seed.run, step }), seed.run));
    } catch (error) {
      if (error.name !== "AbortError") fill(list, h("p", { class: "trouble", role: "alert" }, error.message));
    }
    return null;
  };
  const read = async () => {
    found = await request("training", { run });
    drawTop();
    fill(curves, charts(found.seeds));
    await Promise.all([drawMeasured(), drawAsked()]);
  };
  await read();
  return {
    title: run,
    node: [top, measured, curves, asked],
    navigate: async (next) => { query = next.query; await drawAsked(); },
    update: read,
    keys: { back: () => go(homeLink()) },
  };
}
