// Asking the server.

/** Asks for JSON; an error has the server's own words. */
export async function ask(route, query = {}, signal = undefined) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const address = `/api/${route}?${new URLSearchParams(kept)}`;
  const reply = await fetch(address, { signal, cache: "no-store" });
  const body = await reply.json().catch((error) => {
    // A question that nobody waits for any more is no answer at all.
    if (error.name === "AbortError") throw error;
    throw new Error(`the server answered ${reply.status}, and not in JSON`);
  });
  if (!reply.ok) throw new Error(body.error ?? `the server answered ${reply.status}`);
  return body;
}

const SLOWLY = 10000;
let known = { version: 0, at: 0, promise: null };

/** The evidence of all runs; while a run grows it is asked for again only now and then. */
export function evidence(version) {
  const fresh = version === known.version || performance.now() - known.at < SLOWLY;
  if (!known.promise || !fresh) {
    const promise = ask("evidence");
    promise.catch(() => { known = { version: 0, at: 0, promise: null }; });
    known = { version, at: performance.now(), promise };
  }
  return known.promise;
}

/** Waits for news and tells; stops asking while nobody looks. */
export async function follow(version, tell, trouble) {
  for (;;) {
    if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
    try {
      const said = await ask("news", { since: version });
      trouble("");
      if (said.version !== version) {
        version = said.version;
        await tell();
      }
    } catch {
      trouble("The viewer does not answer.");
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}
