// The validity panel: every check with its limits and the sessions behind its number.

import { h } from "./dom.js";
import { count, percent } from "./format.js";
import { named, panel, table, tablesView } from "./panels.js";
import { runLink, sessionLink } from "./route.js";
import { shownName } from "./text.js";

/** The filter of sessions that shows what a check counts. */
const FILTERS = {
  "Cross-check disagrees": { outcome: "bad_cross_check" },
  "Matched by the equivalence checker": { flag: "promoted" },
  "Matched by text alone": { flag: "folded" },
  "Undecided": { flag: "undecided" },
  "Asked before": { flag: "duplicate" },
  "Repeats a probe": { flag: "from_probing" },
  "Answer in the question": { flag: "leaked" },
  "Without a grade": { outcome: "ungraded" },
  "Turns without a question": { flag: "lost_turn" },
  "Questions cut": { flag: "cut" },
};

const verdict = (severity) => h("span", { class: `warning ${severity}` }, severity);
const limit = (share) => `${Number((100 * share).toFixed(1))}%`;

function checks(id, all) {
  const rows = all.map((one) => {
    const filter = FILTERS[one.check];
    const number = `${count(one.hits)} of ${count(one.of)}`;
    return [[one.check, h("span", { class: "quiet meaning" }, one.meaning)], verdict(one.severity),
      filter && one.hits > 0 ? h("a", { href: runLink(id, [], filter) }, number) : number,
      percent(one.of ? one.share : null), `${limit(one.limits[0])} / ${limit(one.limits[1])}`,
      one.examples.map((name) => h("a", { class: "example", href: sessionLink(id, name) }, shownName(name)))];
  });
  return panel("Checks", h("p", { class: "quiet" }, "Each check counts sessions whose label may be unreliable. A share up to the first limit is fine, up to the second worth a look, and above it a problem. What the paper allows is a note."),
    table("Checks", ["check", "verdict", "number", "share", "limits", "example sessions"], rows, "checks"));
}

function replies(id, { solvers }, [fine, look]) {
  const of = (hits, { replies: all }) => `${count(hits)} (${percent(all ? hits / all : null)})`;
  const rows = solvers.map((one) => {
    const worst = one.replies ? Math.max(one.truncated, one.unanswered) / one.replies : 0;
    const link = (flag, hits) => (hits > 0 ? h("a", { href: runLink(id, [], { solver: one.name, flag }) }, of(hits, one)) : of(hits, one));
    return [named(one.name), count(one.replies), link("truncated", one.truncated), link("unanswered", one.unanswered), verdict(worst <= fine ? "fine" : worst <= look ? "look" : "problem")];
  });
  return panel("Replies by solver", h("p", { class: "quiet" }, `A reply without an answer counts as wrong; limits ${limit(fine)} and ${limit(look)}.`),
    table("Replies by solver", ["solver", "replies", "cut off at the token limit", "without an answer", "verdict"], rows));
}

function held(id, { held: found, replies_error: error, trouble }) {
  const rows = [["planned", found.planned ?? "not stored"], ["with a record", found.records], ["graded", found.graded], ["begun, without a record", found.begun], ["graded, but their record is lost", found.lost]];
  return panel("Sessions", table("Sessions", ["", "sessions"], rows.map(([name, number]) => [name, typeof number === "number" ? count(number) : number])),
    (error || trouble) && h("p", { class: "trouble" }, error || trouble),
    h("p", { class: "quiet" }, "Only sessions with a record count in the results. ", h("code", {}, "aske repair"), " rebuilds what is lost; ", h("code", {}, "aske bench"), " with the same configuration continues the others."));
}

/** The view of `#/run/RUN/validity`. */
export const validity = tablesView("Validity", (run, tables, context) => [
  checks(context.run.id, tables.checks), replies(context.run.id, run.validity, tables.solver_limits), held(context.run.id, run)]);
