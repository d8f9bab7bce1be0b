// Two evaluations, problem by problem.

import { request } from "./api.js";
import { h, fill, refill, select } from "./dom.js";
import { count, percent, points } from "./format.js";
import { PAGE, pagedList } from "./paged-list.js";
import { compareLink, filterOf, go, runLink } from "./route.js";
import { prose, shownName } from "./text.js";

const FILTERS = ["q", "change"];
const CHANGES = [["", "all problems"], ["up", "more often right in the second"], ["down", "less often right in the second"], ["same", "equally often right"]];
const p = (value) => (value === null || value === undefined ? "–" : value < 0.001 ? "< 0.001" : value.toFixed(3));

function table({ base, trained, lines }) {
  const head = ["dataset", "metric", "problems", base, trained[0], "change, points", "95% by problem", "p", "p (Holm)", "smallest visible"];
  const row = (line) => {
    const found = line.change;
    return h("tr", {}, h("th", { scope: "row" }, shownName(line.title)), h("td", {}, `${line.metric === "pass" ? "pass" : "avg"}@${line.k}`), h("td", {}, count(line.problems)),
      h("td", {}, percent(line.base)), h("td", {}, percent(line.mean)), h("td", {}, points(line.mean - line.base)),
      h("td", { class: "quiet" }, found ? `${points(found.difference.interval.low)} to ${points(found.difference.interval.high)}` : "–"), h("td", {}, p(found?.p)), h("td", {}, p(line.p_holm)),
      h("td", {}, found ? (100 * found.smallest).toFixed(1) : "–"));
  };
  return h("div", { class: "scroll" }, h("table", { class: "numbers wide", "aria-label": "Both evaluations" },
    h("thead", {}, h("tr", {}, head.map((one) => h("th", { scope: "col" }, shownName(one))))), h("tbody", {}, lines.map(row))));
}

const meter = (right, samples) => h("span", { class: "badge" }, h("span", { class: "meter", vars: { rate: samples ? right / samples : 0 }, "aria-hidden": "true" }), `${count(right)} of ${count(samples)}`);

function row(one, runs) {
  const [first, second] = one.right.map((right, at) => (one.samples[at] ? right / one.samples[at] : 0));
  const kind = first === second ? "" : second > first ? "up" : "down";
  const open = (side) => runLink(runs[side], ["problem", one.dataset, one.problem]);
  return h("div", { class: `row compared ${kind}` },
    h("span", { class: "change" }, h("a", { class: "plain", href: open(0), "aria-label": "in the first" }, meter(one.right[0], one.samples[0])), h("span", { "aria-hidden": "true" }, " → "),
      h("a", { class: "plain", href: open(1), "aria-label": "in the second" }, meter(one.right[1], one.samples[1]))),
    h("span", { class: "pair" }, h("span", { class: "name" }, shownName(one.dataset)), ` ${shownName(one.problem)}`, h("span", { class: "quiet" }, one.level === null ? "" : ` level ${one.level}`)),
    h("a", { class: "compared-link question", dir: "auto", href: open(1), data: { name: `${one.dataset}/${one.problem}` } }, prose(one.question)));
}

/** The view of `#/compare/RUN/RUN?…` for two evaluations. */
export async function evalCompare(context, route) {
  const runs = context.runs.slice(0, 2).map((run) => run.id);
  let query = route.query;
  const list = pagedList("Problems of both evaluations");
  const [scores, notes] = [h("section", { "aria-label": "Scores" }), h("div")];
  const search = h("input", { type: "search", placeholder: "Search problems", "aria-label": "Search problems", on: { input: () => find() } });
  const change = select("Change", CHANGES, query.get("change") ?? "", () => find());
  const find = () => go(compareLink(runs, { q: search.value, change: change.value }), true);
  const read = async () => {
    const filter = filterOf(query, FILTERS);
    const offset = Number(query.get("offset")) || 0;
    const page = await request("eval-compare", { first: runs[0], second: runs[1], ...filter, offset, limit: PAGE });
    if (document.activeElement !== search) search.value = filter.q ?? "";
    change.value = filter.change ?? "";
    refill(scores, page.comparison, () => (page.comparison ? table(page.comparison) : h("p", { class: "quiet" }, "The two evaluations share no problem.")));
    fill(notes, page.notes.map((note) => h("p", { class: "quiet" }, shownName(note))));
    list.draw(page, (one) => row(one, runs), (next) => { go(compareLink(runs, { ...filter, offset: next || "" })); scrollTo(0, 0); });
  };
  await read();
  return {
    title: "Comparison",
    node: [h("h1", {}, "Comparison of two evaluations"),
      h("p", {}, runs.map((run, at) => [at > 0 && h("span", { class: "quiet" }, " and "), h("a", { class: "name", href: runLink(run) }, shownName(run))]), " ",
        h("a", { class: "button", href: compareLink([...runs].reverse()) }, "Swap")),
      scores, notes, h("h2", { class: "list-head" }, "Problem by problem"), h("p", { class: "filters" }, search, " ", change), list.node],
    navigate: async (next) => { query = next.query; await read(); },
    update: read,
    keys: { ...list.keys, search: () => { search.focus(); search.select(); }, back: () => go(runLink(runs[0])) },
  };
}
