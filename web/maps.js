// Pair maps as in the report: solver size increases upward and leftward, the smaller solver of a pair is its row.

import { evidence } from "./api.js";
import { h, fill } from "./dom.js";
import { between, count, percent, size } from "./format.js";
import { OUTCOMES } from "./outcome.js";
import { runLink } from "./route.js";
import { shownName } from "./text.js";

const SHOWN = OUTCOMES.slice(0, 3);
/** Steps of the share of the side that wins more, as in the report. */
const SIDES = [[0.95, 5], [0.85, 4], [0.75, 3], [0.65, 2], [0.55, 1], [0, 0]];

const tone = (rate) => ({ rate: rate.toFixed(3) });
const deep = (rate) => (rate > 0.85 ? " deep" : rate > 0.62 ? " half" : "");

/** What the maps show of a cell: text, class, strength of the colour, description and filter. */
function kinds(run) {
  const name = (index) => shownName(run.solvers[index].name);
  const named = (cell) => `${name(cell.pair[0])} and ${name(cell.pair[1])}`;
  const most = Math.max(1, ...run.cells.map((cell) => weakerWins(cell) ?? 0));
  const often = (cell) => (cell.sessions ? (cell.wins[0] + cell.wins[1]) / cell.sessions : 0);
  const highest = Math.max(0, ...run.cells.map(often));
  const outcomes = SHOWN.map(({ id, sign, means }, at) => ({
    id, title: [h("span", { class: `sign ${id}`, "aria-hidden": "true" }, `${sign} `), id],
    note: `Percent of the pair's sessions: ${means}.`, legend: [[id, 0, "0%"], [id, 0.5, "50%"], [id, 1, "100%"]],
    cell: (cell) => {
      const n = cell.outcomes[at];
      const also = at === 0 ? `; 95% ${between(cell.calibrated)}; right alone: ${cell.wins[0]} and ${cell.wins[1]}` : "";
      return { text: Math.round((100 * n) / cell.sessions), kind: id, rate: n / cell.sessions, filter: { outcome: id },
        says: `${named(cell)}: ${n} of ${cell.sessions} ${id} (${percent(n / cell.sessions, 0)})${also}` };
    },
  }));
  return [...outcomes, {
    id: "weaker", title: "Wins of the weaker solver",
    note: `How often the solver of the pair with fewer right answers is the one that is right: ${hits(run.direction.weaker)}${
      run.direction.separated.of > 0 ? `; in boxed pairs, with one solver below 4 and the other above 8 billion parameters or closed, ${hits(run.direction.separated)}` : ""}. A low number is the sign of a real gap.`,
    legend: [["weak", 0, "no win"], ["weak", 0.9, `${most} win${most > 1 ? "s" : ""}`]], boxed: "clearly separated pair",
    cell: (cell) => {
      const wins = weakerWins(cell);
      return { text: wins === null ? "=" : wins || "", kind: "weak", rate: (0.9 * (wins ?? 0)) / most, boxed: cell.separated, filter: { outcome: "calibrated" },
        says: `${named(cell)}: ${wins === null ? "both are right equally often" : `the weaker one wins ${wins} of ${cell.wins[0] + cell.wins[1]} calibrated sessions`}` };
    },
  }, {
    id: "sides", title: "How one-sided the wins are",
    note: "Percent of the pair's calibrated sessions won by the solver that wins more of them; the colour is stronger for pairs that are calibrated more often.",
    legend: [["side-0", 0.9, "even split"], ["side-3", 0.9, "75 to 85%"], ["side-5", 0.9, "one side wins"], ["side-5", 0.2, "rarely calibrated"]],
    cell: (cell) => {
      const wins = cell.wins[0] + cell.wins[1];
      const share = wins ? Math.max(...cell.wins) / wins : null;
      const step = share === null ? "none" : SIDES.find(([least]) => share >= least)[1];
      return { text: share === null ? "" : Math.round(100 * share), kind: `side-${step}`, rate: highest ? 0.12 + (0.78 * often(cell)) / highest : 0, filter: { outcome: "calibrated" },
        says: `${named(cell)}: ${cell.wins[0]} and ${cell.wins[1]} of ${wins} calibrated sessions are won by ${name(cell.pair[0])} and ${name(cell.pair[1])}` };
    },
  }];
}

