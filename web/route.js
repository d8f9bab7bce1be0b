// Routes: `#/view/part/part?key=value`.

/** The parameters of the filter, as in the server's API. */
const FILTERS = ["outcome", "a", "b", "solver", "flag", "q", "sort"];

/** The current route. */
export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean).map(decode);
  const [view = "run", ...rest] = parts;
  return { view, parts: rest, query: new URLSearchParams(query) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A link without empty parameters. */
export function link(view, parts, query = {}) {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const kept = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const tail = new URLSearchParams(kept).toString();
  const path = [view, ...parts].map((part) => encodeURIComponent(part).replaceAll("%3A", ":")).join("/");
  return `#/${path}${tail ? `?${tail}` : ""}`;
}

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
