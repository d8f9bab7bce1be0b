// All elements are built here: text becomes text nodes, never markup.

const ATTRIBUTES = new Set([
  "class", "id", "href", "title", "type", "value", "name", "placeholder", "for", "role", "tabindex", "open",
  "disabled", "selected", "checked", "scope", "min", "max", "colspan", "autocomplete", "spellcheck", "dir", "lang",
]);

/** An element with attributes, listeners (`on`), custom properties (`vars`) and children. */
export function h(tag, { on = {}, vars = {}, data = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (!ATTRIBUTES.has(name) && !name.startsWith("aria-")) throw new Error(`attribute ${name} is not allowed`);
    if (name === "href" && !/^(#|\/api\/text\?|data\/[0-9a-f]{16}\.txt$)/.test(String(value))) throw new Error("links must stay on the page");
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(`--${name}`, String(value));
  for (const [name, value] of Object.entries(data)) element.dataset[name] = String(value);
  add(element, children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
const SVG_ELEMENTS = new Set(["svg", "g", "path", "rect", "circle", "line", "text", "title"]);
const SVG_ATTRIBUTES = new Set(["viewBox", "preserveAspectRatio", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "class", "role", "text-anchor", "transform"]);

/** An SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  if (!SVG_ELEMENTS.has(tag)) throw new Error(`element ${tag} is not allowed`);
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!SVG_ATTRIBUTES.has(name) && !name.startsWith("aria-")) throw new Error(`attribute ${name} is not allowed`);
    element.setAttribute(name, String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces the content of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

const keys = new WeakMap();

/** Replaces the content only if `data` has changed, so that an open menu stays open while a run grows. */
export function refill(element, data, make) {
  const key = JSON.stringify(data);
  if (keys.get(element) === key) return;
  keys.set(element, key);
  fill(element, make());
}

/** A select element with options `[value, label]`. */
export function select(label, options, value, change) {
  const list = options.map(([id, text]) => h("option", { value: id, selected: id === value }, text));
  const control = h("select", { "aria-label": label, on: { change: () => change(control.value) } }, list);
  return control;
}
