// MathML from the server: parsed as XML, then copied element by element if on the list of allowed ones.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const ELEMENTS = new Set([
  "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
  "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "mtable", "mtr", "mtd", "mpadded", "mphantom",
  "mstyle", "menclose", "merror",
]);
const ATTRIBUTES = new Set([
  "display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "separator", "form", "largeop",
  "movablelimits", "symmetric", "accent", "accentunder", "lspace", "rspace", "minsize", "maxsize", "linethickness",
  "width", "height", "depth", "voffset", "columnalign", "rowalign", "columnspacing", "rowspacing", "columnspan",
  "rowspan", "columnlines", "rowlines", "frame", "notation", "dir",
]);
const MAX_ELEMENTS = 20000;
const MAX_DEPTH = 200;

// Parsing is a Trusted Types sink even though nothing runs; the parsed document is only copied from.
const policy = globalThis.trustedTypes?.createPolicy("aske-mathml", { createHTML: (text) => text });

/** The elements for a piece of MathML, or null if it is invalid. */
export function mathml(text, display) {
  if (typeof text !== "string" || text.length > 1 << 20) return null;
  try {
    const source = policy ? policy.createHTML(text) : text;
    const root = new DOMParser().parseFromString(source, "application/xml").documentElement;
    // Browsers report XML errors inside the document.
    if (root.localName !== "math" || root.getElementsByTagName("parsererror").length > 0) return null;
    const math = copy(root, { left: MAX_ELEMENTS }, 0);
    if (math && display) math.setAttribute("display", "block");
    return math;
  } catch {
    return null;
  }
}

function copy(from, budget, depth) {
  if (from.nodeType === Node.TEXT_NODE) return document.createTextNode(from.data);
  if (from.nodeType !== Node.ELEMENT_NODE || !ELEMENTS.has(from.localName)) return null;
  if (depth > MAX_DEPTH || (budget.left -= 1) < 0) throw new Error("too large");
  const to = document.createElementNS(MATHML, from.localName);
  for (const { localName, value } of from.attributes) {
    if (ATTRIBUTES.has(localName)) to.setAttribute(localName, value);
  }
  for (const child of from.childNodes) {
    const copied = copy(child, budget, depth + 1);
    if (copied) to.append(copied);
  }
  return to;
}
