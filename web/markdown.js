// A small Markdown renderer for texts of models: headings, emphasis, code, lists, quotes, tables and rules. It builds
// elements from a fixed list; links and images stay text, and HTML has no meaning.

import { h } from "./dom.js";
import { mathNode, textNodes } from "./text.js";

/** Formulas stand in the text as private-use characters, which are shown as code points where a model writes them. */
const FIRST = 0xe000;
const MAX_FORMULAS = 6000;
const FORMULA = /([\ue000-\uf8ff])/;
const MAX_DEPTH = 6;

/** The elements for some pieces of text and mathematics. */
export function markdown(pieces) {
  const formulas = [];
  const text = pieces.map((piece) => {
    if (piece.kind === "math" && formulas.length < MAX_FORMULAS) {
      const mark = String.fromCharCode(FIRST + formulas.push(piece) - 1);
      return piece.display ? `\n${mark}\n` : mark;
    }
    const plain = String((piece.kind === "math" ? piece.tex : piece.text) ?? "");
    return plain.replace(/[\ue000-\uf8ff]/g, (char) => `⟨${char.charCodeAt(0).toString(16).toUpperCase()}⟩`);
  }).join("");
  return blocks(text.split("\n"), formulas, 0);
}

/** The source of a text in which formulas are marks. */
const source = (text, formulas) =>
  text.replace(/[\ue000-\uf8ff]/g, (mark) => String(formulas[mark.charCodeAt(0) - FIRST]?.tex ?? mark));

const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const ITEM = /^(\s{0,24})([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

function blocks(lines, formulas, depth) {
  const made = [];
  let paragraph = [];
  let items = [];
  const flush = () => {
    if (paragraph.length) made.push(h("p", {}, inline(paragraph.join("\n"), formulas)));
    if (items.length) made.push(h("div", { class: "md-list", role: "list" }, items));
    [paragraph, items] = [[], []];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const [fence, heading, item] = [FENCE.exec(line), HEADING.exec(line), ITEM.exec(line)];
    const quote = depth < MAX_DEPTH && QUOTE.exec(line);
    if (fence) {
      flush();
      const code = [];
      const closes = (other) => other.trim().startsWith(fence[1]) && other.trim().replaceAll(fence[1][0], "") === "";
      for (at += 1; at < lines.length && !closes(lines[at]); at += 1) code.push(lines[at]);
      made.push(h("pre", { class: "md-code" }, textNodes(source(code.join("\n"), formulas))));
    } else if (line.trim() === "") {
      flush();
    } else if (RULE.test(line)) {
      flush();
      made.push(h("hr"));
    } else if (heading && heading[2] !== "") {
      flush();
      // Not a heading of the page, whose outline is ours.
      made.push(h("p", { class: "md-heading" }, inline(heading[2], formulas)));
    } else if (quote) {
      flush();
      const quoted = [quote[1]];
      for (let next; at + 1 < lines.length && (next = QUOTE.exec(lines[at + 1])); at += 1) quoted.push(next[1]);
      made.push(h("blockquote", {}, blocks(quoted, formulas, depth + 1)));
    } else if (item) {
      if (paragraph.length) flush();
      const level = Math.min(Math.floor(item[1].replaceAll("\t", "  ").length / 2), MAX_DEPTH);
      items.push(h("div", { class: "md-item", role: "listitem", vars: { level } },
        h("span", { class: "md-bullet" }, /\d/.test(item[2]) ? item[2] : "•"), h("span", {}, inline(item[3], formulas))));
    } else if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) {
      flush();
      const rows = [line];
      for (at += 2; at < lines.length && lines[at].includes("|"); at += 1) rows.push(lines[at]);
      at -= 1;
      made.push(table(rows, formulas));
    } else if (items.length && /^\s{2,}/.test(line)) {
      items.at(-1).lastChild.append(document.createTextNode("\n"), ...flat(inline(line.trim(), formulas)));
    } else {
      if (items.length) flush();
      paragraph.push(line);
    }
  }
  flush();
  return made;
}

const flat = (nodes) => nodes.flat(Infinity).filter(Boolean);

function table(rows, formulas) {
  const cells = (row) => row.trim().replace(/^\||\|$/g, "").split("|").slice(0, 50).map((cell) => inline(cell.trim(), formulas));
  const [head, ...body] = rows.map(cells);
  return h("div", { class: "scroll" }, h("table", { class: "md-table" },
    h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))),
    h("tbody", {}, body.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}

const LINK = /^!?\[([^[\]\n]{0,300})\]\(([^()\s]{0,500})\)/;
const PAIRS = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const word = (char) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

/** The nodes of a text without blocks. Each search for a closing mark that fails is made once, so that time is linear. */
function inline(text, formulas, depth = 0) {
  const made = [];
  const missing = new Set();
  let begin = 0;
  const close = (mark, from) => {
    if (missing.has(mark)) return -1;
    const end = text.indexOf(mark, from);
    if (end < 0) missing.add(mark);
    return end;
  };
  const plain = (end) => { if (end > begin) made.push(shown(text.slice(begin, end), formulas)); };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\" && "*_`#~[]".includes(text[at + 1] ?? " ")) {
      plain(at);
      begin = at + 1;
      at += 1;
    } else if (char === "`") {
      const mark = /^`+/.exec(text.slice(at, at + 20))[0];
      const end = close(mark, at + mark.length);
      if (end > 0) {
        plain(at);
        made.push(h("code", {}, textNodes(source(text.slice(at + mark.length, end), formulas))));
        begin = end + mark.length;
        at = begin - 1;
      } else {
        at += mark.length - 1;
      }
    } else if ((char === "[" || char === "!") && LINK.test(text.slice(at, at + 900))) {
      const [whole, label, target] = LINK.exec(text.slice(at, at + 900));
      plain(at);
      made.push(shown(label, formulas), h("span", { class: "quiet" }, " (", shown(target, formulas), ")"));
      begin = at + whole.length;
      at = begin - 1;
    } else if ("*_~".includes(char) && depth < MAX_DEPTH) {
      const [mark, tag] = PAIRS.find(([mark]) => text.startsWith(mark, at)) ?? [];
      if (!mark) continue;
      const from = at + mark.length;
      const end = /\S/.test(text[from] ?? " ") ? close(mark, from + 1) : -1;
      // Neither `a_1` nor `2*3*4` is emphasis.
      const inWord = mark.length === 1 && (word(text[at - 1]) || word(text[end + 1]));
      if (end < 0 || /\s/.test(text[end - 1]) || inWord) {
        at += mark.length - 1;
        continue;
      }
      plain(at);
      made.push(h(tag, {}, inline(text.slice(from, end), formulas, depth + 1)));
      begin = end + mark.length;
      at = begin - 1;
    }
  }
  plain(text.length);
  return made;
}

/** A text with its formulas. */
const shown = (text, formulas) => text.split(FORMULA).map((part) => {
  const formula = FORMULA.test(part) ? formulas[part.charCodeAt(0) - FIRST] : null;
  return formula ? mathNode(formula) : textNodes(part);
});
