// A run: its result, and the list of its sessions with filters.

import { request } from "./api.js";
import { h } from "./dom.js";
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

  const read = async () => {
    pending?.abort();
    pending = new AbortController();
    const filter = filterOf(query);
    const offset = Number(query.get("offset")) || 0;
    const page = await request("sessions", { run: id, ...filter, offset, limit: PAGE }, pending.signal);
    head.draw(page.outcomes, filter.outcome ?? "");
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
    node: [head.node, heading, controls.node, sessions.node],
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
