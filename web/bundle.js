// Data of a static copy: responses of the API as scripts, which are added when they are needed. Lists are filtered here.

const info = globalThis.askeBundle ?? null;

/** Whether this page is a static copy. */
export const isCopy = info !== null;

/** Rows of a stored page of a list, and samples of a stored page of a problem. */
const PAGE = 100;
const SAMPLES = 20;
/** Responses that are kept in memory. */
const KEPT = 300;

const NAME = /^data\/[0-9a-f]{16}\.js$/;
const policy = isCopy ? globalThis.trustedTypes?.createPolicy("aske-chunk", { createScriptURL: (url) => {
  if (!NAME.test(url)) throw new TypeError("not a chunk of this copy");
  return url;
} }) : null;

/** FNV-1a with 64 bits, as 16 hexadecimal digits. */
function hash(text) {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}

const kept = new Map();
const waiting = new Map();

/** Called by the chunks: the name of a request, its response as JSON, and whether it is no error. */
if (isCopy) {
  globalThis.askeChunk = (key, json, found) => {
    waiting.get(key)?.(() => {
      const value = JSON.parse(json);
      if (!found) throw new Error([value.error, value.hint].filter(Boolean).join("; "));
      return value;
    });
  };
}

function load(key) {
  if (kept.has(key)) return kept.get(key);
  const promise = new Promise((done, fail) => {
    const script = document.createElement("script");
    const url = `data/${hash(key)}.js`;
    const missing = () => { waiting.delete(key); script.remove(); fail(new Error("This copy does not have this page.")); };
    waiting.set(key, (read) => {
      try { done(read()); } catch (error) { fail(error); }
    });
    script.addEventListener("error", missing);
    // A chunk of another name does not answer.
    script.addEventListener("load", () => { missing(); });
    script.src = policy ? policy.createScriptURL(url) : url;
    document.head.append(script);
  });
  promise.catch(() => kept.delete(key));
  if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
  kept.set(key, promise);
  return promise;
}

/** A stored response. */
function stored(route, query) {
  const pairs = (Array.isArray(query) ? query : Object.entries(query)).map(([name, value]) => [name, String(value)]).filter(([name, value]) => value !== "" && !(name === "offset" && value === "0"));
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return load(`${route}?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`);
}

/** The address of a full text, which is a file of its own. */
export const copyOfText = (address) => `data/${hash(address)}.txt`;

/** All rows of a list. */
async function all(route, query, size = PAGE) {
  const first = await stored(route, { ...query, offset: 0, limit: size });
  const total = first.matching ?? first.total;
  const rest = [];
  for (let offset = size; offset < total; offset += size) rest.push(stored(route, { ...query, offset, limit: size }));
  const pages = [first, ...(await Promise.all(rest))];
  return { first, rows: pages.flatMap((page) => page.rows ?? page.samples) };
}

/** The characters of a text with its formulas. */
const words = (text) => (Array.isArray(text) ? text.map((piece) => piece.tex ?? piece.text).join("") : String(text ?? ""));
const mentions = (needle, texts) => !needle || texts.some((text) => words(text).toLowerCase().includes(needle.toLowerCase()));
const paged = (first, rows, { offset = 0, limit = PAGE }) => ({ ...first, total: rows.length, offset: Number(offset), rows: rows.slice(Number(offset), Number(offset) + Number(limit)) });

const OUTCOMES = ["calibrated", "too_easy", "too_hard", "no_question", "bad_cross_check"];
const place = (row) => { const at = OUTCOMES.indexOf(row.outcome); return at < 0 ? OUTCOMES.length : at; };

const compareKeys = (one, two) => one.reduce((order, value, index) => order || value - two[index], 0);

/** The sessions that match a filter, in order. */
async function sessions({ run, outcome, a, b, solver, flag, q, sort, desc }) {
  const { first, rows } = await all("sessions", { run });
  const others = rows.filter((row) => [a, b, solver].every((name) => !name || row.pair.includes(name))
    && (!flag || row.flags.includes(flag)) && mentions(q, [row.name, row.question]));
  const outcomes = [...OUTCOMES, null].map((id) => others.filter((row) => (row.outcome ?? null) === id).length);
  const found = others.filter((row) => !outcome || (row.outcome ?? "ungraded") === outcome);
  const { solvers = [] } = sort === "pair" || sort === "sample" ? await stored("run", { run }) : {};
  const size = new Map(solvers.map((one, at) => [one.name, at]));
  const pair = (row) => row.pair.map((name) => size.get(name) ?? 0);
  const at = new Map(rows.map((row, index) => [row, index]));
  const keys = { latest: (row) => [-at.get(row)], pair: (row) => [...pair(row), row.sample], outcome: (row) => [place(row), -at.get(row)], sample: (row) => [row.sample, ...pair(row)],
    question: (row) => [words(row.question).length], flags: (row) => [row.flags.length] };
  if (keys[sort]) found.sort((one, two) => compareKeys(keys[sort](one), keys[sort](two)));
  if (desc === "true") found.reverse();
  return { first: { ...first, outcomes }, rows: found };
}

