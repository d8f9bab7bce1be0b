// Replay: a session without its outcome, for the reader to guess first.

import { h, fill } from "./dom.js";
import { badge, OUTCOMES, outcome } from "./outcome.js";

/** The guesses since the page was loaded: whether each was right, by session. */
const guesses = new Map();

const tally = () => {
  const right = [...guesses.values()].filter(Boolean).length;
  return `${right} of ${guesses.size} ${guesses.size === 1 ? "guess" : "guesses"} right so far`;
};

/** The form for a guess; `reveal` is called after it. */
export function guessing(name, actual, reveal) {
  const node = h("section", { class: "guess", "aria-label": "Your guess" });
  const choose = (id) => {
    guesses.set(name, id === actual);
    fill(node, h("p", { role: "status" }, h("b", {}, id === actual ? "You are right: " : "Not quite: "), badge(actual), ` (${outcome(actual).means}).`,
      id !== actual && [" You guessed ", badge(id), "."], h("span", { class: "quiet" }, ` ${tally()}.`)));
    reveal();
  };
  fill(node, h("h2", {}, "How did it end?"),
    h("p", { class: "quiet" }, "Answers to the final question, the cross-check and the outcome are hidden until you choose."),
    h("div", { class: "guesses" }, OUTCOMES.slice(0, 5).map((one) =>
      h("button", { type: "button", title: one.means, class: one.id, on: { click: () => choose(one.id) } },
        h("span", { class: "sign", "aria-hidden": "true" }, one.sign), ` ${one.id}`))),
    guesses.size > 0 && h("p", { class: "quiet" }, `${tally()}.`));
  return node;
}
