// A run: its result, and the list of its sessions with filters.

import { request } from "./api.js";
import { h, fill } from "./dom.js";
import { count } from "./format.js";
import { filters } from "./filters.js";
import { runSummary } from "./run-summary.js";
import { PAGE, pagedList, sessionRow } from "./paged-list.js";
import { filterOf, go, homeLink, runLink, sessionLink } from "./route.js";

/** The view of `#/run/RUN?…`. */
export async function overview(context, route) {
  const run = () => context.run;
  const { id } = run();
  let query = route.query;
  let pending = null;

  const to = (changes) => {
    const next = { ...filterOf(query), ...changes };
    return runLink(id, [], next);
  };
  const head = runSummary(context, (outcome) => to({ outcome }));
  const controls = filters(run, (key, value, typing) => go(key === null ? runLink(id) : to({ [key]: value }), Boolean(typing)));
  const sessions = pagedList("Sessions");
  const heading = h("h2", { class: "unseen" }, "Sessions");
  const order = h("div", { class: "order", role: "group", "aria-label": "Order" });
  const reading = h("p", { class: "quiet", role: "status" });

  const read = async () => {
    pending?.abort();
    pending = new AbortController();
    const filter = filterOf(query);
    const offset = Number(query.get("offset")) || 0;
    const page = await request("sessions", { run: id, ...filter, offset, limit: PAGE }, pending.signal);
    head.draw(page.outcomes, filter.outcome ?? "");
    drawOrder(order, filter, (changes) => to(changes));
    fill(reading, !page.complete && `Reading: ${count(page.total)} sessions so far…`);
    controls.draw(filter);
    sessions.draw(page, (one) => sessionRow(one, sessionLink(id, one.name, filter)),
      (next) => { go(runLink(id, [], { ...filter, offset: next || "" })); scrollTo(0, 0); });
    return page;
  };
  const page = await read();
  const refine = () => head.refine().then(() => head.draw(lastOutcomes, filterOf(query).outcome ?? "")).catch(() => {});
  let lastOutcomes = page.outcomes;
  const reload = async () => { lastOutcomes = (await read()).outcomes; };

  return {
    title: run().asker || run().name,
    node: [head.node, heading, controls.node, reading, order, sessions.node],
    entered: () => { refine(); focusLast(sessions); },
    navigate: async (next) => { query = next.query; await reload(); },
    update: async () => { await reload(); refine(); },
    leave: () => { pending?.abort(); remember(); },
    keys: {
      ...sessions.keys,
      search: () => { controls.search.focus(); controls.search.select(); },
      back: (event) => {
        if (event.target === controls.search && controls.search.value) { controls.search.value = ""; go(to({ q: "" }), true); }
        else if (event.target === controls.search) controls.search.blur();
        else go(homeLink());
      },
    },
  };
}

/** The columns of the list, each an order. */
const COLUMNS = [[["outcome", "Outcome"]], [["pair", "Pair"], ["sample", "sample"]], [["question", "Question, by length"], ["", "as they ended"]], [["flags", "Flags"]]];

function drawOrder(node, filter, to) {
  const current = (filter.sort === "latest" ? "" : filter.sort) ?? "";
  const down = filter.desc === "true" || filter.sort === "latest";
  const column = ([id, label]) => h("a", { href: to({ sort: id, desc: id === current && !down ? "true" : "" }), "aria-current": id === current ? "true" : false },
    label, id === current && h("span", {}, h("span", { "aria-hidden": "true" }, down ? " ↓" : " ↑"), h("span", { class: "unseen" }, down ? ", descending" : ", ascending")));
  fill(node, COLUMNS.map((orders) => h("span", {}, orders.map((one, at) => [at > 0 && " · ", column(one)]))));
}

// Restores scroll position and focus when coming back from a session.
let last = null;
const remember = () => { last = { name: document.activeElement?.dataset?.name, top: scrollY }; };
function focusLast(sessions) {
  if (!last) return;
  const row = sessions.links().find((one) => one.dataset.name === last.name);
  scrollTo(0, last.top);
  row?.focus({ preventScroll: true });
  last = null;
}
