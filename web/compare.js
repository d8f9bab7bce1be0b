// Compares two runs on the sessions they share.

import { request, evidence } from "./api.js";
import { h, fill, refill } from "./dom.js";
import { count, percent, points } from "./format.js";
import { PAGE, pagedList, names } from "./paged-list.js";
import { OUTCOMES, badge } from "./outcome.js";
import { bothLink, compareLink, filterOf, go, homeLink, runLink } from "./route.js";
import { headlineOf } from "./run-summary.js";
import { table as panelTable } from "./panels.js";
import { prose, shownName } from "./text.js";

const FIVE = OUTCOMES.slice(0, 5);

function verdict(tables, pair, runs) {
  const found = tables.comparisons?.find((one) => pair.every((index) => one.runs.includes(index)));
  if (!found) return null;
  const swapped = found.runs[0] !== pair[0];
  const sign = swapped ? 1 : -1;
  const { value, interval } = found.paired.difference;
  const ends = [interval.low, interval.high].map((end) => sign * end).sort((a, b) => a - b);
  const better = { first: swapped ? 1 : 0, second: swapped ? 0 : 1 }[found.verdict];
  const text = better === undefined ? "No difference was found." : [h("span", { class: "name" }, shownName(runs[pair[better]].id)), " is better."];
  return h("p", { class: "verdict" }, h("b", {}, text), " Second minus first: ", h("b", {}, points(sign * value)), " points",
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

/** The places of the two runs that are shown in detail. */
function pairOf(query, count) {
  const [first, second] = (query.get("pair") ?? "").split("-").map(Number);
  const fits = [first, second].every((place) => Number.isInteger(place) && place >= 0 && place < count) && first !== second;
  return fits ? [first, second] : [0, 1];
}

/** Every two of more than two runs, with Holm's correction. */
function allPairs(tables, ids, [first, second]) {
  const heading = h("h1", {}, `Comparison of ${count(ids.length)} runs`);
  if (!tables) return heading;
  const rows = tables.comparisons.map(({ runs: [one, two], paired: { difference: { value, interval }, sessions }, p_holm: p, verdict: found }) => [
    h("a", { href: compareLink(ids, { pair: `${one}-${two}` }), "aria-current": one === first && two === second ? "true" : false }, shownName(ids[one]), " − ", shownName(ids[two])),
    points(value), `${points(interval.low)} to ${points(interval.high)}`, p < 0.001 ? "< 0.001" : p.toFixed(3), count(sessions), { first: shownName(ids[one]), second: shownName(ids[two]) }[found] ?? "no difference was found"]);
  return [heading,
    rows.length > 0 ? panelTable("Every two runs", ["calibrated share, first minus second", "points", "95%", "p after Holm", "sessions", "better"], rows) : h("p", { class: "quiet" }, "These runs share no sessions.")];
}

/** The view of `#/compare/RUN/RUN?…`. */
export async function compare(context, route) {
  if (context.runs.length < 2) throw new Error("A comparison needs at least two runs: select them on the home page.");
  const other = context.runs.find((run) => run.evals || run.kind === "training");
  if (other) throw new Error(`${shownName(other.id)} is no run of sessions, so it cannot be compared with one.`);
  const runs = () => context.runs;
  const ids = context.runs.map((run) => run.id);
  let pair = pairOf(route.query, ids.length);
  let query = route.query;
  let [tables, shared] = [null, null];
  const top = h("section", { class: "headline", "aria-label": "Both runs" });
  const result = h("div", { "aria-live": "polite" });
  const table = h("section", { class: "gap", "aria-label": "Outcomes" });
  const rows = pagedList("Sessions of both runs");
  const chosen = () => (ids.length > 2 ? pair.join("-") : "");
  const href = (filter) => compareLink(ids, { pair: chosen(), ...filter });

  const pick = (side) => h("a", { class: "name", href: runLink(ids[pair[side]]) }, shownName(ids[pair[side]]));
  const drawTop = () => refill(top, [pair.map((index) => runs()[index]), pair.map((index) => tables?.runs[index]?.outcomes), shared.shared, shared.differ], () => [h(ids.length > 2 ? "h2" : "h1", {}, ids.length > 2 ? "Two of them" : "Comparison"), h("div", { class: "rates" }, pair.map((index, side) => {
      const { rate, intervals } = headlineOf(runs()[index], tables?.runs[index]);
      return h("p", { class: "rate" }, pick(side), h("b", {}, percent(rate)), h("span", { class: "quiet" }, ` calibrated${intervals && `, ${intervals}`}`));
    })),
      h("p", { class: "quiet" }, `${count(shared.shared)} sessions in both; ${count(shared.differ)} have different outcomes (${percent(shared.shared ? shared.differ / shared.shared : null)}).`)]);
  const read = async () => {
    const filter = filterOf(query, ["one", "two", "differs"]);
    const differs = filter.differs ?? (filter.one ? "" : "true");
    const offset = Number(query.get("offset")) || 0;
    const page = await request("compare", { first: ids[pair[0]], second: ids[pair[1]], one: filter.one, two: filter.two, differs, offset, limit: PAGE });
    shared = page;
    drawTop();
    fill(table, h("h2", {}, "Outcomes in both runs"), square(page, pair.map((index) => shownName(ids[index])), href, [filter.one, filter.two]));
    const all = differs === "false";
    const toggle = h("input", { type: "checkbox", checked: differs === "true", on: { change: () => go(href({ differs: toggle.checked ? "" : "false" })) } });
    fill(heading, filter.one ? [filter.one, " in the first, ", filter.two, " in the second"] : all ? "All shared sessions" : "Sessions with different outcomes", " ",
      h("span", { class: "quiet" }, count(page.total)), filter.one ? h("a", { class: "button", href: href({}) }, "Clear") : h("label", { class: "toggle" }, toggle, " only where outcomes differ"));
    rows.draw(page, (one) => row(one, bothLink(pair.map((index) => ids[index]), one.name, filter)), (next) => go(href({ ...filter, offset: next || "" })));
  };
  const heading = h("h2", { class: "list-head" });
  const every = h("section", { class: "panel", "aria-label": "All runs" }, ids.length > 2 && allPairs(null, ids, pair));
  const showVerdict = () => evidence(ids, context.version).then((found) => { tables = found; drawTop(); fill(every, ids.length > 2 && allPairs(tables, ids, pair)); fill(result, verdict(tables, pair, runs())); }).catch((error) => fill(result, h("p", { class: "trouble", role: "alert" }, error.message)));
  await read();
  return {
    title: "Comparison",
    node: [every, top, result, table, heading, rows.node],
    entered: showVerdict,
    navigate: async (next) => { query = next.query; pair = pairOf(query, ids.length); await read(); showVerdict(); },
    update: async () => { await read(); showVerdict(); },
    keys: { ...rows.keys, back: () => go(homeLink()) },
  };
}
