// An evaluation: scores by dataset and level, the list of problems, and one problem with every reply.

import { request } from "./api.js";
import { h, fill, refill, select } from "./dom.js";
import { fold } from "./requests.js";
import { between, count, percent } from "./format.js";
import { PAGE, pagedList } from "./paged-list.js";
import { chart } from "./plot.js";
import { filterOf, go, homeLink, runLink } from "./route.js";
import { neighbourLinks } from "./session.js";
import { answerText, box, prose, shownName } from "./text.js";
import { draw, rich } from "./turn.js";

const SOLVED = [["", "all problems"], ["always", "always right"], ["sometimes", "sometimes right"], ["never", "never right"]];
const FILTERS = ["q", "solved"];
const level = (one) => (one.level === null ? "" : ` level ${one.level}`);
/** The samples on a page. */
const SAMPLES = 20;

const rate = (one) => (one ? [h("td", {}, percent(one.value)), h("td", { class: "quiet" }, between(one.interval) || "–")] : [h("td", {}, "–"), h("td")]);

/** The k that are shown: 1, 2, 4, … and the largest. */
export function shownK(fewest) {
  const all = [];
  for (let k = 1; k < fewest; k *= 2) all.push(k);
  return fewest > 0 ? [...all, fewest] : [];
}

function scoreTable({ datasets, pooled }) {
  const fewest = Math.min(...datasets.map((one) => one.fewest));
  const most = Math.max(...datasets.map((one) => one.most));
  const ks = shownK(fewest);
  const row = (title, score, rest = null, kind = "") => h("tr", { class: kind }, h("th", { scope: "row" }, shownName(title)), h("td", {}, count(score.problems)), h("td", {}, count(score.samples)),
    rate(score.average), ks.map((k) => rate(score.pass[k - 1])),
    rest ? [h("td", {}, percent(score.samples ? rest.capped / score.samples : null)), h("td", {}, percent(score.samples ? rest.unboxed / score.samples : null)), h("td", {}, count(Math.round(rest.tokens)))] : [h("td", {}, ""), h("td", {}, ""), h("td", {}, "")]);
  const head = ["dataset", "problems", "samples", `avg@${most}`, "95%", ...ks.flatMap((k) => [`pass@${k}`, "95%"]), "truncated", "no box", "tokens"];
  return h("div", { class: "scroll" }, h("table", { class: "numbers wide scores", "aria-label": "Scores" },
    h("thead", {}, h("tr", {}, head.map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", {}, datasets.map((one) => [row(one.title, one, one),
      Object.entries(one.levels).map(([name, score]) => row(`level ${name}`, score, null, "level"))]), pooled && row("All problems", pooled))));
}

function passChart({ datasets }) {
  const points = (one) => one.pass.map(({ value, interval }, at) => [at + 1, value, interval?.low, interval?.high]);
  const thin = (all) => (all.length > 200 ? all.filter((_, at) => at % Math.ceil(all.length / 200) === 0 || at === all.length - 1) : all);
  const options = { fixed: [0, 1], shown: (value) => percent(value), axis: "k" };
  const all = [chart({ title: "pass@k, with 95% intervals", series: datasets.map((one) => ({ name: shownName(one.title), points: thin(points(one)) })), ...options }),
    ...datasets.filter((one) => Object.keys(one.levels).length > 1).map((one) => chart({ title: `${shownName(one.title)}: pass@k by level`,
      series: Object.entries(one.levels).map(([name, score]) => ({ name: `level ${name}`, points: thin(score.pass.map(({ value }, at) => [at + 1, value])) })), ...options }))];
  return h("div", { class: "charts" }, all);
}

/** Scores with their charts. */
const scoresOf = (scores) => (scores.datasets.length === 0 ? h("p", { class: "quiet" }, "No sample has been graded yet.")
  : [scoreTable(scores), h("p", { class: "quiet" }, "Intervals are by problem, since samples of one problem are correlated."), scores.datasets.some((one) => one.fewest > 1) && passChart(scores)]);

function row(one, href) {
  return h("a", { class: "row", href, data: { name: `${one.dataset}/${one.problem}` } },
    h("span", { class: "badge" }, h("span", { class: "meter", vars: { rate: one.samples ? one.right / one.samples : 0 }, "aria-hidden": "true" }), `${count(one.right)} of ${count(one.samples)}`),
    h("span", { class: "pair" }, h("span", { class: "name" }, shownName(one.dataset)), ` ${shownName(one.problem)}`, h("span", { class: "quiet" }, level(one))),
    h("span", { class: "question", dir: "auto" }, prose(one.question)));
}

