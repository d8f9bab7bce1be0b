// The calls of a run: cost by role and model, failures and retries, and calls in flight over time.

import { request } from "./api.js";
import { h, fill, svg } from "./dom.js";
import { count, date, dollars, percent, seconds, short } from "./format.js";
import { named, panel, table } from "./panels.js";

/** As in the report. */
const ROLES = {
  asker: "asker", one: "boundary solver, as Model 1", two: "boundary solver, as Model 2", check: "cross-check solver",
  equivalence: "equivalence checker", panel: "solvers of audit, baseline and difficulty", probe: "probes before each start",
};
const sum = (all, key) => all.reduce((total, one) => total + one[key], 0);

function cost(models) {
  if (models.length === 0) return panel("Cost by role and model", h("p", { class: "quiet" }, "No calls are stored."));
  const cells = (one) => [count(one.calls), count(one.prompt), count(one.cached), count(one.completion), count(one.reasoning), dollars(one.usd), one.calls ? seconds(one.seconds / one.calls) : "–", seconds(one.slowest)];
  const total = Object.fromEntries(["calls", "prompt", "cached", "completion", "reasoning", "usd", "seconds"].map((key) => [key, sum(models, key)]));
  total.slowest = Math.max(...models.map((one) => one.slowest));
  return panel("Cost by role and model", table("Cost by role and model",
    ["role", "model", "calls", "prompt tokens", "of these cached", "completion tokens", "of these thinking", "cost", "mean time", "slowest"],
    [...models.map((one) => [ROLES[one.role] ?? one.role, named(one.model), ...cells(one)]), [h("b", {}, "all"), "", ...cells(total)]], "calls"));
}

function failures(found) {
  const { models, planned, records, graded } = found;
  const rows = models.filter((one) => one.retries > 0 || one.truncated > 0).map((one) => [ROLES[one.role] ?? one.role, named(one.model), `${count(one.retried)} (${percent(one.retried / one.calls)})`, count(one.retries), `${count(one.truncated)} (${percent(one.truncated / one.calls)})`]);
  const open = planned === null ? null : Math.max(0, planned - graded);
  return panel("Failures and retries",
    h("p", {}, open === null ? `${count(records)} sessions have a record, ${count(graded)} of them a grade.` : open === 0 ? `All ${count(planned)} planned sessions are finished.` : `${count(open)} of ${count(planned)} planned sessions are open: failed, not reached yet, or in progress.`,
      " ", h("span", { class: "quiet" }, "A failure is never scored; the session stays open and runs again.")),
    rows.length > 0 ? table("Retries", ["role", "model", "calls retried", "retries", "replies cut off"], rows) : h("p", { class: "quiet" }, "No call was retried, and no reply was cut off at its token limit."));
}

const [WIDTH, HEIGHT] = [800, 120];

function curve(span) {
  const most = Math.max(1, span.most);
  const x = (at) => (WIDTH * at) / span.in_flight.length;
  const y = (value) => HEIGHT - (HEIGHT - 6) * (value / most);
  const line = span.in_flight.map((value, at) => `L${x(at).toFixed(1)} ${y(value).toFixed(1)}L${x(at + 1).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const length = (span.to - span.from) / 1000;
  const lasted = length < 120 ? seconds(length) : length < 7200 ? `${Math.round(length / 60)} min` : `${(length / 3600).toFixed(1)} h`;
  const label = `${date(span.from / 1000)}, ${lasted}: ${count(span.calls)} calls, at most ${count(span.most)} at once`;
  return h("figure", { class: "timeline" }, h("figcaption", {}, label),
    h("div", { class: "plot" }, h("span", { class: "axis-top quiet" }, count(most)), svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      svg("path", { class: "area", d: `M0 ${HEIGHT}${line}L${WIDTH} ${HEIGHT}Z` })), h("span", { class: "axis-bottom quiet" }, "0")),
    h("p", { class: "ends quiet" }, h("span", {}, date(span.from / 1000)), h("span", {}, date(span.to / 1000))));
}

function timeline({ spans, timed, models }) {
  const calls = sum(models, "calls");
  return panel("Calls in flight", spans.length === 0
    ? h("p", { class: "quiet" }, "This run has no times of its calls: it was written by an earlier version, merged, or has no calls.")
    : [h("p", { class: "quiet" }, `How many calls were waiting for a reply, averaged over ${spans[0].in_flight.length} equal parts of each span. A pause of 15 minutes begins a new span.${timed < calls ? ` ${short(calls - timed)} calls have no time.` : ""}`),
      [...spans].reverse().map(curve)]);
}

/** The view of `#/run/RUN/calls`. */
export async function calls(context) {
  const node = h("div", { class: "panels" }, h("p", { class: "quiet", role: "status" }, "Reading…"));
  const read = async () => {
    try {
      const found = await request("calls", { run: context.run.id });
      fill(node, cost(found.models), failures(found), timeline(found));
    } catch (error) {
      fill(node, h("p", { class: "trouble", role: "alert" }, error.message));
    }
  };
  return { title: `Calls of ${context.run.id}`, node: [h("h1", { class: "unseen" }, "Calls"), node], entered: read, update: read };
}
