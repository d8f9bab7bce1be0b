// A session at a glance: final question, reference, both answers, the outcome in a sentence, and its audit.

import { h } from "./dom.js";
import { fullText } from "./api.js";
import { badge } from "./outcome.js";
import { rich } from "./turn.js";
import { answerText, shownName } from "./text.js";

const named = (name) => h("span", { class: "name" }, shownName(name));

/** The outcome in a sentence. */
function sentence({ grade, right, pair, check }) {
  switch (grade?.outcome) {
    case "calibrated": {
      const winner = right[0] ? 0 : 1;
      return [named(pair[winner]), " was right and ", named(pair[1 - winner]), " was wrong: the question lies between the two."];
    }
    case "too_easy": return ["Both were right: the question is too easy for this pair."];
    case "too_hard": return ["Neither was right: the question is too hard for this pair."];
    case "no_question": return ["The asker's final turn has no question."];
    case "bad_cross_check": return [`The ${check.length} cross-check answers do not all agree, so there is no reference answer.`];
    default: return ["This session has no grade yet."];
  }
}

const value = (text) => h("span", { class: "value", dir: "auto" }, text === null || text === undefined ? "–" : answerText(text));

function answers({ turns, pair, right, reference }) {
  const last = turns.at(-1);
  const row = (label, text, state) => h("div", { class: `given ${state ?? ""}` }, h("dt", {}, label), h("dd", {},
    state === "right" && h("span", { class: "mark is-right" }, "✓ right "), state === "wrong" && h("span", { class: "mark is-wrong" }, "✗ wrong "), text));
  return h("dl", { class: "givens" },
    row("Reference answer", reference === null ? h("span", { class: "quiet" }, "none agreed") : value(reference)),
    pair.map((name, side) => row(named(name), value(last?.solvers?.[side]?.answer), right ? (right[side] ? "right" : "wrong") : null)));
}

/** The fresh draws of an audit: how often each solver was right again. */
function audit(found) {
  const share = ({ name, right }) => [named(name), " ", h("b", {}, `right ${right.filter(Boolean).length} of ${right.length}`)];
  const draws = (one) => h("li", {}, named(one.name), ": ", one.answers.map((answer, at) => {
    const text = [h("span", { class: one.right[at] ? "is-right" : "is-wrong" }, one.right[at] ? "✓ " : "✗ "), value(answer)];
    const full = one.full[at] && fullText(one.full[at]);
    return [at > 0 && " · ", full ? h("a", { href: full, class: "plain" }, text) : text];
  }));
  return h("div", { class: "audit" },
    h("p", {}, h("b", {}, "Audit: "), found.pair.map((one, at) => [at > 0 && ", ", share(one)]), " on fresh draws of the final question",
      found.controls.length > 0 && h("span", { class: "quiet" }, " (control: ", found.controls.map((one, at) => [at > 0 && ", ", share(one)]), ")"), "."),
    h("details", {}, h("summary", {}, "The fresh answers"), h("ul", {}, [...found.pair, ...found.controls].map(draws))));
}

/** The summary. */
export function verdict(details) {
  const question = details.turns.at(-1)?.question ?? null;
  return h("section", { class: `verdict-card ${details.grade?.outcome ?? "ungraded"}`, "aria-label": "Result" },
    h("p", { class: "sentence" }, badge(details.grade?.outcome ?? "ungraded"), " ", sentence(details)),
    question === null ? null : rich(question, "Final question", "question-text"),
    answers(details), details.audit && audit(details.audit));
}
