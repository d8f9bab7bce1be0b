// Home: all runs, sorted, filtered and searched; two or more are selected to be compared.

import { request } from "./api.js";
import { h, fill, refill, select } from "./dom.js";
import { ago, between, count, date, dollars, percent, points, short } from "./format.js";
import { smallBar } from "./outcome.js";
import { PAGE } from "./paged-list.js";
import { compareLink, filterOf, go, homeLink, runLink } from "./route.js";
import { step } from "./shortcuts.js";
import { shownName } from "./text.js";

const KEYS = ["q", "kind", "live", "parts", "sort", "desc", "offset"];
/** What a folder is the run of. */
export const KINDS = {
  sessions: "sessions", ask: "ask", baseline: "baseline", evaluation: "evaluation", training: "training",
  rollouts: "rollouts", environment: "environment", unknown: "not readable",
};
/** Columns with the orders they offer, the first one by default. */
const COLUMNS = [
  [["name", "Run"], ["kind", "kind"]],
  [["asker", "Asker"], ["set", "set"]],
  [["sessions", "Done"]],
  [["calibrated", "Calibrated or right"]],
  [["separation", "Real separation"]],
  [[null, "Validity"]],
  [["tokens", "Tokens"], ["cost", "cost"]],
  [["written", "Written"], ["started", "started"]],
];
const NAMED = new Set(["name", "kind", "asker", "set"]);

const time = (value, label) => (value === null ? "–" : h("time", { title: `${label} ${date(value)}` }, ago(value)));

/** What has been done, of what was planned. */
function done(run) {
  if (run.steps) {
    const planned = run.planned_steps;
    return h("span", {}, run.steps.map((steps, at) => [at > 0 && ", ", count(steps)]), planned && h("span", { class: "quiet" }, ` of ${count(planned)}`), " steps");
  }
  if (run.evals) return h("span", {}, count(run.evals.samples), " samples");
  const planned = run.planned !== null && run.planned !== run.sessions && h("span", { class: "quiet" }, ` of ${count(run.planned)}`);
  return [h("span", {}, count(run.sessions), planned), run.sessions > 0 && smallBar(run.outcomes)];
}

const OVER = { pairs: "over pairs", these_pairs: "these pairs", weighted: "weighted over pairs" };

function calibrated(run) {
  if (run.evals) return run.evals.samples > 0 && [h("b", {}, percent(run.evals.right / run.evals.samples)), h("span", { class: "quiet" }, "right")];
  if (!run.rate) return null;
  const { value, interval, over } = run.rate;
  return [h("b", {}, percent(value)), interval && h("span", { class: "quiet", title: `95% ${OVER[over]}` }, between(interval))];
}

function separation(run) {
  if (!run.separation) return null;
  const { value, interval } = run.separation;
  const plain = (share) => points(share).replace("+", "");
  return [h("b", {}, plain(value)), h("span", { class: "quiet", title: "percentage points, 95%" }, `${plain(interval.low)} to ${plain(interval.high)}`)];
}

const WARNINGS = [["problem", "problem"], ["look", "worth a look"], ["note", "note"]];

/** Validity checks above their limit, as badges. */
export function warnings(findings) {
  return WARNINGS.map(([severity, word]) => {
    const found = findings.filter((one) => one.severity === severity);
    const label = `${found.length} ${word}${found.length > 1 && word !== "worth a look" ? "s" : ""}`;
    return found.length > 0 && h("span", { class: `warning ${severity}`, title: found.map((one) => `${one.check}: ${one.text}`).join("\n") }, label);
  });
}

function tags(run) {
  return [h("span", { class: `kind ${run.kind}` }, KINDS[run.kind] ?? run.kind), run.also.map((one) => h("span", { class: "flag" }, one)),
    run.writing && h("span", { class: "following" }, "live")];
}

