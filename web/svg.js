// SVG elements, from fixed lists of tags and attributes.

const SVG = "http://www.w3.org/2000/svg";
const TAGS = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "title"]);
const ATTRIBUTES = new Set([
  "class", "viewBox", "role", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "text-anchor", "transform",
]);

/** An element with attributes and children; texts become text nodes. */
export function s(tag, attributes = {}, ...children) {
  if (!TAGS.has(tag)) throw new Error(`element ${tag} is not allowed`);
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!ATTRIBUTES.has(name) && !name.startsWith("aria-")) throw new Error(`attribute ${name} is not allowed`);
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}
