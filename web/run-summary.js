// The result of a run: calibrated share with its interval, a bar of outcomes, and what belongs next to the number.

import { evidence } from "./api.js";
import { h, refill } from "./dom.js";
import { between, count, percent, points } from "./format.js";
import { bar } from "./outcome.js";
import { runLink } from "./route.js";
import { shownName } from "./text.js";

/** The calibrated share and its intervals in words; without `tables`, its evidence, there are no intervals yet. */
export function headlineOf(run, tables) {
  const share = tables?.outcomes?.find((one) => one.outcome === "calibrated");
  // If pairs were sampled, only the weighted estimate represents all of them.
  if (tables?.sampling) return { rate: tables.sampling.rate.value, intervals: `95% over pairs: ${between(tables.sampling.rate.interval)}, weighted` };
  const few = tables?.caveats.few_pairs && share?.these_pairs;
  const intervals = [few && `95% these pairs: ${between(share.these_pairs)}`, share?.over_pairs && `95% over pairs: ${between(share.over_pairs)}`];
  return { rate: run.calibrated, intervals: intervals.filter(Boolean).join("; ") };
}

/** The calibrated share by the origin of the final question, if some repeat a probe. */
function finalQuestions({ reused, new: fresh, few_pairs: few }) {
  if (!reused.calibrated.of) return null;
  const audited = reused.audit || fresh.audit;
  const row = (name, { calibrated, audit }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, count(calibrated.of)),
    h("td", {}, percent(calibrated.of ? calibrated.rate : null)), h("td", {}, between(few ? calibrated.these_pairs : calibrated.over_pairs) || "–"),
    audited && [h("td", {}, percent(audit?.calibrated.value)), h("td", {}, percent(audit?.separation.value))]);
  const columns = ["final question", "sessions", "calibrated", few ? "95% these pairs" : "95% over pairs", ...(audited ? ["on fresh draws", "real separation"] : [])];
  return h("div", { class: "scroll" }, h("table", { class: "numbers", "aria-label": "Calibrated share by final question" },
    h("thead", {}, h("tr", {}, columns.map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", {}, row("repeats a probe", reused), row("new", fresh))));
}

/** What belongs next to the number. */
function caveats(found) {
  if (!found) return null;
  const line = ({ check, severity, text }) => h("li", {}, h("b", { class: `severity ${severity}` }, severity), ` ${check}: ${text}`);
  return h("div", { class: "caveats" }, found.few_pairs && h("p", {}, found.few_pairs), finalQuestions(found),
    found.findings.length > 0 && h("ul", { "aria-label": "Validity" }, found.findings.map(line)));
}

/** The summary of a run; `draw` updates it, `refine` loads the interval and the caveats. */
export function runSummary(context, href) {
  const node = h("section", { class: "headline", "aria-label": "Result" });
  let tables = null;
  const draw = (counts, chosen) => {
    const run = context.run;
    const { rate, intervals } = headlineOf(run, tables);
    refill(node, [run, tables && [tables.outcomes, tables.caveats, tables.sampling], counts, chosen, href("")], () => [
      h("div", { class: "big" },
        h("h1", {}, h("span", { class: "name" }, shownName(run.asker || run.name))),
        h("p", { class: "quiet" }, `${count(run.sessions)} sessions, ${run.solvers.length} solvers`,
          run.sessions > run.graded && `, ${count(run.sessions - run.graded)} ungraded`,
          run.check && [", cross-check by ", h("span", { class: "name" }, shownName(run.check))])),
      h("p", { class: "rate" }, h("b", {}, percent(rate)), " calibrated",
        intervals && h("span", { class: "quiet" }, ` ${intervals}`),
        run.separation && h("a", { class: "separation", href: runLink(run.id, ["analysis"]) }, `${points(run.separation.value).replace("+", "")} points real separation`)),
      bar(counts, href, chosen), caveats(tables?.caveats)]);
  };
  const refine = async () => { tables = (await evidence([context.run.id], context.version)).runs?.[0] ?? null; };
  return { node, draw, refine };
}