/** The view of `#/?…`. */
export async function home(context, route) {
  let query = route.query;
  let [page, pending] = [null, null];
  const chosen = () => query.getAll("select");
  const to = (changes, chosenIds = chosen()) => {
    const pairs = Object.entries({ ...filterOf(query, KEYS), offset: "", ...changes });
    return homeLink(new URLSearchParams([...pairs.filter(([, value]) => value), ...chosenIds.map((id) => ["select", id])]));
  };
  const toggle = (id) => go(to({ offset: query.get("offset") }, chosen().includes(id) ? chosen().filter((one) => one !== id) : [...chosen(), id]), true);

  const search = h("input", { type: "search", placeholder: "Search names, askers, sets", "aria-label": "Search", autocomplete: "off", spellcheck: "false",
    on: { input: () => go(to({ q: search.value }), true) } });
  const controls = h("span", { class: "selects" });
  const summary = h("p", { class: "quiet", role: "status" });
  const selection = h("div", { class: "selection", role: "region", "aria-label": "Selected runs" });
  const body = h("tbody");
  const head = h("thead");
  const pager = h("nav", { class: "pager", "aria-label": "Pages" });
  const table = h("table", { class: "runs", "aria-label": "Runs" }, head, body);

  const order = () => query.get("sort") || "written";
  const descending = (column) => (query.get("desc") ? query.get("desc") === "true" : !NAMED.has(column));
  const header = (orders) => {
    const sorted = orders.some(([id]) => id === order());
    return h("th", { scope: "col", "aria-sort": sorted ? (descending(order()) ? "descending" : "ascending") : false }, orders.map(([id, label], at) => {
      if (id === null) return label;
      const current = id === order();
      const desc = current ? !descending(id) : !NAMED.has(id);
      return [at > 0 && " · ", h("a", { class: "plain", href: to({ sort: id, desc: String(desc) }), "aria-current": current ? "true" : false }, label,
        current && h("span", { "aria-hidden": "true" }, descending(id) ? " ↓" : " ↑"))];
    }));
  };

  const row = (run) => {
    const box = h("input", { type: "checkbox", "aria-label": `Select ${run.id}`, checked: chosen().includes(run.id), on: { change: () => toggle(run.id) } });
    const broken = run.state === "broken";
    const cell = (label, ...content) => h("td", { data: { label } }, content);
    const first = h("th", { scope: "row" }, h("a", { class: "row-link", href: runLink(run.id), data: { name: run.id } }, shownName(run.id)), h("span", { class: "tags" }, tags(run)));
    if (broken) return h("tr", { class: "broken" }, h("td", {}), first, h("td", { class: "trouble", colspan: String(COLUMNS.length - 1) }, run.trouble));
    const unread = run.state === "reading";
    return h("tr", { class: unread ? "unread" : "" }, h("td", {}, box), first,
      cell("asker", h("span", { class: "name" }, shownName(run.asker)), h("span", { class: "quiet" }, shownName(run.set))),
      unread ? h("td", { class: "quiet", colspan: "5" }, "reading…") : [
        cell("done", done(run)), cell("calibrated", calibrated(run)), cell("separation", separation(run)),
        cell("validity", warnings(run.findings)),
        cell("tokens", run.calls > 0 && [h("span", {}, short(run.tokens)), h("span", { class: "quiet" }, dollars(run.usd))])],
      cell("written", time(run.written, "written"), h("span", { class: "quiet" }, "began ", time(run.started, "started"))));
  };

  const draw = () => {
    const filter = filterOf(query, KEYS);
    if (document.activeElement !== search) search.value = filter.q ?? "";
    refill(controls, [filter], () => [
      select("Kind", [["", "all kinds"], ...Object.entries(KINDS)], filter.kind ?? "", (kind) => go(to({ kind }))),
      select("State", [["", "live and finished"], ["true", "live"], ["false", "finished"]], filter.live ?? "", (live) => go(to({ live }))),
      h("label", { class: "toggle" }, h("input", { type: "checkbox", checked: filter.parts === "true", on: { change: (event) => go(to({ parts: event.target.checked ? "true" : "" })) } }), " parts of trainings")]);
    fill(summary, `${count(page.total)} of ${count(page.all)} runs`, page.reading > 0 && `, reading ${count(page.reading)}…`);
    fill(head, h("tr", {}, h("td", {}, h("span", { class: "unseen" }, "select")), COLUMNS.map(header)));
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    const [name, isBox] = [focused?.closest("tr")?.querySelector("a")?.dataset.name, focused?.matches("input")];
    fill(body, page.rows.map(row));
    if (name) {
      const again = links().find((one) => one.dataset.name === name);
      (isBox ? again?.closest("tr").querySelector("input") : again)?.focus({ preventScroll: true });
    }
    const ids = chosen();
    refill(selection, [ids], () => ids.length > 0 && [
      h("span", {}, `${ids.length} selected`),
      ids.length > 1 ? h("a", { class: "button primary", href: compareLink(ids) }, "Compare") : h("span", { class: "quiet" }, "select another one to compare"),
      h("a", { class: "button", href: to({}, []) }, "Clear")]);
    const end = page.offset + page.rows.length;
    const turn = (offset) => { go(to({ offset: offset > 0 ? String(offset) : "" })); scrollTo(0, 0); };
    const button = (text, offset, can) => h("button", { type: "button", disabled: !can, on: { click: () => turn(offset) } }, text);
    fill(pager, page.total === 0 ? h("p", { class: "quiet" }, "No matches.") : page.total > page.rows.length &&
      [h("span", { class: "quiet" }, `${count(page.offset + 1)} to ${count(end)} of ${count(page.total)}`),
        button("‹ Previous", page.offset - PAGE, page.offset > 0), button("Next ›", page.offset + PAGE, end < page.total)]);
  };
  const read = async () => {
    pending?.abort();
    pending = new AbortController();
    page = await request("home", { limit: PAGE, ...filterOf(query, KEYS) }, pending.signal);
    context.version = page.version;
    draw();
  };
  const links = () => [...body.querySelectorAll("a.row-link")];
  const move = (by) => step(links(), by);
  await read();
  return {
    title: "Runs",
    node: [h("h1", { class: "unseen" }, "Runs"), h("form", { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } }, search, controls),
      h("div", { class: "list-head" }, summary, selection), table, pager],
    navigate: async (next) => { query = next.query; await read(); },
    update: read,
    leave: () => pending?.abort(),
    keys: {
      next: () => move(1), previous: () => move(-1), down: () => move(1), up: () => move(-1),
      search: () => { search.focus(); search.select(); },
      select: () => {
        const name = document.activeElement?.closest?.("tr")?.querySelector("a.row-link")?.dataset.name;
        return name === undefined ? false : toggle(name);
      },
      back: (event) => {
        if (event.target === search && search.value) { search.value = ""; go(to({ q: "" }), true); }
        else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      },
    },
  };
}
