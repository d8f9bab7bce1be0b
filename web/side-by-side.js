// One session of two runs, side by side.

import { request } from "./api.js";
import { h } from "./dom.js";
import { go, link } from "./route.js";
import { sessionContent } from "./session.js";

/** The view of `#/both/FIRST/SECOND/NAME`. */
export async function sideBySide(context, route) {
  const runs = route.parts.slice(0, 2).map(Number);
  const name = route.parts[2] ?? "";
  const sessions = await Promise.all(runs.map((run) => request("session", { run, name })));
  const back = link("compare", runs, route.query);
  const column = (details, at) => h("section", { class: "column", "aria-label": context.runs[runs[at]].name },
    h("h2", {}, h("a", { href: link("session", [runs[at], name]) }, context.runs[runs[at]].name)), sessionContent(details, "h3"));
  return {
    title: `${name} in two runs`,
    node: [
      h("nav", { class: "way", "aria-label": "Comparison" }, h("a", { href: back, class: "button" }, "‹ Comparison", h("kbd", {}, "Esc"))),
      h("h1", { class: "unseen" }, `${name} in two runs`),
      h("div", { class: "columns" }, sessions.map(column)),
    ],
    keys: { back: () => go(back) },
  };
}
