// Where the page is: `#/view/part/part?key=value`.

/** The filter's parameters, as the server knows them. */
const FILTERS = ["outcome", "a", "b", "solver", "flag", "q", "sort"];

/** The present place. */
export function here() {
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

/** A link; empty parameters are left out. */
export function link(view, parts, query = {}) {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const kept = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const tail = new URLSearchParams(kept).toString();
  const path = [view, ...parts].map((part) => encodeURIComponent(part).replaceAll("%3A", ":")).join("/");
  return `#/${path}${tail ? `?${tail}` : ""}`;
}

/** The filter within a query. */
export const filterOf = (query, keys = FILTERS) =>
  Object.fromEntries(keys.filter((key) => query.get(key)).map((key) => [key, query.get(key)]));

/** Goes to a link; `replace` leaves no step to go back to. */
export function go(href, replace = false) {
  if (href === location.hash) return;
  if (replace) {
    history.replaceState(null, "", href);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = href;
  }
}
