// Parts of the panels of a run: tables, ranges, and the frame that computes and updates them.

import { evidence } from "./api.js";
import { h, fill } from "./dom.js";
import { shownName } from "./text.js";

/** A table with a caption; the first cell of each row is its heading. */
export function table(caption, columns, rows, kind = "") {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, h("table", { class: `numbers ${kind}`, "aria-label": caption },
    h("thead", {}, h("tr", {}, columns.map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", {}, rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell) => h("td", {}, cell)))))));
}

/** A section with a heading. */
export const panel = (heading, ...content) => h("section", { class: "panel", "aria-label": heading }, h("h2", {}, heading), content);

export const named = (text) => h("span", { class: "name" }, shownName(text));

/** Estimates with their intervals on one scale; `format` writes a value. Rows are `[name, { value, interval }, note]`. */
export function ranges(label, rows, format, zero = null) {
  const ends = rows.flatMap(([, { value, interval }]) => [value, interval?.low ?? value, interval?.high ?? value]);
  if (zero !== null) ends.push(zero);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const width = high - low || 1;
  const at = (value) => ((value - low) / width).toFixed(4);
  return h("div", { class: "ranges", role: "list", "aria-label": label }, rows.map(([name, { value, interval }, note]) => {
    const text = `${format(value)}${interval ? ` (${format(interval.low)} to ${format(interval.high)})` : ""}`;
    return h("div", { class: "range", role: "listitem" }, h("span", { class: "range-name" }, name),
      h("span", { class: "track", "aria-hidden": "true" },
        zero !== null && h("span", { class: "zero", vars: { at: at(zero) } }),
        interval && h("span", { class: "line", vars: { from: at(interval.low), to: at(interval.high) } }),
        h("span", { class: "dot", vars: { at: at(value) } })),
      h("span", { class: "range-value" }, text, note && h("span", { class: "quiet" }, ` ${note}`)));
  }));
}

/** A view of the tables of a run; `draw(run, tables)` makes its content. */
export const tablesView = (title, draw, also = () => null) => async (context) => {
  const node = h("div", { class: "panels" }, h("p", { class: "quiet", role: "status" }, "Computing…"));
  const read = async () => {
    try {
      const [tables, more] = await Promise.all([evidence([context.run.id], context.version), also(context)]);
      const open = new Set([...node.querySelectorAll("details[open]")].map((one) => one.id));
      fill(node, draw(tables.runs[0], tables, context, more));
      for (const one of node.querySelectorAll("details")) if (open.has(one.id)) one.open = true;
    } catch (error) {
      fill(node, h("p", { class: "trouble", role: "alert" }, error.message));
    }
  };
  return { title: `${title} of ${context.run.id}`, node: [h("h1", { class: "unseen" }, title), node], entered: read, update: read };
};
