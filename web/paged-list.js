// Lists with pages.

import { h, fill } from "./dom.js";
import { count } from "./format.js";
import { step } from "./shortcuts.js";
import { badge, flags, rightOf } from "./outcome.js";
import { prose } from "./text.js";

/** Rows on a page. */
export const PAGE = 100;

/** A list; `draw(page, row, turn)` fills it and keeps the focus. */
export function pagedList(label) {
  const rows = h("ol", { class: "rows", "aria-label": label });
  const pager = h("nav", { class: "pager", "aria-label": "Pages" });
  const node = h("div", { class: "list" }, rows, pager);
  let turnTo = () => {};
  const links = () => [...rows.querySelectorAll("a.row, a.compared-link")];

  const draw = (page, row, turn) => {
    const focused = rows.contains(document.activeElement) ? document.activeElement.dataset.name : null;
    fill(rows, page.rows.map((one) => h("li", {}, row(one))));
    if (focused) links().find((one) => one.dataset.name === focused)?.focus();
    const end = page.offset + page.rows.length;
    turnTo = (to) => turn(Math.max(0, to));
    const button = (text, to, can) => h("button", { type: "button", disabled: !can, on: { click: () => turnTo(to) } }, text);
    fill(pager, page.total === 0
      ? h("p", { class: "quiet" }, "No matches.")
      : [h("span", { class: "quiet" }, `${count(page.offset + 1)} to ${count(end)} of ${count(page.total)}`),
         button("‹ Previous", page.offset - PAGE, page.offset > 0), button("Next ›", page.offset + PAGE, end < page.total)]);
  };
  const move = (by) => step(links(), by);
  return { node, draw, links, keys: { next: () => move(1), previous: () => move(-1), down: () => move(1), up: () => move(-1) } };
}

/** The names of a pair. */
export const names = (pair) => h("span", { class: "who" }, pair.map((name) => h("span", { class: "name" }, name, " ")));

/** A row of the list of sessions. */
export function sessionRow(one, href) {
  return h("a", { class: `row ${one.outcome ?? "ungraded"}`, href, data: { name: one.name } },
    badge(one.outcome ?? "ungraded", true),
    h("span", { class: "pair" }, rightOf(one.pair, one.right) ?? names(one.pair),
      h("span", { class: "quiet" }, ` #${one.sample}`)),
    h("span", { class: "question", dir: "auto" }, one.question === null ? h("i", { class: "quiet" }, "no question") : prose(one.question)),
    h("span", { class: "flags" }, flags(one.flags ?? [])));
}
