// Requests to the server, or to the data of a static copy.

import { copyOfText, fromCopy, isCopy } from "./bundle.js";

/** Requests JSON; throws an error with the server's message and hint. */
export async function request(route, query = {}, signal = undefined) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const address = `/api/${route}?${new URLSearchParams(kept)}`;
  const response = await fetch(address, { signal, cache: "no-store" });
  const body = await response.json().catch((error) => {
    // An aborted request is not an error of the server.
    if (error.name === "AbortError") throw error;
    throw new Error(`the server sent status ${response.status} without JSON`);
  });
  if (!response.ok) throw new Error([body.error ?? `the server sent status ${response.status}`, body.hint].filter(Boolean).join("; "));
  return body;
}

/** Milliseconds for which evidence of an older version is reused. */
const MAX_AGE = 10000;
let cached = { version: 0, at: 0, promise: null };

/** The evidence of all runs, cached: while a run grows it is requested at most every ten seconds. */
export function evidence(version) {
  const fresh = version === cached.version || performance.now() - cached.at < MAX_AGE;
  if (!cached.promise || !fresh) {
    const promise = request("evidence");
    promise.catch(() => { cached = { version: 0, at: 0, promise: null }; });
    cached = { version, at: performance.now(), promise };
  }
  return cached.promise;
}

/** The address of a reply's full text. */
export const fullText = (address) => (isCopy ? copyOfText(address) : address);

/** Polls for changes and calls `onChange`; pauses while the page is hidden. `onError` gets a message, or "" when all is well. */
export async function follow(version, onChange, onError) {
  for (;;) {
    if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
    try {
      const news = await request("news", { since: version });
      onError("");
      if (news.version !== version) {
        version = news.version;
        await onChange();
      }
    } catch {
      onError("The viewer is not responding.");
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}
