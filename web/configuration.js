// The configuration of a run: every value with its origin, what identifies the run, and the prompts.

import { request } from "./api.js";
import { h, fill } from "./dom.js";
import { named, panel, table } from "./panels.js";
import { filterOf, go, runLink } from "./route.js";
import { box, shownName } from "./text.js";

const origin = (one, known) => (one.origin ? shownName(one.origin) : known ? h("span", { class: "quiet" }, "default") : "");

function prompts({ name, hash, files }) {
  const texts = files && Object.entries(files).map(([file, text]) =>
    h("details", { id: `prompt-${file}` }, h("summary", {}, file), box(text, file, "small")));
  return panel("Prompts", h("p", {}, named(name ?? "bundled"), " ", h("span", { class: "quiet name" }, hash ?? "")),
    texts ?? h("p", { class: "quiet" }, "These prompts are not among the bundled ones, so their texts are not known here; every session shows the messages that were sent."));
}

/** The view of `#/run/RUN/config?q=…`. */
export async function configuration(context, route) {
  let query = route.query;
  const { id } = context.run;
  const found = await request("configuration", { run: id });
  const search = h("input", { type: "search", placeholder: "Search keys and values", "aria-label": "Search keys and values",
    on: { input: () => go(runLink(id, ["config"], { ...filterOf(query, ["set"]), q: search.value }), true) } });
  const only = h("input", { type: "checkbox", on: { change: () => go(runLink(id, ["config"], { ...filterOf(query, ["q"]), set: only.checked ? "true" : "" }), true) } });
  const values = h("div");
  const draw = () => {
    const needle = (query.get("q") ?? "").toLowerCase();
    const set = query.get("set") === "true";
    if (document.activeElement !== search) search.value = query.get("q") ?? "";
    only.checked = set;
    const rows = found.values.filter(({ key, value, origin: from }) => (!set || from) && `${key} ${value} ${from ?? ""}`.toLowerCase().includes(needle));
    fill(values, rows.length === 0 ? h("p", { class: "quiet" }, "No matches.")
      : table("Configuration", ["key", "value", ...(found.with_origins ? ["origin"] : [])],
        rows.map((one) => [named(one.key), h("span", { class: "name value" }, shownName(one.value)), ...(found.with_origins ? [origin(one, true)] : [])]), "config"));
  };
  draw();
  return {
    title: `Configuration of ${id}`,
    node: [h("h1", { class: "unseen" }, "Configuration"),
      panel("Configuration", h("p", { class: "quiet" }, `As of the last start, by aske ${found.aske}. `, !found.with_origins && "This run was written by a version that did not store where values come from."),
        h("form", { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } }, search,
          found.with_origins && h("label", { class: "toggle" }, only, " only what was set")), values),
      prompts(found.prompts),
      h("details", { class: "panel" }, h("summary", {}, "What must stay the same for the run to be continued"), table("Identity", ["key", "value"], Object.entries(found.identity).map(([key, value]) => [named(key), h("span", { class: "name value" }, shownName(value))]), "config"))],
    navigate: async (next) => { query = next.query; draw(); },
    keys: { search: () => { search.focus(); search.select(); }, back: () => go(runLink(id)) },
  };
}
