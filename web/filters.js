// The controls above the list. Their values are in the address, so that a view can be shared.

import { h, refill, select } from "./dom.js";
import { size } from "./format.js";
import { FLAG_NAMES, flagLabel } from "./outcome.js";

/** The controls; `change(key, value, typing)` is called for each change. */
export function filters(run, change) {
  const search = h("input", {
    type: "search", placeholder: "Search questions, answers, names", "aria-label": "Search", autocomplete: "off",
    spellcheck: "false", on: { input: () => change("q", search.value, true) },
  });
  const rest = h("span", { class: "selects" });
  const node = h("form", { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } }, search, rest);
  const draw = (filter) => {
    if (document.activeElement !== search) search.value = filter.q ?? "";
    const solvers = run().solvers.map(({ name, params }) => [name, params ? `${name} · ${size(params)}` : name]);
    const one = (key, label, any, options) => select(label, [["", any], ...options], filter[key] ?? "", (value) => change(key, value));
    const focused = document.activeElement?.getAttribute("aria-label");
    refill(rest, [filter, solvers], () => [
      one("a", "Solver", "any solver", solvers),
      one("b", "Other solver", "against any", solvers.filter(([name]) => name !== filter.a)),
      one("flag", "Flag", "any flags", FLAG_NAMES.map((flag) => [flag, flagLabel(flag)])),
      Object.keys(filter).length > 0 && h("button", { type: "button", on: { click: () => change(null) } }, "Clear")]);
    if (focused && !node.contains(document.activeElement)) rest.querySelector(`select[aria-label="${focused}"]`)?.focus();
  };
  return { node, search, draw };
}