/** The view of `#/run/RUN?…` for an evaluation. */
export async function evaluation(context, route) {
  const run = context.run.id;
  let query = route.query;
  const found = pagedList("Problems");
  const search = h("input", { type: "search", placeholder: "Search problems", "aria-label": "Search problems",
    on: { input: () => find() } });
  const solved = select("How often right", SOLVED, query.get("solved") ?? "", () => find());
  const find = () => go(runLink(run, [], { q: search.value, solved: solved.value }), true);
  const [top, scores] = [h("section", { class: "headline" }), h("section", { "aria-label": "Scores" })];
  const readScores = async () => {
    const all = await request("scores", { run });
    const { model, samples, right } = all;
    fill(top, h("h1", {}, h("span", { class: "name" }, shownName(model || run)), " ", h("span", { class: "quiet" }, "on benchmarks")),
      h("p", { class: "quiet" }, `${count(right)} of ${count(samples)} samples are right`));
    refill(scores, all, () => scoresOf(all));
  };
  const read = async () => {
    const offset = Number(query.get("offset")) || 0;
    const filter = filterOf(query, FILTERS);
    const page = await request("evals", { run, ...filter, offset, limit: PAGE });
    if (document.activeElement !== search) search.value = filter.q ?? "";
    solved.value = filter.solved ?? "";
    found.draw(page, (one) => row(one, runLink(run, ["problem", one.dataset, one.problem], filter)),
      (next) => { go(runLink(run, [], { ...filter, offset: next || "" })); scrollTo(0, 0); });
  };
  await Promise.all([read(), readScores()]);
  return {
    title: run,
    node: [top, scores, h("h2", { class: "list-head" }, "Problems"), h("p", { class: "filters" }, search, " ", solved), found.node],
    navigate: async (next) => { query = next.query; await read(); },
    update: () => Promise.all([read(), readScores()]),
    keys: { ...found.keys, search: () => { search.focus(); search.select(); }, back: () => go(homeLink()) },
  };
}

const by = (sample) => (sample.by === "none" ? "not compared" : `decided by ${shownName(sample.by)}`);

/** The request of one sample. */
async function sent(run, one, sample) {
  const { call, trouble } = await request("eval-call", { run, dataset: one.dataset, problem: one.problem, sample: sample.number });
  if (!call) return h("p", { class: "quiet" }, trouble ?? "The request cannot be rebuilt: its instruction is not in the run folder.");
  return [h("p", { class: "quiet" }, h("span", { class: "is-right" }, "✓ "), "This is the message that was sent: its hash is the stored one."),
    call.messages.map((message) => [h("h4", {}, message.role), box(message.content, `Message of the ${message.role}`, "small exact")])];
}

/** The view of `#/run/RUN/problem/DATASET/PROBLEM?…`. */
export async function problem(context, route) {
  const run = context.run.id;
  const [dataset, name] = [route.parts[0] ?? "", route.parts[1] ?? ""];
  const filter = filterOf(route.query, FILTERS);
  const here = (query) => runLink(run, ["problem", dataset, name], { ...filter, ...query });
  const node = h("div", { class: "sheet" });
  let neighbours = null;
  const show = async (query) => {
    const [only, offset] = [query.get("only") ?? "", Number(query.get("from")) || 0];
    const one = await request("eval", { run, dataset, problem: name, ...filter, only, offset, limit: SAMPLES });
    const to = (other) => (other ? runLink(run, ["problem", ...other], filter) : null);
    neighbours = neighbourLinks("Problems", runLink(run, [], filter), to(one.before), to(one.after));
    const choice = select("Samples", [["", "all samples"], ["right", "right ones"], ["wrong", "wrong ones"]], only, (value) => go(here({ only: value })));
    const end = offset + one.samples.length;
    const turn = (text, from, can) => h("button", { type: "button", disabled: !can, on: { click: () => go(here({ only, from: from > 0 ? from : "" })) } }, text);
    fill(node, neighbours.node,
      h("header", { class: "sheet-head" },
        h("h1", {}, h("span", { class: "name" }, shownName(one.dataset)), ` ${shownName(one.problem)}`, h("span", { class: "quiet" }, level(one))),
        h("p", {}, `${count(one.right)} of ${count(one.total)} samples are right`)),
      h("section", { class: "turn last", "aria-label": "Problem" }, rich(one.question, "Problem", "question-text"),
        h("p", { class: "answer", dir: "auto" }, h("span", { class: "quiet" }, "Reference answer "), h("span", { class: "value" }, answerText(one.reference)))),
      h("section", { class: "turn samples-of", "aria-label": "Samples" }, h("div", { class: "list-head" }, h("h2", {}, "Samples"), choice),
        h("div", { class: "side-by-side" }, one.samples.map((sample) => draw(sample, `Sample ${sample.number + 1}`,
          { right: sample.right, note: `${by(sample)}${sample.boxed ? "" : ", no box"}`, sent: fold("Message of this call", () => sent(run, one, sample), "sent") }))),
        one.matching > SAMPLES && h("nav", { class: "pager", "aria-label": "Pages of samples" }, h("span", { class: "quiet" }, `${count(offset + 1)} to ${count(end)} of ${count(one.matching)}`),
          turn("‹ Previous", offset - SAMPLES, offset > 0), turn("Next ›", offset + SAMPLES, end < one.matching))));
    return one;
  };
  const one = await show(route.query);
  return {
    title: `${one.dataset} ${one.problem}`, node,
    navigate: async (next) => { await show(next.query); node.querySelector(".samples-of")?.scrollIntoView({ block: "start" }); },
    keys: Object.fromEntries(["next", "previous", "back"].map((key) => [key, () => neighbours.keys[key]()])),
  };
}
