// Texts written by models: plain text and mathematics as nodes, of any length.

import { h } from "./dom.js";
import { count } from "./format.js";
import { mathml } from "./mathml.js";

/** Characters of a box that are shown at first, and added with each click. */
const STEP = 20000;
/** Maximum characters of an answer. */
const MAX_ANSWER = 2000;

/** The pieces of a text, which the server sends as a string, as pieces, or as an object with either. */
function pieces(text) {
  if (text === null || text === undefined) return [];
  if (typeof text === "string") return [{ kind: "text", text }];
  return Array.isArray(text) ? text : pieces(text.text);
}

const length = (piece) => (piece.kind === "math" ? String(piece.mathml ?? "").length : String(piece.text ?? "").length);

/** Splits pieces after about `max` characters, preferably at the end of a line. */
function split(all, max) {
  const first = [];
  let left = max;
  for (const [at, piece] of all.entries()) {
    if (length(piece) <= left) {
      first.push(piece);
      left -= length(piece);
      continue;
    }
    if (piece.kind === "math") return [first, all.slice(at)];
    const line = piece.text.lastIndexOf("\n", left);
    let end = line > left - max / 4 && line > 0 ? line + 1 : left;
    if (/[\ud800-\udbff]/.test(piece.text[end - 1] ?? "")) end -= 1;
    first.push({ kind: "text", text: piece.text.slice(0, end) });
    return [first, [{ kind: "text", text: piece.text.slice(end) }, ...all.slice(at + 1)]];
  }
  return [first, []];
}

/** A plain text as nodes, whatever is in it. */
export const textNodes = (text) => breakable(visible(text));

/** A formula; its source if it cannot be shown. */
export function mathNode(piece) {
  const math = mathml(piece.mathml, piece.display);
  if (math) math.setAttribute("aria-label", String(piece.tex ?? ""));
  return math ?? h("code", { class: "tex" }, textNodes(String(piece.tex ?? "")));
}

const node = (piece) => (piece.kind === "math" ? mathNode(piece) : textNodes(String(piece.text ?? "")));

/** Adds break opportunities to very long words, whose layout takes browsers seconds. */
function breakable(text) {
  return text.split(/(\S{400,})/).flatMap((part) =>
    part.length < 400 ? [document.createTextNode(part)] : part.match(/.{1,100}/gsu).flatMap((some) => [document.createTextNode(some), document.createElement("wbr")]));
}

const size = (all) => all.reduce((sum, piece) => sum + length(piece), 0);

/** A short text as nodes. */
export const prose = (text) => pieces(text).map(node);

/** A name of a folder or a model on one line: control characters are visible. */
export const shownName = (text) => visible(text).replace(/[\n\t]/g, "⏎");

/** An answer as nodes; only the beginning of a very long one. */
export function answerText(text) {
  const [first, rest] = split(pieces(text), MAX_ANSWER);
  return [first.map(node), rest.length > 0 && h("span", { class: "quiet" }, ` … ${count(size(rest))} more characters`)];
}

/** A text in a scrolling box. A long one is shown step by step, because browsers take many seconds to lay out a line of a
    million characters. */
export function box(text, label, kind = "", show = (first) => first.map(node)) {
  const body = h("div", { class: `text ${kind}`, tabindex: "0", role: "group", "aria-label": label });
  const more = (all) => {
    const [first, rest] = split(all, STEP);
    body.append(h("div", { dir: "auto" }, show(first)));
    if (rest.length === 0) return;
    const button = h("button", { type: "button", on: { click: () => { button.remove(); more(rest); } } }, `Show more (${count(size(rest))} characters left)`);
    body.append(button);
  };
  more(pieces(text));
  const left = text?.left_out ?? 0;
  return left ? [body, h("p", { class: "quiet" }, `${count(left)} more bytes are not shown.`)] : [body];
}

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\u{e0000}-\u{e0fff}]/gu;

/** Shows invisible and direction-changing characters as code points. */
const visible = (text) =>
  text.replace(HIDDEN, (char) => `⟨${char.codePointAt(0).toString(16).toUpperCase().padStart(2, "0")}⟩`);
