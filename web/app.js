// The application: shows the view of the current route, and updates it while a run grows.

import { request, follow } from "./api.js";
import { h, fill, refill, select } from "./dom.js";
import { listen } from "./shortcuts.js";
import { currentRoute, go, link } from "./route.js";
import { overview } from "./overview.js";
import { session } from "./session.js";
import { maps } from "./maps.js";
import { compare } from "./compare.js";
import { sideBySide } from "./side-by-side.js";
import { problem as evalProblem, problems } from "./eval.js";

const isEval = (run) => Boolean(run?.evals);
const run = (context, route) => (isEval(context.runs[Number(route.parts[0] ?? 0)]) ? problems : overview)(context, route);
const VIEWS = { run, session, maps, compare, both: sideBySide, eval: evalProblem };
const main = document.getElementById("main");
const context = { runs: [], version: 0 };
let current = null;

async function readRuns() {
  const { runs, version } = await request("runs");
  Object.assign(context, { runs, version });
}

async function show() {
  const route = currentRoute();
  if (current?.same(route)) {
    header(route);
    current.route = route;
    return attempt(() => current.shown.navigate(route));
  }
  current?.shown?.leave?.();
  const view = VIEWS[route.view];
  const first = view ? Number(route.parts[0] ?? 0) : -1;
  header(route);
  if (!view || !context.runs[first]) return showError(new Error("This page does not exist."));
  const mine = { view: route.view, route, shown: null, same: () => false };
  current = mine;
  await attempt(async () => {
    const shown = await view(context, route);
    if (current !== mine) return;
    mine.shown = shown;
    const path = (at) => [at.view, ...at.parts].join("\n");
    mine.same = (other) => Boolean(shown.navigate) && path(other) === path(mine.route);
    document.title = `${shown.title} · Ask-E`;
    fill(main, shown.node);
    scrollTo(0, 0);
    shown.entered?.();
  });
}

async function attempt(action) {
  try {
    await action();
  } catch (error) {
    if (error.name !== "AbortError") showError(error);
  }
}

function showError(error) {
  fill(main, h("h1", {}, "Cannot show this page"), h("p", { class: "trouble", role: "alert" }, error.message),
    h("p", {}, h("a", { href: link("run", [0]) }, "Go to the first run")));
}

function header(route) {
  const at = Math.min(Math.max(Number(route.parts[0]) || 0, 0), Math.max(context.runs.length - 1, 0));
  const options = context.runs.map((run, index) => [String(index), `${run.name} (${run.asker})`]);
  const choose = (value) => go(link(route.view === "maps" ? "maps" : "run", [value]));
  refill(document.getElementById("runs"), [options, at, route.view], () => (options.length > 1
    ? select("Run", options, String(at), choose)
    : h("span", { class: "name" }, options[0]?.[1] ?? "")));
  const tab = (view, label, parts) =>
    h("a", { href: link(view, parts), "aria-current": route.view === view ? "page" : false }, label);
  const other = at === 0 ? 1 : 0;
  refill(document.getElementById("views"), [options.length, at, route.view], () => isEval(context.runs[at]) ? [tab("run", "Problems", [at])] : [tab("run", "Sessions", [at]), tab("maps", "Maps", [at]),
    context.runs.length > 1 && tab("compare", "Compare", [Math.min(at, other), Math.max(at, other)])]);
}

function showStatus(error = "") {
  const writing = context.runs.some((run) => run.writing);
  const broken = context.runs.find((run) => run.trouble)?.trouble;
  const message = error || broken;
  refill(document.getElementById("live"), [message, writing], () => [
    message && h("span", { class: "trouble" }, message), writing && h("span", { class: "following" }, "live")]);
}

async function start() {
  await readRuns();
  showStatus();
  if (!location.hash) history.replaceState(null, "", link("run", [0]));
  addEventListener("hashchange", show);
  listen(() => current?.shown);
  await show();
  follow(context.version, async () => {
    await readRuns();
    showStatus();
    header(currentRoute());
    try {
      await current?.shown?.update?.();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }, showStatus);
}

start().catch(showError);
