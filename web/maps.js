// Maps of all pairs: the share of each outcome, with smaller solvers as columns and larger ones as rows.

import { evidence } from "./api.js";
import { h, fill } from "./dom.js";
import { between, percent, size } from "./format.js";
import { OUTCOMES } from "./outcome.js";
import { runLink } from "./route.js";

const SHOWN = OUTCOMES.slice(0, 3);

function map({ id, sign, means }, at, run, runId) {
  const details = h("p", { class: "said", "aria-live": "polite" }, `${means}; hover over a pair for details`);
  const cells = new Map(run.cells.map((cell) => [cell.pair.join(), cell]));
  const describe = (cell) => {
    const [small, large] = cell.pair.map((one) => run.solvers[one].name);
    const n = cell.outcomes[at];
    const also = at === 0 ? `; 95% ${between(cell.calibrated)}; right alone: ${cell.wins[0]} and ${cell.wins[1]}` : "";
    return `${small} and ${large}: ${n} of ${cell.sessions} ${id} (${percent(cell.sessions ? n / cell.sessions : 0, 0)})${also}`;
  };
  const data = (row, column) => {
    const cell = cells.get([column, row].join());
    if (!cell || cell.sessions === 0) return h("td", { class: "none" }, "·");
    const rate = cell.outcomes[at] / cell.sessions;
    const text = describe(cell);
    const show = () => fill(details, text);
    return h("td", {}, h("a", {
      class: `cell ${id}${rate > 0.62 ? " half" : ""}${rate > 0.85 ? " deep" : ""}`, vars: { rate: rate.toFixed(3) }, "aria-label": text, on: { mouseenter: show, focus: show },
      href: runLink(runId, [], { a: run.solvers[column].name, b: run.solvers[row].name, outcome: id }),
    }, Math.round(100 * rate)));
  };
  const names = run.solvers;
  const head = h("tr", {}, h("td"), names.slice(0, -1).map((one) => h("th", { scope: "col" }, h("span", {}, one.name))));
  const rows = names.slice(1).map((one, before) => h("tr", {},
    h("th", { scope: "row" }, h("span", { class: "name" }, one.name), h("span", { class: "quiet" }, ` ${size(one.params)}`)),
    names.slice(0, -1).map((_, column) => (column <= before ? data(before + 1, column) : h("td", { class: "above" })))));
  return h("section", { class: "map" }, h("h2", {}, h("span", { class: `sign ${id}`, "aria-hidden": "true" }, `${sign} `), id, ", % of sessions"),
    details, h("div", { class: "scroll" }, h("table", { "aria-label": `${id} by pair` }, h("thead", {}, head), h("tbody", {}, rows))));
}

/** The view of `#/run/RUN/maps`. */
export async function maps(context) {
  const node = h("div", { class: "maps" });
  const read = async () => {
    try {
      const run = (await evidence([context.run.id], context.version)).runs[0];
      fill(node, SHOWN.map((one, at) => map(one, at, run, context.run.id)));
    } catch (error) {
      fill(node, h("p", { class: "trouble", role: "alert" }, error.message));
    }
  };
  fill(node, h("p", { class: "quiet", role: "status" }, "Computing…"));
  const name = context.run.asker || context.run.name;
  return { title: `Maps of ${name}`, node: [h("h1", {}, "Maps of ", h("span", { class: "name" }, name)), node], entered: read, update: read };
}
