// The five outcomes: each has a sign and a colour, and is never shown by colour alone. Their names are those of the JSON.

import { h } from "./dom.js";
import { count, percent } from "./format.js";
import { shownName } from "./text.js";

/** In the order of tables; the last stands for sessions without a grade. */
export const OUTCOMES = [
  { id: "calibrated", sign: "◐", means: "exactly one solver was right" },
  { id: "too_easy", sign: "○", means: "both were right" },
  { id: "too_hard", sign: "●", means: "neither was right" },
  { id: "no_question", sign: "∅", means: "the final turn had no question" },
  { id: "bad_cross_check", sign: "≠", means: "the cross-check answers did not all agree" },
  { id: "ungraded", sign: "…", means: "no grade yet" },
];

/** An outcome by its id. */
export const outcome = (id) => OUTCOMES.find((one) => one.id === id) ?? OUTCOMES[5];

/** A badge. */
export function badge(id, short = false) {
  const { id: label, sign, means } = outcome(id);
  const mark = h("span", { class: "sign", "aria-hidden": "true" }, sign);
  return h("span", { class: `badge ${label}`, title: means }, mark, short ? h("span", { class: "word" }, label) : label);
}

/** Outcomes as a bar with a legend that filters the sessions. */
export function bar(counts, href, chosen) {
  const total = counts.reduce((sum, one) => sum + one, 0);
  const shown = OUTCOMES.map((one, at) => ({ ...one, n: counts[at] })).filter((one) => one.n > 0 || one.id === chosen);
  const parts = shown.map(({ id, n }) =>
    h("span", { class: `part ${id}`, vars: { grow: n }, title: `${id}: ${count(n)}` }));
  const words = shown.map(({ id, n, sign }) =>
    h("li", {}, h("a", { class: `chip ${id}`, href: href(id === chosen ? "" : id), "aria-current": id === chosen ? "true" : false },
      h("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${id} `,
      h("b", {}, count(n)), h("span", { class: "quiet" }, ` ${percent(total ? n / total : null)}`))));
  return h("div", { class: "bar-box" }, h("div", { class: "bar", "aria-hidden": "true" }, parts),
    h("ul", { class: "chips", "aria-label": "Sessions by outcome" }, words));
}

/** A small bar without a legend; its label says the numbers. */
export function smallBar(counts) {
  const shown = OUTCOMES.map((one, at) => ({ ...one, n: counts[at] })).filter((one) => one.n > 0);
  const label = shown.map(({ id, n }) => `${id} ${count(n)}`).join(", ");
  return h("span", { class: "bar small", role: "img", "aria-label": label, title: label },
    shown.map(({ id, n }) => h("span", { class: `part ${id}`, vars: { grow: n } })));
}

/** The names of a pair, each marked as right or wrong. */
export function rightOf(pair, right) {
  if (!right) return null;
  const one = (side) => h("span", { class: right[side] ? "is-right" : "is-wrong" },
    `${right[side] ? "✓" : "✗"} `, h("span", { class: "name" }, shownName(pair[side])));
  return h("span", { class: "who" }, one(0), " ", one(1));
}

const FLAGS = {
  truncated: "a solver's reply was cut off at the token limit",
  unanswered: "no answer could be extracted from a solver's reply",
  lost_turn: "a turn of the asker has no question",
  cut: "a question was cut off at the word limit",
  from_probing: "the final question repeats a probing question",
  leaked: "the final question contains the reference answer",
  duplicate: "another session asks the same final question",
  promoted: "the equivalence checker matched answers that the comparison found different",
  folded: "answers match only after ignoring case or white space, although the mathematics differs",
  undecided: "a comparison of answers is undecided",
};

/** The names of all flags. */
export const FLAG_NAMES = Object.keys(FLAGS);

/** The label of a flag. */
export const flagLabel = (flag) => flag.replaceAll("_", " ");

/** The flags of a session. */
export const flags = (names) =>
  names.map((name) => h("span", { class: "flag", title: FLAGS[name] ?? "" }, flagLabel(name)));
