// A session whole, turn by turn.

import { ask } from "./api.js";
import { h, fill } from "./dom.js";
import { count } from "./format.js";
import { badge, flags, outcome, rightOf } from "./outcome.js";
import { filterOf, go, link } from "./route.js";
import { draw, turn } from "./turn.js";

/** All of a session but the way to others. */
export function sheet(whole, heading = "h1") {
  const state = whole.grade?.outcome ?? "ungraded";
  const cost = Object.values(whole.used).reduce((sum, one) => sum + one.usd, 0);
  const calls = Object.values(whole.used).reduce((sum, one) => sum + one.calls, 0);
  return [
    h("header", { class: "sheet-head" },
      h(heading, {}, h("span", { class: "name" }, whole.pair[0]), h("span", { class: "quiet" }, " and "), h("span", { class: "name" }, whole.pair[1]),
        h("span", { class: "quiet" }, ` #${whole.sample}`)),
      h("p", {}, badge(state), " ", h("span", { class: "quiet" }, outcome(state).means), " ", rightOf(whole.pair, whole.right)),
      whole.flags.length > 0 && h("p", { class: "flags" }, flags(whole.flags)),
      h("p", { class: "quiet" }, "Asked by ", h("span", { class: "name" }, whole.asker), ` · ${count(calls)} calls`, cost > 0 && ` · $${cost.toFixed(4)}`)),
    whole.turns.map((one, at) => turn(one, at + 1, whole)),
    whole.check.length > 0 && h("section", { class: "turn", "aria-label": "Cross-check" }, h("h2", {}, "Cross-check"),
      h("div", { class: "side-by-side three" }, whole.check.map((one, at) => draw(one, `Draw ${at + 1}`, { note: one.reply?.model ?? "" })))),
  ];
}

/** The view of `#/session/PLACE/NAME?…`. */
export async function session(context, route) {
  const [place, name] = [Number(route.parts[0]), route.parts[1] ?? ""];
  const filter = filterOf(route.query);
  const node = h("div", { class: "sheet" });
  const back = link("run", [place], filter);
  let around = {};
  const to = (other) => (other ? link("session", [place, other], filter) : null);
  const read = async () => {
    const whole = await ask("session", { run: place, name, ...filter });
    around = whole.around;
    const way = (label, other, key) => to(other)
      ? h("a", { href: to(other), class: "button" }, label, h("kbd", {}, key)) : h("span", { class: "button off" }, label);
    fill(node, h("nav", { class: "way", "aria-label": "Sessions" },
      h("a", { href: back, class: "button" }, "‹ List", h("kbd", {}, "Esc")),
      h("span", { class: "quiet" }, around.place === null ? "" : `${count(around.place + 1)} of ${count(around.total)}`),
      way("Previous", around.before, "k"), way("Next", around.after, "j")), sheet(whole));
    return whole;
  };
  const whole = await read();
  const open = (other) => (to(other) ? go(to(other)) : false);
  return {
    title: `${whole.pair.join(" and ")} #${whole.sample}`,
    node,
    update: whole.grade ? undefined : read,
    keys: { next: () => open(around.after), previous: () => open(around.before), back: () => go(back) },
  };
}
