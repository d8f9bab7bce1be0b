// Two runs on the sessions they share.

import { ask, evidence } from "./api.js";
import { h, fill, refill, select } from "./dom.js";
import { between, count, percent, points } from "./format.js";
import { PAGE, list, names } from "./list.js";
import { OUTCOMES, badge, outcome } from "./outcome.js";
import { go, link } from "./route.js";
import { prose } from "./text.js";

const FIVE = OUTCOMES.slice(0, 5);

function verdict(said, places, runs) {
  const found = said.comparisons?.find((one) => places.every((place) => one.runs.includes(place)));
  if (!found) return null;
  const turned = found.runs[0] !== places[0];
  const sign = turned ? -1 : 1;
  const { value, interval } = found.paired.difference;
  const ends = [interval.low, interval.high].map((end) => sign * end).sort((a, b) => a - b);
  const better = { first: turned ? 1 : 0, second: turned ? 0 : 1 }[found.verdict];
  const words = better === undefined ? "No difference is seen." : [h("span", { class: "name" }, runs[places[better]].name), " is better."];
  return h("p", { class: "verdict" }, h("b", {}, words), " First minus second: ", h("b", {}, points(sign * value)), " points",
    h("span", { class: "quiet" }, ` (95%: ${points(ends[0])} to ${points(ends[1])}; p ${found.p_holm < 0.001 ? "< 0.001" : `= ${found.p_holm.toFixed(3)}`} after Holm's correction; ${count(found.paired.sessions)} sessions)`));
}

function square(page, names, href, chosen) {
  const row = (a, i) => h("tr", {}, h("th", { scope: "row" }, badge(a.id)), FIVE.map((b, j) => {
    const n = page.table[i][j];
    const here = chosen[0] === a.id && chosen[1] === b.id;
    const share = page.shared ? n / page.shared : 0;
    return h("td", { class: i === j ? "same" : "" }, n === 0 ? h("span", { class: "quiet" }, "0") : h("a", {
      class: "cell plain", vars: { rate: share.toFixed(3) }, href: here ? href({}) : href({ one: a.id, two: b.id }), "aria-current": here ? "true" : false,
      "aria-label": `${a.label} in the first, ${b.label} in the second: ${n}`,
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

/** The view of `#/compare/FIRST/SECOND?…`. */
export async function compare(context, route) {
  const places = [Number(route.parts[0] ?? 0), Number(route.parts[1] ?? 1)];
  if (!places.every((place) => context.runs[place])) throw new Error("Name two runs to compare them.");
  const runs = () => context.runs;
  let query = route.query;
  const top = h("section", { class: "headline", "aria-label": "Both runs" });
  const said = h("div", { "aria-live": "polite" });
  const table = h("section", { class: "gap", "aria-label": "Outcomes" });
  const rows = list("Sessions of both runs");
  const href = (filter) => link("compare", places, filter);

  const pick = (side) => select(side ? "Second run" : "First run", runs().map((run, at) => [String(at), run.name]), String(places[side]),
    (value) => go(link("compare", side ? [places[0], value] : [value, places[1]])));
  const read = async () => {
    const filter = Object.fromEntries(["one", "two", "differs"].filter((key) => query.get(key)).map((key) => [key, query.get(key)]));
    const differs = filter.differs ?? (filter.one ? "" : "true");
    const offset = Number(query.get("offset")) || 0;
    const page = await ask("compare", { first: places[0], second: places[1], one: filter.one, two: filter.two, differs, offset, limit: PAGE });
    refill(top, [places.map((place) => runs()[place]), page.shared, page.differ], () => [h("h1", {}, "Comparison"), h("div", { class: "rates" }, places.map((place, side) => h("p", { class: "rate" },
      pick(side), h("b", {}, percent(runs()[place].calibrated)), h("span", { class: "quiet" }, ` calibrated, 95% over sessions: ${between(runs()[place].interval)}`)))),
      h("p", { class: "quiet" }, `${count(page.shared)} sessions in both; ${count(page.differ)} end differently (${percent(page.shared ? page.differ / page.shared : 0)}).`)]);
    fill(table, h("h2", {}, "Outcomes against outcomes"), square(page, places.map((place) => runs()[place].name), href, [filter.one, filter.two]));
    const all = differs === "false";
    const toggle = h("input", { type: "checkbox", checked: differs === "true", on: { change: () => go(href({ differs: toggle.checked ? "" : "false" })) } });
    fill(heading, filter.one ? [outcome(filter.one).label, " in the first, ", outcome(filter.two).label, " in the second"] : all ? "All shared sessions" : "Sessions that end differently", " ",
      h("span", { class: "quiet" }, count(page.total)), filter.one ? h("a", { class: "button", href: href({}) }, "Clear") : h("label", { class: "toggle" }, toggle, " only where outcomes differ"));
    rows.draw(page, (one) => row(one, link("both", [...places, one.name], filter)), (next) => go(href({ ...filter, offset: next || "" })));
  };
  const heading = h("h2", { class: "list-head" });
  const judge = () => evidence(context.version).then((all) => fill(said, verdict(all, places, runs()))).catch(() => {});
  await read();
  return {
    title: "Comparison",
    node: [top, said, table, heading, rows.node],
    entered: judge,
    turn: async (next) => { query = next.query; await read(); },
    update: async () => { await read(); judge(); },
    keys: { ...rows.keys, back: () => go(link("run", [places[0]])) },
  };
}
