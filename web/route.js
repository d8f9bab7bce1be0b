// Addresses: `#/run/RUN/word/part?key=value`. Everything that a page shows is in its address.
//
// A run is named by its folder below the given one. Its slashes are written `~`, so that the name is one part.

/** The parameters of the filter of sessions, as in the server's API. */
const FILTERS = ["outcome", "a", "b", "solver", "flag", "q", "sort", "desc"];

/** The current route: `view`, the id of its `run` or its `runs`, the other `parts`, and the `query`. */
export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [first = "home", ...rest] = path.split("/").filter(Boolean);
  const route = { view: decode(first), run: null, runs: [], parts: [], query: new URLSearchParams(query) };
  if (first === "run" && rest.length > 0) {
    const [run, view = "run", ...parts] = rest;
    return { ...route, view: decode(view), run: decodeRun(run), parts: parts.map(decode) };
  }
  if (first === "compare") return { ...route, runs: rest.map(decodeRun) };
  if (first === "both") return { ...route, runs: rest.slice(0, 2).map(decodeRun), parts: rest.slice(2).map(decode) };
  return { ...route, parts: rest.map(decode) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const decodeRun = (text) => decode(text.replaceAll("~", "/"));
const encode = (part) => encodeURIComponent(part).replaceAll("%3A", ":");
const encodeRun = (id) => encode(id).replaceAll("~", "%7E").replaceAll("%2F", "~");

function address(parts, query = {}) {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const kept = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const tail = new URLSearchParams(kept).toString();
  return `#/${parts.join("/")}${tail ? `?${tail}` : ""}`;
}

/** The home page. Empty parameters are left out, here and below. */
export const homeLink = (query) => address([], query);

/** A page of a run. */
export const runLink = (id, parts = [], query = {}) => address(["run", encodeRun(id), ...parts.map(encode)], query);

/** The address parts of a session's name: its pair and its sample. */
const sessionParts = (name) => [name.slice(0, name.lastIndexOf("/")), name.slice(name.lastIndexOf("/") + 1)];

/** A session of a run. */
export const sessionLink = (id, name, query = {}) => runLink(id, ["session", ...sessionParts(name)], query);

/** The comparison of some runs. */
export const compareLink = (ids, query = {}) => address(["compare", ...ids.map(encodeRun)], query);

/** One session of two runs. */
export const bothLink = (ids, name, query = {}) => address(["both", ...ids.map(encodeRun), ...sessionParts(name).map(encode)], query);

/** The session's name in a route. */
export const sessionName = (route) => route.parts.join("/");

/** The filter in a query. */
export const filterOf = (query, keys = FILTERS) =>
  Object.fromEntries(keys.filter((key) => query.get(key)).map((key) => [key, query.get(key)]));

/** Navigates to a link; `replace` adds no history entry. */
export function go(href, replace = false) {
  if (href === location.hash) return;
  if (replace) {
    history.replaceState(null, "", href);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = href;
  }
}
