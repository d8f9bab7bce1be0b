// One turn of a session: the question, the sections of the asker's reply, and the replies of both solvers.

import { h } from "./dom.js";
import { fullText } from "./api.js";
import { count, seconds, usd } from "./format.js";
import { markdown } from "./markdown.js";
import { answerText, box, shownName } from "./text.js";

const mark = (kind, sign, word) => h("span", { class: `mark ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), word);

/** A text of a model in a box, with its Markdown. */
export const rich = (text, label, kind = "") => box(text, label, `rich ${kind}`, markdown);

/** Tokens, time and cost of a call in one line. */
function usage(reply) {
  const parts = [`${count(reply.tokens)} tokens`, seconds(reply.seconds)];
  if (reply.attempts > 1) parts.push(`${reply.attempts} attempts`);
  if (reply.usd > 0) parts.push(usd(reply.usd));
  if (reply.finish !== "stop") parts.push(`finish reason: ${reply.finish}`);
  const full = reply.full && fullText(reply.full);
  return h("p", { class: "took quiet" }, parts.join(" · "), full && [" · ", h("a", { href: full }, "full text")]);
}

function thinking(reply, label) {
  if (!reply?.thinking) return null;
  return h("details", {}, h("summary", {}, "Thinking"), rich(reply.thinking, `${label}: thinking`, "small"));
}

/** A reply with the answer extracted from it; `sent` is a fold with its request. */
export function draw(one, title, { right = null, note = "", sent = null } = {}) {
  const marks = [
    right === true && mark("is-right", "✓", "right"),
    right === false && mark("is-wrong", "✗", "wrong"),
    one.truncated && mark("warn", "✂", "truncated"),
    one.answer === null && mark("warn", "–", "no answer"),
  ];
  const answer = one.answer === undefined ? null
    : h("p", { class: "answer", dir: "auto" }, h("span", { class: "quiet" }, "Answer "), h("span", { class: "value", tabindex: "0", role: "group", "aria-label": `${title}: answer` }, one.answer === null ? "–" : answerText(one.answer)));
  return h("article", { class: "draw" },
    h("header", {}, h("h3", {}, h("span", { class: "name" }, shownName(title)), note && h("span", { class: "quiet" }, ` ${note}`)), marks),
    answer, thinking(one.reply, title),
    one.reply ? [rich(one.reply.text, `${title}: reply`), usage(one.reply), sent] : h("p", { class: "quiet" }, "The full reply is not stored."));
}

const SECTIONS = { reasoning: "Reasoning", draft: "Draft", question: "Question" };

/** The asker's reply, section by section. */
function privately(reply, last, sent) {
  const parts = reply.sections ?? [{ section: null, text: reply.text }];
  const part = ({ section, text }) => h("section", { class: `reply-part ${SECTIONS[section] ? section : "plain"}`, "aria-label": SECTIONS[section] ?? "Text before the sections" },
    h("h4", {}, SECTIONS[section] ?? "Before the sections"), rich(text, `Asker: ${SECTIONS[section] ?? "text"}`, "small"));
  return h("details", { class: "private" }, h("summary", {}, `The asker's reply (${last ? "only its question is" : "private; only the question is"} shown to the solvers)`),
    thinking(reply, "Asker"), parts.map(part), usage(reply), sent);
}

/** A turn. `hidden` leaves out what the final question led to. */
export function turn(one, number, details, { calls = null, hidden = false } = {}) {
  const last = number === details.turns.length;
  const name = last ? "Final question" : `Round ${number}`;
  const sent = (role) => calls?.of({ turn: number, role, draw: 0 });
  const question = one.question === null
    ? h("p", { class: "trouble" }, one.trouble === "truncated" ? "No question: the asker's reply was cut off at the token limit." : "No question: its tag is missing in the reply.")
    : rich(one.question, name, "question-text");
  const role = (side) => (details.models[side] === 1 ? "one" : "two");
  const solvers = !hidden && one.solvers && h("div", { class: "side-by-side" }, one.solvers.map((solver, side) =>
    draw(solver, details.pair[side], { right: last && details.right ? details.right[side] : null, note: `Model ${details.models[side]}`, sent: sent(role(side)) })));
  return h("section", { class: `turn${last ? " last" : ""}`, "aria-label": name },
    h("h2", {}, name, one.cut && h("span", { class: "flag" }, "cut off at the word limit"),
      one.missing.length > 0 && h("span", { class: "flag" }, `missing: ${one.missing.join(", ")}`)),
    question, one.asker && privately(one.asker, last, sent("asker")), solvers);
}
