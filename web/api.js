// Requests to the server, or to the data of a static copy.

import { copyOfText, fromCopy, isCopy } from "./bundle.js";

/** Requests JSON; throws an error with the server's message, hint and status. `query` is an object or a list of pairs. */
export async function request(route, query = {}, signal = undefined) {
  if (isCopy) return fromCopy(route, query);
  const pairs = Array.isArray(query) ? query : Object.entries(query);
  const kept = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const address = `/api/${route}?${new URLSearchParams(kept)}`;
  const response = await fetch(address, { signal, cache: "no-store" });
  const body = await response.json().catch((error) => {
    // An aborted request is not an error of the server.
    if (error.name === "AbortError") throw error;
    throw new Error(`the server sent status ${response.status} without JSON`);
  });
  if (!response.ok) {
    const message = [body.error ?? `the server sent status ${response.status}`, body.hint].filter(Boolean).join("; ");
    throw Object.assign(new Error(message), { status: response.status });
  }
  return body;
}

/** Milliseconds for which tables of an older version are reused. */
export const MAX_AGE = 10000;
let cached = { key: "", version: 0, at: 0, promise: null };

/** The tables of a run, or of several, cached: while a run grows they are requested at most every ten seconds. */
export function evidence(ids, version) {
  const key = JSON.stringify(ids);
  const fresh = key === cached.key && (version === cached.version || performance.now() - cached.at < MAX_AGE);
  if (!cached.promise || !fresh) {
    const promise = request("evidence", ids.map((id) => ["run", id]));
    promise.catch(() => { cached = { key: "", version: 0, at: 0, promise: null }; });
    cached = { key, version, at: performance.now(), promise };
  }
  return cached.promise;
}

/** The address of a reply's full text. */
export const fullText = (address) => (isCopy ? copyOfText(address) : address);

/** Polls for changes of a run, or of all, and calls `onChange` until the signal; pauses while the page is hidden. `onError` gets a
    message, or "" when all is well. */
export async function follow(run, version, signal, onChange, onError) {
  while (!isCopy && !signal.aborted) {
    if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
    try {
      const news = await request("news", { run, since: version }, signal);
      onError("");
      if (news.version !== version) {
        version = news.version;
        await onChange();
        await pause(250);
      }
    } catch (error) {
      if (signal.aborted) return;
      onError(error.status === 404 ? error.message : "The viewer is not responding.");
      await pause(2000);
    }
  }
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
