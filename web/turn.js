// One turn of a session: the question, the asker's full reply, and the replies of both solvers.

import { h } from "./dom.js";
import { count, seconds } from "./format.js";
import { answerText, box } from "./text.js";

const mark = (kind, sign, word) => h("span", { class: `mark ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), word);

/** Tokens, time and cost of a call in one line. */
function usage(reply) {
  const parts = [`${count(reply.tokens)} tokens`, seconds(reply.seconds)];
  if (reply.attempts > 1) parts.push(`${reply.attempts} attempts`);
  if (reply.usd > 0) parts.push(`$${reply.usd.toFixed(4)}`);
  if (reply.finish !== "stop") parts.push(`finish reason: ${reply.finish}`);
  return h("p", { class: "took quiet" }, parts.join(" · "), reply.full && [" · ", h("a", { href: reply.full }, "full text")]);
}

function thinking(reply, label) {
  if (!reply?.thinking) return null;
  return h("details", {}, h("summary", {}, "Thinking"), box(reply.thinking, `${label}: thinking`, "small"));
}

/** A reply with the answer extracted from it. */
export function draw(one, title, { right = null, note = "" } = {}) {
  const marks = [
    right === true && mark("is-right", "✓", "right"),
    right === false && mark("is-wrong", "✗", "wrong"),
    one.truncated && mark("warn", "✂", "truncated"),
    one.answer === null && mark("warn", "–", "no answer"),
  ];
  const answer = one.answer === undefined ? null
    : h("p", { class: "answer", dir: "auto" }, h("span", { class: "quiet" }, "Answer "), h("span", { class: "value", tabindex: "0", role: "group", "aria-label": `${title}: answer` }, one.answer === null ? "–" : answerText(one.answer)));
  return h("article", { class: "draw" },
    h("header", {}, h("h3", {}, h("span", { class: "name" }, title), note && h("span", { class: "quiet" }, ` ${note}`)), marks),
    answer, thinking(one.reply, title),
    one.reply ? [box(one.reply.text, `${title}: reply`), usage(one.reply)] : h("p", { class: "quiet" }, "The full reply is not stored."));
}

/** A turn. */
export function turn(one, number, details) {
  const last = number === details.turns.length;
  const name = last ? "Final question" : `Round ${number}`;
  const question = one.question === null
    ? h("p", { class: "trouble" }, one.trouble === "truncated" ? "No question: the asker's reply was cut off at the token limit." : "No question: its tag is missing in the reply.")
    : box(one.question, name, "question-text");
  const solvers = one.solvers && h("div", { class: "side-by-side" }, one.solvers.map((solver, side) =>
    draw(solver, details.pair[side], { right: last && details.right ? details.right[side] : null, note: `Model ${details.models[side]}` })));
  return h("section", { class: `turn${last ? " last" : ""}`, "aria-label": name },
    h("h2", {}, name, one.cut && h("span", { class: "flag" }, "cut off at the word limit"),
      one.missing.length > 0 && h("span", { class: "flag" }, `missing: ${one.missing.join(", ")}`)),
    question,
    one.asker && h("details", { class: "private" }, h("summary", {}, "Full reply of the asker (not shown to the solvers)"),
      thinking(one.asker, "Asker"), box(one.asker.text, "Asker: private text", "small"), usage(one.asker)),
    solvers);
}
