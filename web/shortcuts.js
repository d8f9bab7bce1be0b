// Keyboard shortcuts, the same in all views.

const typing = (target) => target instanceof Element && target.matches("input:not([type=checkbox]), select, textarea");

/** Moves the focus among links; returns false at an end. */
export function step(links, by) {
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by;
  if (next < 0 || next >= links.length) return false;
  links[next].focus();
  links[next].scrollIntoView({ block: "nearest" });
  return true;
}

/** Calls the functions in the current view's `keys`: `next`, `previous`, `down`, `up`, `back`, `search`, `select`. */
export function listen(view) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const name = nameOf(event);
    const action = name && view()?.keys?.[name];
    if (action && action(event) !== false) event.preventDefault();
  });
}

function nameOf(event) {
  const { key, target } = event;
  if (key === "Escape") return "back";
  if (typing(target)) return key === "ArrowDown" && target.matches("input") ? "next" : null;
  const inBox = target instanceof Element && target.matches(".text");
  if (key === "j") return "next";
  if (key === "k") return "previous";
  if (key === "ArrowDown" && !inBox) return "down";
  if (key === "ArrowUp" && !inBox) return "up";
  if (key === "x") return "select";
  return key === "/" ? "search" : null;
}
