// Charts of lines with intervals, as SVG. Values under the pointer are shown as text, and every chart has its table.

import { h, fill } from "./dom.js";
import { s } from "./svg.js";

const [WIDTH, HEIGHT] = [440, 210];
const EDGE = { left: 54, right: 10, top: 8, bottom: 24 };
/** Rows of a chart's table. */
const MAX_ROWS = 200;

const shares = (value) => `${Math.round(100 * value)}%`;
const finite = (value) => typeof value === "number" && Number.isFinite(value);

/** About `count` round numbers from `low` to `high`. */
export function ticks(low, high, count = 4) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / count;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** The label of a tick, with as many digits as its step needs. */
function tickLabel(value, all, shown) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : Math.abs(value);
  if (shown) return shown(value);
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e5 || step < 1e-5) return value.toExponential(step > 0 && Math.abs(value) / step > 5 ? 1 : 0);
  return value.toLocaleString("en", { maximumFractionDigits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) });
}

/** The range of values; a constant has some room around it. */
function range(values, fixed) {
  if (fixed) return fixed;
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) return [0, 1];
  const room = high > low ? 0.04 * (high - low) : Math.abs(high) * 0.1 || 0.5;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}

function path(points, x, y) {
  let text = "";
  let pen = "M";
  for (const [at, value] of points) {
    if (!finite(value)) { pen = "M"; continue; }
    text += `${pen}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  }
  return text;
}

function band(points, x, y) {
  const whole = points.filter((point) => finite(point[2]) && finite(point[3]));
  if (whole.length < 2) return null;
  const edge = (side) => whole.map((point) => `${x(point[0]).toFixed(1)} ${y(point[side]).toFixed(1)}`);
  return `M${edge(2).join("L")}L${edge(3).reverse().join("L")}Z`;
}

/**
 * A chart. `series` are `{ name, points }` with points `[x, y]` or `[x, y, low, high]`; `limits` are horizontal lines
 * `{ value, name }`; `fixed` is the range of shares, `shown` formats values, and `axis` names x. Without
 * `legend` the page has one for all charts.
 */
export function chart({ title, series, fixed, legend = true, limits = [], shown = (value) => value.toPrecision(3), axis = "step" }) {
  const filled = series.map((one, at) => ({ ...one, at })).filter((one) => one.points.some((point) => finite(point[1])));
  if (filled.length === 0) return null;
  const xs = filled.flatMap((one) => one.points.map((point) => point[0]));
  const ys = filled.flatMap((one) => one.points.flatMap((point) => point.slice(1).filter(finite)));
  const [left, right] = range(xs, xs.length ? [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))] : null);
  const [low, high] = range([...ys, ...limits.map((limit) => limit.value)], fixed);
  const x = (value) => EDGE.left + ((value - left) / (right - left || 1)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - ((value - low) / (high - low || 1)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const pointer = s("line", { class: "plot-pointer", y1: EDGE.top, y2: HEIGHT - EDGE.bottom, x1: -9, x2: -9 });
  const drawing = s("svg", { class: "chart-plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": describe(title, filled, shown) },
    ticks(low, high).map((value, at, every) => [
      s("line", { class: "plot-grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }),
      s("text", { x: EDGE.left - 5, y: y(value) + 4, "text-anchor": "end" }, tickLabel(value, every, fixed && shares))]),
    ticks(left, right, 5).filter((value) => Number.isInteger(value)).map((value) =>
      s("text", { x: x(value), y: HEIGHT - 8, "text-anchor": value === right ? "end" : "middle" }, String(value))),
    limits.map((limit) => s("line", { class: "plot-limit", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(limit.value), y2: y(limit.value) }, s("title", {}, limit.name))),
    filled.map((one) => {
      const area = band(one.points, x, y);
      return area && s("path", { class: `plot-band ${tone(one)}`, d: area });
    }),
    filled.map((one) => (one.points.length === 1
      ? s("circle", { class: `plot-dot ${tone(one)}`, cx: x(one.points[0][0]), cy: y(one.points[0][1]), r: 3 })
      : s("path", { class: `plot-line ${tone(one)}`, d: path(one.points, x, y) }))),
    pointer);
  const readout = h("p", { class: "plot-readout quiet" });
  const steps = [...new Set(xs)].sort((a, b) => a - b);
  const values = filled.map((one) => new Map(one.points.map((point) => [point[0], point[1]])));
  const show = (at) => {
    pointer.setAttribute("x1", x(at));
    pointer.setAttribute("x2", x(at));
    fill(readout, `${axis} ${at}: `, filled.map((one, index) => finite(values[index].get(at)) && h("span", { class: `plot-value ${tone(one)}` }, `${filled.length > 1 ? `${one.name} ` : ""}${shown(values[index].get(at))}`)));
  };
  const rest = () => fill(readout, latest(filled, shown, axis));
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const wanted = left + ((((event.clientX - box.left) / box.width) * WIDTH - EDGE.left) / (WIDTH - EDGE.left - EDGE.right)) * (right - left);
    show(nearest(steps, wanted));
  });
  drawing.addEventListener("pointerleave", () => { pointer.setAttribute("x1", -9); pointer.setAttribute("x2", -9); rest(); });
  rest();
  return h("figure", { class: "chart" }, h("figcaption", {}, title), drawing, readout,
    legend && filled.length > 1 && h("ul", { class: "chart-legend" }, filled.map((one) => h("li", { class: tone(one) }, one.name))),
    limits.map((limit) => h("p", { class: "quiet plot-note" }, `dotted: ${limit.name}`)), numbers(title, filled, values, steps, shown, axis));
}

/** A series keeps its colour and its dashes in every chart of a page. */
const tone = (one) => one.tone ?? `series-${one.at % 8}`;

function nearest(sorted, wanted) {
  let best = sorted[0];
  for (const value of sorted) if (Math.abs(value - wanted) < Math.abs(best - wanted)) best = value;
  return best;
}

const lastOf = (one) => one.points.findLast((point) => finite(point[1]));
const latest = (series, shown, axis) => {
  const last = series.map(lastOf);
  return series.length > 1 ? `${axis} ${Math.max(...last.map((point) => point[0]))}: ${series.map((one, at) => `${one.name} ${shown(last[at][1])}`).join(" · ")}` : `${axis} ${last[0][0]}: ${shown(last[0][1])}`;
};

const describe = (title, series, shown) => `${title}: ${series.map((one) => {
  const known = one.points.filter((point) => finite(point[1]));
  return `${one.name} from ${shown(known[0][1])} to ${shown(known.at(-1)[1])}`;
}).join("; ")}`;

function numbers(title, series, values, steps, shown, axis) {
  const body = h("div", { class: "scroll" });
  const kept = steps.length > MAX_ROWS ? steps.filter((_, at) => at % Math.ceil(steps.length / MAX_ROWS) === 0) : steps;
  const draw = () => fill(body, h("table", { class: "numbers wide", "aria-label": title },
    h("thead", {}, h("tr", {}, [axis, ...series.map((one) => one.name)].map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", {}, kept.map((at) => h("tr", {}, h("th", { scope: "row" }, at), values.map((one) => h("td", {}, finite(one.get(at)) ? shown(one.get(at)) : "–")))))));
  return h("details", { on: { toggle: () => body.childElementCount === 0 && draw() } }, h("summary", {}, "Numbers"), body);
}
