// The application: shows the view of the current route, and updates it while its run grows.

import { MAX_AGE, request, follow } from "./api.js";
import { h, fill, refill } from "./dom.js";
import { listen } from "./shortcuts.js";
import { compareLink, currentRoute, homeLink, runLink } from "./route.js";
import { home } from "./home.js";
import { overview } from "./overview.js";
import { session } from "./session.js";
import { maps } from "./maps.js";
import { compare } from "./compare.js";
import { sideBySide } from "./side-by-side.js";
import { evaluation, problem } from "./eval.js";
import { evalCompare } from "./eval-compare.js";
import { training } from "./training.js";
import { analysis } from "./analysis.js";
import { validity } from "./validity.js";
import { configuration } from "./configuration.js";
import { calls } from "./calls.js";

const VIEWS = { home, run: overview, session, problem, maps, analysis, validity, config: configuration, calls, compare, both: sideBySide };
/** The first page of runs of some kinds. */
const BY_KIND = { evaluation, training };
/** The tabs of a run with sessions. */
const TABS = [["run", "Sessions"], ["maps", "Maps"], ["analysis", "Analysis"], ["validity", "Validity"], ["config", "Configuration"], ["calls", "Calls"]];
/** The tabs of runs of some kinds. */
const TABS_BY_KIND = { evaluation: [["run", "Problems"], ["config", "Configuration"], ["calls", "Calls"]], training: [["run", "Training"]] };

const main = document.getElementById("main");
// The row of the current run, or those of the compared runs, and the version in which they were read.
const context = { run: null, runs: [], version: 0 };
let current = null;

/** Reads the rows of the runs of a route. */
async function readRuns(route) {
  const ids = route.run === null ? route.runs : [route.run];
  const rows = await Promise.all(ids.map((run) => request("run", { run })));
  return { run: route.run === null ? null : rows[0], runs: rows, version: Math.max(0, ...rows.map((row) => row.version)) };
}

const path = (route) => [route.view, route.run, ...route.runs, ...route.parts].join("\n");

async function show() {
  const route = currentRoute();
  if (current?.same(route)) {
    current.route = route;
    return attempt(() => current.shown.navigate(route), current);
  }
  current?.shown?.leave?.();
  current?.ended.abort();
  clearTimeout(current?.later);
  const mine = { route, shown: null, same: () => false, ended: new AbortController() };
  current = mine;
  await attempt(async () => {
    Object.assign(context, { run: null, runs: [], version: 0 });
    const found = await readRuns(route);
    if (current !== mine) return;
    Object.assign(context, found);
    const kind = context.run?.kind;
    const evals = route.view === "compare" && context.runs.length === 2 && context.runs.every((run) => run.kind === "evaluation");
    const view = (route.view === "run" && BY_KIND[kind]) || (evals && evalCompare) || (Object.hasOwn(VIEWS, route.view) && VIEWS[route.view]);
    if (!view || (route.view === "run" && route.run === null)) throw new Error("This page does not exist.");
    header(route);
    if (context.run?.state === "broken" && !VIEWS_OF_BROKEN.has(route.view)) throw new Error(context.run.trouble);
    const shown = await view(context, route);
    if (current !== mine) return;
    mine.shown = shown;
    mine.same = (other) => Boolean(shown.navigate) && path(other) === path(mine.route);
    document.title = `${shown.title} · Ask-E`;
    fill(main, shown.node);
    scrollTo(0, 0);
    shown.entered?.();
  });
  if (current !== mine) return;
  if (!mine.shown && !context.run) header(route);
  followPage(mine);
}

/** Pages that do not need the records of their run. */
const VIEWS_OF_BROKEN = new Set(["config", "calls"]);

function followPage(page) {
  const { run } = page.route;
  let down = false;
  const status = (error) => {
    const back = down && !error;
    down = Boolean(error);
    showStatus(error);
    if (back && !page.shown && page === current) show();
  };
  follow(run, context.version, page.ended.signal, async () => {
    const found = await readRuns(page.route);
    if (current !== page) return;
    Object.assign(context, found);
    showStatus();
    // A page that could not be shown may be there now.
    if (!page.shown) return show();
    const update = () => attempt(() => page.shown?.update?.(), page);
    await update();
    // Tables may have been of an earlier version: once more when they are no longer reused.
    clearTimeout(page.later);
    page.later = setTimeout(update, MAX_AGE);
  }, status);
}

/** Shows an error of an action; a page that it was updating is shown anew when it changes again. */
async function attempt(action, page = null) {
  try {
    await action();
  } catch (error) {
    if (error.name === "AbortError" || (page && page !== current)) return;
    page?.shown?.leave?.();
    if (page) Object.assign(page, { shown: null, same: () => false });
    showError(error);
  }
}

function showError(error) {
  document.title = "Cannot show this page · Ask-E";
  fill(main, h("h1", {}, "Cannot show this page"), h("p", { class: "trouble", role: "alert" }, error.message),
    h("p", {}, h("a", { href: homeLink() }, "All runs"), ...sameName()));
}

/** A link to the runs whose name is that of a run that is not there. */
function sameName() {
  const name = currentRoute().run?.split("/").at(-1);
  return name && !context.run ? [" · ", h("a", { href: homeLink({ q: name, parts: "true" }) }, "Runs of that name")] : [];
}

function header(route) {
  const { run, runs } = context;
  const tab = ([view, label]) => h("a", { href: runLink(run.id, view === "run" ? [] : [view]), "aria-current": (TAB_OF[route.view] ?? route.view) === view ? "page" : false }, label);
  const name = run ? run.id : runs.length > 0 ? "comparison" : null;
  refill(document.getElementById("runs"), [name, run?.part_of], () => [
    h("a", { href: homeLink(), "aria-current": route.view === "home" ? "page" : false }, "Runs"),
    run?.part_of && [separator(), h("a", { class: "name", href: runLink(run.part_of) }, run.part_of)],
    run && [separator(), h("a", { class: "name", href: runLink(run.id) }, run.part_of ? run.id.slice(run.part_of.length + 1) : run.id)],
    !run && runs.length > 0 && [separator(), h("a", { href: compareLink(route.runs) }, "Comparison")]]);
  refill(document.getElementById("views"), [run?.id, run?.kind, route.view], () => (run ? (TABS_BY_KIND[run.kind] ?? TABS).map(tab) : []));
  // On a narrow screen the tabs scroll; scrollIntoView would move the start of keyboard navigation.
  const tabs = document.getElementById("views");
  const chosen = tabs.querySelector("[aria-current]");
  if (chosen) tabs.scrollLeft = chosen.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - chosen.offsetWidth) / 2;
  showStatus();
}

/** The tabs of pages that have none of their own. */
const TAB_OF = { session: "run", problem: "run" };

const separator = () => h("span", { class: "quiet", "aria-hidden": "true" }, "/");

function showStatus(error = "") {
  const writing = context.runs.some((run) => run.writing);
  const broken = context.runs.find((run) => run.trouble)?.trouble;
  const message = error || broken;
  refill(document.getElementById("live"), [message, writing], () => [
    message && h("span", { class: "trouble" }, message), writing && h("span", { class: "following" }, "live")]);
}

/** A viewer of a single run begins with it. */
async function start() {
  if (!location.hash) {
    const { alone } = await request("home", { limit: 0 });
    history.replaceState(null, "", alone === null ? homeLink() : runLink(alone));
  }
  addEventListener("hashchange", show);
  // Its address would be a page.
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
  listen(() => current?.shown);
  await show();
}

start().catch(showError);
