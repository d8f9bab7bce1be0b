// One session, turn by turn.

import { request } from "./api.js";
import { h, fill } from "./dom.js";
import { count } from "./format.js";
import { badge, flags, outcome, rightOf } from "./outcome.js";
import { filterOf, go, runLink, sessionLink, sessionName } from "./route.js";
import { draw, turn } from "./turn.js";

/** The content of a session without navigation. */
export function sessionContent(details, heading = "h1") {
  const state = details.grade?.outcome ?? "ungraded";
  const cost = Object.values(details.used).reduce((sum, one) => sum + one.usd, 0);
  const calls = Object.values(details.used).reduce((sum, one) => sum + one.calls, 0);
  return [
    h("header", { class: "sheet-head" },
      h(heading, {}, h("span", { class: "name" }, details.pair[0]), h("span", { class: "quiet" }, " and "), h("span", { class: "name" }, details.pair[1]),
        h("span", { class: "quiet" }, ` #${details.sample}`)),
      h("p", {}, badge(state), " ", h("span", { class: "quiet" }, outcome(state).means), " ", rightOf(details.pair, details.right)),
      details.flags.length > 0 && h("p", { class: "flags" }, flags(details.flags)),
      h("p", { class: "quiet" }, "Asked by ", h("span", { class: "name" }, details.asker), ` · ${count(calls)} calls`, cost > 0 && ` · $${cost.toFixed(4)}`)),
    details.turns.map((one, at) => turn(one, at + 1, details)),
    details.check.length > 0 && h("section", { class: "turn", "aria-label": "Cross-check" }, h("h2", {}, "Cross-check"),
      h("div", { class: "side-by-side three" }, details.check.map((one, at) => draw(one, `Draw ${at + 1}`, { note: one.reply?.model ?? "" })))),
  ];
}

/** Links to the list and to the previous and next item, with their keys. */
export function neighbourLinks(label, list, before, after, text = "") {
  const to = (name, href, key) => href
    ? h("a", { href, class: "button" }, name, h("kbd", {}, key)) : h("span", { class: "button off" }, name);
  const node = h("nav", { class: "way", "aria-label": label }, to("‹ List", list, "Esc"), h("span", { class: "quiet" }, text),
    to("Previous", before, "k"), to("Next", after, "j"));
  const open = (href) => (href ? go(href) : false);
  return { node, keys: { next: () => open(after), previous: () => open(before), back: () => go(list) } };
}

/** The view of `#/run/RUN/session/PAIR/SAMPLE?…`. */
export async function session(context, route) {
  const [{ id }, name] = [context.run, sessionName(route)];
  const filter = filterOf(route.query);
  const node = h("div", { class: "sheet" });
  const back = runLink(id, [], filter);
  let neighbours = null;
  const to = (other) => (other ? sessionLink(id, other, filter) : null);
  const read = async () => {
    const details = await request("session", { run: id, name, ...filter });
    const { place: position, total, before, after } = details.around;
    const text = position === null ? "" : `${count(position + 1)} of ${count(total)}`;
    neighbours = neighbourLinks("Sessions", back, to(before), to(after), text);
    fill(node, neighbours.node, sessionContent(details));
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
