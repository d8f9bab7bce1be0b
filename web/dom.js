// Elements are built here and nowhere else: a text becomes a text node, never markup.

const ATTRIBUTES = new Set([
  "class", "id", "href", "title", "type", "value", "name", "placeholder", "for", "role", "tabindex", "open",
  "disabled", "selected", "checked", "scope", "colspan", "autocomplete", "spellcheck", "dir", "lang",
]);

/** An element with attributes, listeners (`on`), custom properties (`vars`) and children. */
export function h(tag, { on = {}, vars = {}, data = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (!ATTRIBUTES.has(name) && !name.startsWith("aria-")) throw new Error(`attribute ${name}`);
    if (name === "href" && !/^(#|\/api\/text\?)/.test(String(value))) throw new Error("links stay on the page");
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(`--${name}`, String(value));
  for (const [name, value] of Object.entries(data)) element.dataset[name] = String(value);
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Puts children in the place of what an element held. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

const drawn = new WeakMap();

/** Fills an element only where what it shows has changed: an open menu stays open while a run grows. */
export function refill(element, shown, make) {
  const key = JSON.stringify(shown);
  if (drawn.get(element) === key) return;
  drawn.set(element, key);
  fill(element, make());
}

/** A choice among `[value, label]`. */
export function select(label, options, value, change) {
  const list = options.map(([id, text]) => h("option", { value: id, selected: id === value }, text));
  const control = h("select", { "aria-label": label, on: { change: () => change(control.value) } }, list);
  return control;
}