const hits = ({ hits: some, of, rate }) => `${count(some)} of ${count(of)} calibrated sessions (${percent(of ? rate : null)})`;

/** Wins of the solver with fewer right answers over the pair's sessions; null if both have equally many. */
const weakerWins = ({ right: [small, large], wins }) => (small === large ? null : wins[small < large ? 0 : 1]);

function legend(kind) {
  return h("ul", { class: "legend", "aria-label": "Legend" },
    kind.legend.map(([name, rate, label]) => h("li", {}, h("span", { class: `swatch ${name}`, vars: tone(rate), "aria-hidden": "true" }), label)),
    kind.boxed && h("li", {}, h("span", { class: "swatch boxed", "aria-hidden": "true" }), kind.boxed));
}

function map(kind, run, id) {
  const details = h("p", { class: "said", "aria-live": "polite" }, "Hover over a pair, or move to it with Tab, for its numbers; open it for its sessions.");
  const cells = new Map(run.cells.map((cell) => [cell.pair.join(), cell]));
  const names = run.solvers;
  const data = (small, large) => {
    if (small >= large) return h("td", { class: "above" });
    const cell = cells.get([small, large].join());
    if (!cell || cell.sessions === 0) return h("td", { class: "none" }, "·");
    const { text, kind: colour, rate, says, boxed, filter } = kind.cell(cell);
    const show = () => fill(details, says);
    return h("td", {}, h("a", {
      class: `cell ${colour}${deep(rate)}${boxed ? " boxed" : ""}`, vars: tone(rate), "aria-label": says, on: { mouseenter: show, focus: show },
      href: runLink(id, [], { a: names[small].name, b: names[large].name, ...filter }),
    }, text));
  };
  const larger = names.map((_, index) => index).slice(1).reverse();
  const smaller = names.map((_, index) => index).slice(0, -1).reverse();
  const label = (index) => [h("span", { class: "name" }, shownName(names[index].name)), h("span", { class: "quiet" }, ` ${size(names[index].params)}`)];
  const rows = smaller.map((small) => h("tr", {}, h("th", { scope: "row" }, label(small)), larger.map((large) => data(small, large))));
  const foot = h("tr", {}, h("td", { class: "corner quiet" }, "larger ↑", h("br"), "← larger"), larger.map((large) => h("th", { scope: "col" }, h("span", {}, shownName(names[large].name)))));
  return h("section", { class: `map${names.length > 14 ? " many" : ""}`, "aria-label": kind.id }, h("h2", {}, kind.title), h("p", { class: "note quiet" }, kind.note), legend(kind),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Map: ${kind.id}` },
      h("table", { "aria-label": `${kind.id} by pair; rows are the smaller solver, columns the larger one` }, h("tbody", {}, rows), h("tfoot", {}, foot))), details);
}

/** The view of `#/run/RUN/maps`. */
export async function maps(context) {
  const node = h("div", { class: "maps" });
  const read = async () => {
    try {
      const run = (await evidence([context.run.id], context.version)).runs[0];
      const pairs = run.solvers.length > 1 && run.cells.some((cell) => cell.sessions > 0);
      fill(node, pairs ? kinds(run).map((kind) => map(kind, run, context.run.id)) : h("p", {}, "No pairs yet."));
    } catch (error) {
      fill(node, h("p", { class: "trouble", role: "alert" }, error.message));
    }
  };
  fill(node, h("p", { class: "quiet", role: "status" }, "Computing…"));
  return {
    title: `Maps of ${context.run.id}`,
    node: [h("h1", { class: "unseen" }, "Pair maps"),
      h("p", { class: "quiet" }, "Each cell is a pair of solvers. Size increases upward and leftward: a small and a large solver meet at the lower left, two small ones at the lower right, two large ones at the top."), node],
    entered: read, update: read,
  };
}
