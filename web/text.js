// Texts of models as nodes: text stays text, mathematics comes as pieces, and no length breaks the page.

import { h } from "./dom.js";
import { count } from "./format.js";
import { mathml } from "./mathml.js";

/** Characters of a box that are shown at first, and with each step. */
const STEP = 20000;
/** Characters of an answer that are shown. */
const ANSWER = 2000;

/** The pieces of a text, which the server sends as a string, as pieces, or with what was left out. */
function pieces(text) {
  if (text === null || text === undefined) return [];
  if (typeof text === "string") return [{ kind: "text", text }];
  return Array.isArray(text) ? text : pieces(text.text);
}

const length = (piece) => (piece.kind === "math" ? String(piece.mathml ?? "").length : String(piece.text ?? "").length);

/** Splits pieces after about so many characters, at the end of a line where there is one near. */
function split(all, most) {
  const first = [];
  let room = most;
  for (const [at, piece] of all.entries()) {
    if (length(piece) <= room) {
      first.push(piece);
      room -= length(piece);
      continue;
    }
    if (piece.kind === "math") return [first, all.slice(at)];
    const line = piece.text.lastIndexOf("\n", room);
    let end = line > room - most / 4 && line > 0 ? line + 1 : room;
    if (/[\ud800-\udbff]/.test(piece.text[end - 1] ?? "")) end -= 1;
    first.push({ kind: "text", text: piece.text.slice(0, end) });
    return [first, [{ kind: "text", text: piece.text.slice(end) }, ...all.slice(at + 1)]];
  }
  return [first, []];
}

function node(piece) {
  if (piece.kind !== "math") return words(visible(String(piece.text ?? "")));
  const math = mathml(piece.mathml, piece.display);
  if (math) math.setAttribute("aria-label", String(piece.tex ?? ""));
  return math ?? h("code", { class: "tex" }, String(piece.tex ?? ""));
}

/** A text with places to break in words that are no words: laying out a long one takes a browser seconds. */
function words(text) {
  return text.split(/(\S{400,})/).flatMap((part) =>
    part.length < 400 ? [document.createTextNode(part)] : part.match(/.{1,100}/gsu).flatMap((some) => [document.createTextNode(some), document.createElement("wbr")]));
}

const size = (all) => all.reduce((sum, piece) => sum + length(piece), 0);

/** A short text as nodes. */
export const prose = (text) => pieces(text).map(node);

/** An answer as nodes; of a very long one the beginning. */
export function answerText(text) {
  const [first, rest] = split(pieces(text), ANSWER);
  return [first.map(node), rest.length > 0 && h("span", { class: "quiet" }, ` … ${count(size(rest))} more characters`)];
}

/** A text in a box of its own that scrolls. A long one is shown step by step: a browser takes many seconds to lay out a
    line of a million letters. */
export function box(text, label, kind = "") {
  const body = h("div", { class: `text ${kind}`, tabindex: "0", role: "group", "aria-label": label });
  const more = (all) => {
    const [first, rest] = split(all, STEP);
    body.append(h("div", { dir: "auto" }, first.map(node)));
    if (rest.length === 0) return;
    const button = h("button", { type: "button", on: { click: () => { button.remove(); more(rest); } } }, `Show more of ${count(size(rest))} characters`);
    body.append(button);
  };
  more(pieces(text));
  const left = text?.left_out ?? 0;
  return left ? [body, h("p", { class: "quiet" }, `${count(left)} more bytes are not shown here.`)] : [body];
}

/** Control characters that would not show, or would turn the text around, are shown by their numbers. */
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/g, (sign) => {
    return `⟨${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}⟩`;
  });
}
