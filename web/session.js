// One session: the result at a glance, then turn by turn, then its calls.

import { request } from "./api.js";
import { h, fill } from "./dom.js";
import { callsOf } from "./requests.js";
import { count, usd } from "./format.js";
import { flags } from "./outcome.js";
import { guessing } from "./replay.js";
import { filterOf, go, runLink, sessionLink, sessionName } from "./route.js";
import { shownName } from "./text.js";
import { draw, turn } from "./turn.js";
import { verdict } from "./verdict.js";

/** The content of a session without navigation; `calls` are its requests. `hidden` leaves out the outcome. */
export function sessionContent(details, { heading = "h1", calls = null, hidden = false } = {}) {
  const cost = Object.values(details.used).reduce((sum, one) => sum + one.usd, 0);
  const number = Object.values(details.used).reduce((sum, one) => sum + one.calls, 0);
  const sent = (at) => calls?.of({ turn: details.turns.length, role: "check", draw: at });
  return [
    h("header", { class: "sheet-head" },
      h(heading, {}, h("span", { class: "name" }, shownName(details.pair[0])), h("span", { class: "quiet" }, " and "), h("span", { class: "name" }, shownName(details.pair[1])),
        h("span", { class: "quiet" }, ` #${details.sample}`)),
      !hidden && details.flags.length > 0 && h("p", { class: "flags" }, flags(details.flags)),
      h("p", { class: "quiet" }, "Asked by ", h("span", { class: "name" }, shownName(details.asker)), ` · ${count(number)} calls`, cost > 0 && ` · ${usd(cost)}`)),
    !hidden && verdict(details),
    details.turns.map((one, at) => turn(one, at + 1, details, { calls, hidden: hidden && at + 1 === details.turns.length })),
    !hidden && details.check.length > 0 && h("section", { class: "turn", "aria-label": "Cross-check" }, h("h2", {}, "Cross-check"),
      h("div", { class: "side-by-side three" }, details.check.map((one, at) => draw(one, `Draw ${at + 1}`, { note: one.reply?.model ?? "", sent: sent(at) })))),
    !hidden && calls && h("section", { class: "turn", "aria-label": "Calls" }, h("h2", {}, "Calls"), calls.table(), calls.raw()),
  ];
}

/** Links to the list and to the previous and next item, with their keys. */
export function neighbourLinks(label, list, before, after, text = "", more = null) {
  const to = (name, href, key) => href
    ? h("a", { href, class: "button" }, name, h("kbd", {}, key)) : h("span", { class: "button off" }, name);
  const node = h("nav", { class: "way", "aria-label": label }, to("‹ List", list, "Esc"), more, h("span", { class: "quiet" }, text),
    to("Previous", before, "k"), to("Next", after, "j"));
  const open = (href) => (href ? go(href) : false);
  return { node, keys: { next: () => open(after), previous: () => open(before), back: () => go(list) } };
}

/** The view of `#/run/RUN/session/PAIR/SAMPLE?…`. With `replay=1` the outcome is hidden until the reader has guessed it. */
export async function session(context, route) {
  const run = context.run.id;
  const name = sessionName(route);
  const filter = filterOf(route.query);
  const replay = route.query.get("replay") === "1";
  const [node, body] = [h("div", { class: "sheet" }), h("div")];
  const back = runLink(run, [], filter);
  const calls = callsOf(run, name);
  let neighbours = null;
  const to = (other, again = replay) => (other ? sessionLink(run, other, { ...filter, replay: again ? "1" : "" }) : null);
  const read = async () => {
    const details = await request("session", { run, name, ...filter });
    const { place: position, total, before, after } = details.around;
    const text = position === null ? "" : `${count(position + 1)} of ${count(total)}`;
    const mode = h("a", { class: "button", href: to(name, !replay) }, replay ? "Leave replay" : "Replay");
    neighbours = neighbourLinks("Sessions", back, to(before), to(after), text, mode);
    if (replay && details.grade) {
      const guess = guessing(name, details.grade.outcome, () => {
        fill(body, guess, sessionContent(details, { calls }));
        guess.scrollIntoView({ block: "start" });
      });
      fill(body, sessionContent(details, { calls, hidden: true }), guess);
    } else {
      fill(body, sessionContent(details, { calls }));
    }
    fill(node, neighbours.node, body);
    return details;
  };
  const details = await read();
  return {
    title: `${details.pair.join(" and ")} #${details.sample}`,
    node,
    update: details.grade ? undefined : read,
    keys: Object.fromEntries(["next", "previous", "back"].map((key) => [key, () => neighbours.keys[key]()])),
  };
}
