// The exact requests of a session's calls, with their parameters, and the stored records as JSON.

import { request } from "./api.js";
import { h, fill } from "./dom.js";
import { count, seconds, usd } from "./format.js";
import { box } from "./text.js";

const ROLES = { asker: "asker", one: "Model 1", two: "Model 2", check: "cross-check", panel: "solver", equivalence: "equivalence checker" };
const slotName = ({ turn, role, draw }) => `${turn}/${role}/${draw}`;

/** Loads something once, when it is first needed. */
function lazy(load) {
  let promise = null;
  return () => {
    promise ??= load().catch((error) => { promise = null; throw error; });
    return promise;
  };
}

/** A fold whose content is made when it is opened. */
export function fold(title, make, kind = "") {
  const body = h("div");
  let made = false;
  const open = async (event) => {
    if (!event.target.open || made) return;
    made = true;
    fill(body, h("p", { class: "quiet", role: "status" }, "Loading…"));
    try {
      fill(body, await make());
    } catch (error) {
      made = false;
      fill(body, h("p", { class: "trouble", role: "alert" }, error.message));
    }
  };
  return h("details", { class: kind, on: { toggle: open } }, h("summary", {}, title), body);
}

const CHAT = { system: "system", user: "user", assistant: "assistant" };

const message = ({ role, content }) => h("div", { class: `message ${CHAT[role] ?? ""}` },
  h("h4", {}, role), box(content, `Message of the ${role}`, "small exact"));

/** The sampling parameters and limits of a call. */
function parameters(call) {
  const sampling = Object.entries(call.sampling ?? {}).filter(([, value]) => value !== null);
  const all = [["model", call.model], ["max_tokens", call.max_tokens], ["seed", call.seed], ...sampling];
  return h("dl", { class: "parameters" }, all.map(([name, value]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "object" ? JSON.stringify(value) : String(value)))));
}

const exactness = (exact) => ({
  true: h("p", { class: "quiet" }, h("span", { class: "is-right" }, "✓ "), "These are the messages that were sent: their hash is the stored one."),
  false: h("p", { class: "trouble" }, "Rebuilt from run.toml, but the stored hash is another one: these are not exactly the messages that were sent."),
}[exact] ?? h("p", { class: "quiet" }, "No reply is stored for this call."));

/** One request in full. */
function requestOf(call, conversation) {
  const messages = call.messages ?? conversation.slice(0, call.conversation);
  return [exactness(call.exact), parameters(call), messages.map(message)];
}

/** The calls of a session: `of(slot)` is a fold with the request of one call, `table()` a fold with all of them. */
export function callsOf(run, name) {
  const load = lazy(() => request("requests", { run, name }));
  const one = async (slot) => {
    const { calls, conversation, trouble } = await load();
    const found = calls.find((call) => slotName(call) === slotName(slot));
    return found ? requestOf(found, conversation) : h("p", { class: "quiet" }, trouble ?? "This call cannot be rebuilt.");
  };
  return {
    of: (slot) => fold("Messages of this call", () => one(slot), "sent"),
    table: () => fold("All calls", async () => table(await load()), "sent"),
    raw: () => fold("Raw JSON", async () => raw(await request("raw", { run, name })), "sent"),
  };
}

const raw = (value) => [
  value.trouble && h("p", { class: "trouble" }, value.trouble),
  box(JSON.stringify(value, null, 2), "The stored record as JSON", "exact")];

function table({ calls, conversation, trouble, verdicts = [] }) {
  const all = [...calls, ...verdicts];
  const total = (key) => all.reduce((sum, call) => sum + (call.reply?.[key] ?? 0), 0);
  const open = h("div");
  const show = (call) => fill(open, h("h3", {}, title(call)), requestOf(call, conversation), call.reply && [h("h4", {}, "reply"), box(call.reply.text, "Reply", "small exact")]);
  const row = (call) => h("tr", {},
    h("th", { scope: "row" }, h("button", { type: "button", class: "linklike", on: { click: () => { show(call); open.scrollIntoView({ block: "nearest" }); } } }, title(call))),
    h("td", { class: "name" }, call.model),
    call.reply
      ? [count(call.reply.prompt), count(call.reply.cached), count(call.reply.tokens), count(call.reply.reasoning), seconds(call.reply.seconds), call.reply.attempts, usd(call.reply.usd), call.reply.finish].map((cell) => h("td", {}, cell))
      : h("td", { colspan: 8, class: "quiet" }, "no reply is stored"),
    h("td", {}, call.exact === true ? "✓" : call.exact === false ? "differs" : "–"));
  return [
    trouble && h("p", { class: "trouble" }, trouble),
    h("div", { class: "scroll" }, h("table", { class: "numbers wide", "aria-label": "All calls" },
      h("thead", {}, h("tr", {}, ["call", "model", "prompt", "cached", "completion", "thinking", "time", "attempts", "cost", "finish", "exact"].map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", {}, all.map(row)),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, `${count(all.length)} calls`), h("td"),
        [count(total("prompt")), count(total("cached")), count(total("tokens")), count(total("reasoning")), seconds(total("seconds")), total("attempts"), usd(total("usd"))].map((cell) => h("td", {}, cell)), h("td"), h("td"))))),
    h("p", { class: "quiet" }, "Tokens as the provider counted them. Choose a call to see its messages."), open];
}

const title = ({ turn, role, draw, pair }) => (pair ? `${ROLES[role]}: ${pair.reference} and ${pair.candidate}`.slice(0, 80)
  : `${turn > 0 ? `turn ${turn}, ` : ""}${ROLES[role] ?? role}${role === "check" ? `, draw ${draw + 1}` : ""}`);