async function problems({ run, q, solved }) {
  const { first, rows } = await all("evals", { run });
  const kind = (row) => (row.right === 0 ? "never" : row.right === row.samples ? "always" : "sometimes");
  return { first, rows: rows.filter((row) => mentions(q, [row.dataset, row.problem, row.question]) && (!solved || kind(row) === solved)) };
}

const neighbours = (rows, at) => ({ before: rows[at - 1] ?? null, after: rows[at + 1] ?? null });

const LISTS = {
  async home(query) {
    const { first, rows } = await all("home", { parts: "true" });
    const shown = rows.filter((row) => (query.part_of ? row.part_of === query.part_of : query.parts === "true" || query.q || row.part_of === null)
      && (!query.kind || row.kind === query.kind) && (!query.live || String(row.writing) === query.live) && mentions(query.q, [row.id, row.name, row.asker, row.set]));
    const keys = { started: (row) => row.started, name: (row) => row.id, kind: (row) => row.kind, asker: (row) => row.asker, set: (row) => row.set, sessions: (row) => row.sessions,
      calibrated: (row) => row.rate?.value, separation: (row) => row.separation?.value, tokens: (row) => row.tokens, cost: (row) => row.usd };
    const key = keys[query.sort] ?? ((row) => row.written);
    const named = ["name", "kind", "asker", "set"].includes(query.sort);
    const sign = (query.desc ? query.desc === "true" : !named) ? -1 : 1;
    const none = (value) => value === null || value === undefined || value === "";
    shown.sort((one, two) => {
      const [x, y] = [key(one), key(two)];
      if (none(x) || none(y)) return none(x) - none(y);
      return sign * (x < y ? -1 : x > y ? 1 : 0) || (one.id < two.id ? -1 : 1);
    });
    return paged(first, shown, query);
  },
  async sessions(query) {
    const { first, rows } = await sessions(query);
    return paged(first, rows, query);
  },
  async session({ run, name, ...filter }) {
    const [details, { rows }] = await Promise.all([stored("session", { run, name }), sessions({ run, ...filter })]);
    const at = rows.findIndex((row) => row.name === name);
    const { before, after } = neighbours(rows, at);
    return { ...details, around: { place: at < 0 ? null : at, total: rows.length, before: at < 0 ? null : before?.name ?? null, after: at < 0 ? null : after?.name ?? null } };
  },
  async evals(query) {
    const { first, rows } = await problems(query);
    return paged(first, rows, query);
  },
  async eval({ run, dataset, problem, only = "", offset = 0, limit = SAMPLES, ...filter }) {
    const query = { run, dataset, problem };
    const [found, { rows }] = await Promise.all([only ? all("eval", query, SAMPLES) : stored("eval", { ...query, offset, limit }).then((first) => ({ first, rows: first.samples })), problems({ run, ...filter })]);
    const at = rows.findIndex((row) => row.dataset === dataset && row.problem === problem);
    const { before, after } = neighbours(rows, at);
    const matching = only ? found.rows.filter((sample) => sample.right === (only === "right")) : found.rows;
    const name = (row) => (at < 0 || !row ? null : [row.dataset, row.problem]);
    return { ...found.first, matching: only ? matching.length : found.first.matching, samples: only ? matching.slice(Number(offset), Number(offset) + Number(limit)) : matching, before: name(before), after: name(after) };
  },
  async compare({ first: one, second: two, one: a, two: b, differs, ...query }) {
    const { first, rows } = await all("compare", { first: one, second: two });
    return paged(first, rows.filter((row) => (differs !== "true" || row.outcomes[0] !== row.outcomes[1]) && (!a || row.outcomes[0] === a) && (!b || row.outcomes[1] === b)), query);
  },
  async "eval-compare"({ first: one, second: two, q, change, ...query }) {
    const { first, rows } = await all("eval-compare", { first: one, second: two });
    const kind = (row) => ["same", "up", "down"].at(Math.sign(row.right[1] * row.samples[0] - row.right[0] * row.samples[1]));
    return paged(first, rows.filter((row) => mentions(q, [row.dataset, row.problem, row.question]) && (!change || kind(row) === change)), query);
  },
};

/** The response to a request, as the server would give it. */
export function fromCopy(route, query) {
  if (Array.isArray(query)) return stored(route, query);
  const known = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined).map(([name, value]) => [name, String(value)]));
  return Object.hasOwn(LISTS, route) ? LISTS[route](known) : stored(route, known);
}
