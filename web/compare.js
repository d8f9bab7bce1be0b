// Compares two runs on the sessions they share.

import { request, evidence } from "./api.js";
import { h, fill, refill } from "./dom.js";
import { count, percent, points } from "./format.js";
import { PAGE, pagedList, names } from "./paged-list.js";
import { OUTCOMES, badge } from "./outcome.js";
import { bothLink, compareLink, filterOf, go, homeLink, runLink } from "./route.js";
import { headlineOf } from "./run-summary.js";
import { prose } from "./text.js";

const FIVE = OUTCOMES.slice(0, 5);

function verdict(tables, pair, runs) {
  const found = tables.comparisons?.find((one) => pair.every((index) => one.runs.includes(index)));
  if (!found) return null;
  const swapped = found.runs[0] !== pair[0];
  const sign = swapped ? -1 : 1;
  const { value, interval } = found.paired.difference;
  const ends = [interval.low, interval.high].map((end) => sign * end).sort((a, b) => a - b);
  const better = { first: swapped ? 1 : 0, second: swapped ? 0 : 1 }[found.verdict];
  const text = better === undefined ? "No difference was found." : [h("span", { class: "name" }, runs[pair[better]].name), " is better."];
  return h("p", { class: "verdict" }, h("b", {}, text), " First minus second: ", h("b", {}, points(sign * value)), " points",
    h("span", { class: "quiet" }, ` (95%: ${points(ends[0])} to ${points(ends[1])}; p ${found.p_holm < 0.001 ? "< 0.001" : `= ${found.p_holm.toFixed(3)}`} after Holm's correction; ${count(found.paired.sessions)} sessions)`));
}

function square(page, names, href, chosen) {
  const row = (a, i) => h("tr", {}, h("th", { scope: "row" }, badge(a.id)), FIVE.map((b, j) => {
    const n = page.table[i][j];
    const selected = chosen[0] === a.id && chosen[1] === b.id;
    const share = page.shared ? n / page.shared : 0;
    return h("td", { class: i === j ? "same" : "" }, n === 0 ? h("span", { class: "quiet" }, "0") : h("a", {
      class: "cell plain", vars: { rate: share.toFixed(3) }, href: selected ? href({}) : href({ one: a.id, two: b.id }), "aria-current": selected ? "true" : false,
      "aria-label": `${a.id} in the first, ${b.id} in the second: ${n}`,
    }, count(n)));
  }));
  return h("div", { class: "scroll" }, h("table", { class: "square", "aria-label": "Outcomes of the first run against the second" },
    h("thead", {}, h("tr", {}, h("td", { class: "quiet" }, `${names[0]} ↓ · ${names[1]} →`), FIVE.map((one) => h("th", { scope: "col" }, badge(one.id))))),
    h("tbody", {}, FIVE.map(row))));
}

function row(one, href) {
  return h("a", { class: "row two", href, data: { name: one.name } },
    h("span", { class: "change" }, badge(one.outcomes[0]), h("span", { "aria-hidden": "true" }, " → "), h("span", { class: "unseen" }, "then"), badge(one.outcomes[1])),
    h("span", { class: "pair" }, names(one.pair), h("span", { class: "quiet" }, `#${one.sample}`)),
    h("span", { class: "questions" }, one.questions.map((question) =>
      h("span", { class: "question", dir: "auto" }, question === null ? h("i", { class: "quiet" }, "no question") : prose(question)))));
}

/** The view of `#/compare/RUN/RUN?…`. */
export async function compare(context, route) {
  if (context.runs.length < 2) throw new Error("A comparison needs at least two runs: select them on the home page.");
  const runs = () => context.runs;
  const ids = context.runs.map((run) => run.id);
  const pair = [0, 1];
  let query = route.query;
  let [tables, shared] = [null, null];
  const top = h("section", { class: "headline", "aria-label": "Both runs" });
  const result = h("div", { "aria-live": "polite" });
  const table = h("section", { class: "gap", "aria-label": "Outcomes" });
  const rows = pagedList("Sessions of both runs");
  const href = (filter) => compareLink(ids, filter);

  const pick = (side) => h("a", { class: "name", href: runLink(ids[side]) }, ids[side]);
  const drawTop = () => refill(top, [pair.map((index) => runs()[index]), pair.map((index) => tables?.runs[index]?.outcomes), shared.shared, shared.differ], () => [h("h1", {}, "Comparison"), h("div", { class: "rates" }, pair.map((index, side) => {
      const { rate, intervals } = headlineOf(runs()[index], tables?.runs[index]);
      return h("p", { class: "rate" }, pick(side), h("b", {}, percent(rate)), h("span", { class: "quiet" }, ` calibrated${intervals && `, ${intervals}`}`));
    })),
      h("p", { class: "quiet" }, `${count(shared.shared)} sessions in both; ${count(shared.differ)} have different outcomes (${percent(shared.shared ? shared.differ / shared.shared : null)}).`)]);
  const read = async () => {
    const filter = filterOf(query, ["one", "two", "differs"]);
    const differs = filter.differs ?? (filter.one ? "" : "true");
    const offset = Number(query.get("offset")) || 0;
    const page = await request("compare", { first: ids[0], second: ids[1], one: filter.one, two: filter.two, differs, offset, limit: PAGE });
    shared = page;
    drawTop();
    fill(table, h("h2", {}, "Outcomes in both runs"), square(page, pair.map((index) => runs()[index].name), href, [filter.one, filter.two]));
    const all = differs === "false";
    const toggle = h("input", { type: "checkbox", checked: differs === "true", on: { change: () => go(href({ differs: toggle.checked ? "" : "false" })) } });
    fill(heading, filter.one ? [filter.one, " in the first, ", filter.two, " in the second"] : all ? "All shared sessions" : "Sessions with different outcomes", " ",
      h("span", { class: "quiet" }, count(page.total)), filter.one ? h("a", { class: "button", href: href({}) }, "Clear") : h("label", { class: "toggle" }, toggle, " only where outcomes differ"));
    rows.draw(page, (one) => row(one, bothLink(ids.slice(0, 2), one.name, filter)), (next) => go(href({ ...filter, offset: next || "" })));
  };
  const heading = h("h2", { class: "list-head" });
  const showVerdict = () => evidence(ids, context.version).then((found) => { tables = found; drawTop(); fill(result, verdict(tables, pair, runs())); }).catch(() => {});
  await read();
  return {
    title: "Comparison",
    node: [top, result, table, heading, rows.node],
    entered: showVerdict,
    navigate: async (next) => { query = next.query; await read(); },
    update: async () => { await read(); showVerdict(); },
    keys: { ...rows.keys, back: () => go(homeLink()) },
  };
}
