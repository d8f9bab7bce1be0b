// One page: finds the view for the present place, and keeps it up to date while a run grows.

import { ask, follow } from "./api.js";
import { h, fill, refill, select } from "./dom.js";
import { listen } from "./keys.js";
import { go, here, link } from "./route.js";
import { overview } from "./overview.js";
import { session } from "./session.js";
import { maps } from "./maps.js";
import { compare } from "./compare.js";
import { both } from "./both.js";
import { problem as evalProblem, problems } from "./eval.js";

const isEval = (run) => Boolean(run?.evals);
const run = (context, route) => (isEval(context.runs[Number(route.parts[0] ?? 0)]) ? problems : overview)(context, route);
const VIEWS = { run, session, maps, compare, both, eval: evalProblem };
const main = document.getElementById("main");
const context = { runs: [], version: 0 };
let current = null;

async function readRuns() {
  const said = await ask("runs");
  Object.assign(context, { runs: said.runs, version: said.version });
}

async function show() {
  const route = here();
  if (current?.same(route)) {
    header(route);
    current.route = route;
    return attempt(() => current.shown.turn(route));
  }
  current?.shown?.leave?.();
  const view = VIEWS[route.view];
  const first = view ? Number(route.parts[0] ?? 0) : -1;
  header(route);
  if (!view || !context.runs[first]) return problem(new Error("There is no such page."));
  const mine = { view: route.view, route, shown: null, same: () => false };
  current = mine;
  await attempt(async () => {
    const shown = await view(context, route);
    if (current !== mine) return;
    mine.shown = shown;
    const place = (at) => [at.view, ...at.parts].join("\n");
    mine.same = (other) => Boolean(shown.turn) && place(other) === place(mine.route);
    document.title = `${shown.title} · Ask-E`;
    fill(main, shown.node);
    scrollTo(0, 0);
    shown.entered?.();
  });
}

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    if (error.name !== "AbortError") problem(error);
  }
}

function problem(error) {
  fill(main, h("h1", {}, "This cannot be shown"), h("p", { class: "trouble", role: "alert" }, error.message),
    h("p", {}, h("a", { href: link("run", [0]) }, "To the first run")));
}

function header(route) {
  const at = Math.min(Math.max(Number(route.parts[0]) || 0, 0), Math.max(context.runs.length - 1, 0));
  const options = context.runs.map((run, place) => [String(place), `${run.name} (${run.asker})`]);
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

function live(trouble = "") {
  const writing = context.runs.some((run) => run.writing);
  const broken = context.runs.find((run) => run.trouble)?.trouble;
  const wrong = trouble || broken;
  refill(document.getElementById("live"), [wrong, writing], () => [
    wrong && h("span", { class: "trouble" }, wrong), writing && h("span", { class: "following" }, "following")]);
}

async function start() {
  await readRuns();
  live();
  if (!location.hash) history.replaceState(null, "", link("run", [0]));
  addEventListener("hashchange", show);
  listen(() => current?.shown);
  await show();
  follow(context.version, async () => {
    await readRuns();
    live();
    header(here());
    try {
      await current?.shown?.update?.();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }, live);
}

start().catch(problem);
