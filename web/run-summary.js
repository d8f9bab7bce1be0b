// The result of a run: calibrated share, interval, and a bar of outcomes.

import { evidence } from "./api.js";
import { h, refill } from "./dom.js";
import { between, count, percent } from "./format.js";
import { bar } from "./outcome.js";

/** The summary of a run; `draw` updates it, `refine` loads the better interval. */
export function runSummary(context, place, href) {
  const node = h("section", { class: "headline", "aria-label": "Result" });
  let better = null;
  const draw = (counts, chosen) => {
    const run = context.runs[place];
    const [interval, over] = better ? [better, "over pairs"] : [run.interval, "over sessions"];
    refill(node, [run, interval, counts, chosen, href("")], () => [
      h("div", { class: "big" },
        h("h1", {}, h("span", { class: "name" }, run.asker || run.name)),
        h("p", { class: "quiet" }, `${count(run.sessions)} sessions, ${run.solvers.length} solvers`,
          run.sessions > run.graded && `, ${count(run.sessions - run.graded)} ungraded`,
          run.check && [", cross-check by ", h("span", { class: "name" }, run.check)])),
      h("p", { class: "rate" }, h("b", {}, percent(run.calibrated)), " calibrated",
        interval && h("span", { class: "quiet" }, ` 95% ${over}: ${between(interval)}`)),
      bar(counts, href, chosen)]);
  };
  const refine = async () => {
    const run = (await evidence(context.version)).runs?.[place];
    better = run?.outcomes?.find((share) => share.outcome === "calibrated")?.over_pairs ?? null;
  };
  return { node, draw, refine };
}
