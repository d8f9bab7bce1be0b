// One session of two runs, side by side.

import { request } from "./api.js";
import { h } from "./dom.js";
import { compareLink, go, sessionLink, sessionName } from "./route.js";
import { sessionContent } from "./session.js";

/** The view of `#/both/RUN/RUN/PAIR/SAMPLE`. */
export async function sideBySide(context, route) {
  const runs = context.runs.map((run) => run.id);
  const name = sessionName(route);
  const sessions = await Promise.all(runs.map((run) => request("session", { run, name })));
  const back = compareLink(runs, route.query);
  const column = (details, at) => h("section", { class: "column", "aria-label": runs[at] },
    h("h2", {}, h("a", { href: sessionLink(runs[at], name) }, runs[at])), sessionContent(details, { heading: "h3" }));
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
