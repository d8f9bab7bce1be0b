// The viewer in a real browser.

import assert from "node:assert/strict";
import { request } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { browser, evaluated, folder, growing, guarded, synthetic, viewer, watched } from "./support.mjs";

const SESSIONS = 570;
let context, at, page, account;

before(async () => {
  const runs = folder();
  const first = synthetic(join(runs, "first"), "--sessions", String(SESSIONS), "--asker", "one", "--hostile");
  const second = synthetic(join(runs, "second"), "--sessions", String(SESSIONS), "--asker", "two", "--seed", "5");
  const third = evaluated(join(runs, "third"), "nano-novice", "--samples", "2", "--limit", "12");
  at = await viewer(first, second, third);
  context = await browser();
  ({ page, account } = await watched(context));
});
after(async () => {
  await context?.close();
  at?.child.kill();
});

const open = async (hash, wait) => {
  await page.goto("about:blank");
  await page.goto(`${at.address}${hash}`);
  await page.waitForSelector(wait);
};
const total = async () => Number((await page.textContent(".pager .quiet")).match(/of ([\d,]+)/)[1].replaceAll(",", ""));
const api = async (path) => (await fetch(`${at.address}api/${path}`)).json();

describe("a run", () => {
  test("shows its headline and its sessions", async () => {
    await open("#/run/first", "a.row");
    await page.waitForSelector(".caveats");
    const { outcomes: [calibrated], caveats } = (await api("evidence?run=first")).runs[0];
    const ends = [calibrated.over_pairs.low, calibrated.over_pairs.high].map((end) => (100 * end).toFixed(1));
    assert.equal(await page.textContent(".rate"), `${(100 * calibrated.rate).toFixed(1)}% calibrated 95% over pairs: ${ends[0]} to ${ends[1]}%`);
    const shown = await page.locator(".caveats li").allTextContents();
    assert.deepEqual(shown, caveats.findings.map(({ severity, check, text }) => `${severity} ${check}: ${text}`));
    assert.equal(await page.locator("a.row").count(), 100);
    assert.ok((await total()) > SESSIONS);
  });

  test("is filtered by outcome, and the address says so", async () => {
    await open("#/run/first", "a.row");
    await page.click(".chip.too_easy");
    await page.waitForFunction(() => [...document.querySelectorAll("a.row")].every((row) => row.matches(".too_easy")));
    assert.match(page.url(), /outcome=too_easy/);
    assert.equal(await total(), (await api("sessions?outcome=too_easy&limit=1")).total);
    await page.goBack();
    await page.waitForFunction(() => document.querySelector("a.row:not(.too_easy)"));
  });

  test("is searched while typing, without losing the focus", async () => {
    await open("#/run/first", "a.row");
    const all = await total();
    await page.keyboard.press("/");
    await page.keyboard.type("DETERMINANT of", { delay: 5 });
    const { total: fewer } = await api("sessions?q=determinant+of&limit=1");
    assert.ok(fewer > 0 && fewer < all);
    await page.waitForFunction((fewer) => document.querySelector(".pager").textContent.includes(`of ${fewer}`), fewer);
    assert.equal(await page.inputValue("input[type=search]"), "DETERMINANT of");
    assert.ok(await page.evaluate(() => document.activeElement.matches("input[type=search]")));
    assert.match(await page.textContent("a.row .question"), /./);
  });

  test("a deep link with a filter opens as it was sent", async () => {
    await open("#/run/second?outcome=too_hard&flag=truncated&sort=pair", "a.row");
    assert.equal(await total(), (await api("sessions?run=second&outcome=too_hard&flag=truncated&limit=1")).total);
    assert.equal(await page.inputValue("select[aria-label=Flag]"), "truncated");
  });
});

describe("a session", () => {
  test("opens by keyboard, and j, k and Esc move within the filter", async () => {
    await open("#/run/first?outcome=calibrated", "a.row");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".turn.last .draw");
    assert.equal(await page.locator(".turn").count(), 7, "four rounds, the final question, the cross-check and the calls");
    assert.equal(await page.locator(".turn.last .mark.is-right").count(), 1);
    assert.equal(await page.locator(".turn.last .mark.is-wrong").count(), 1);
    assert.match(await page.textContent(".way"), /2 of /);
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.querySelector(".way").textContent.includes("3 of "));
    await page.keyboard.press("k");
    await page.waitForFunction(() => document.querySelector(".way").textContent.includes("2 of "));
    await page.keyboard.press("Escape");
    await page.waitForSelector("a.row");
    assert.match(page.url(), /outcome=calibrated/);
  });

  test("shows full replies, and the asker's private text folded", async () => {
    const { rows } = await api("sessions?limit=1");
    await open(`#/run/first/session/${rows[0].name}`, ".draw > .text");
    const fold = page.locator("details.private").first();
    assert.equal(await fold.getAttribute("open"), null);
    await fold.locator("summary").first().click();
    assert.equal(await fold.locator(".reply-part.reasoning h4").textContent(), "Reasoning");
  });
});

describe("maps and comparisons", () => {
  test("a cell tells its pair and opens its sessions", async () => {
    await open("#/run/first/maps", ".cell");
    const cell = page.locator(".cell.calibrated:not([aria-label*=': 0 of'])").first();
    await cell.focus();
    const label = await cell.getAttribute("aria-label");
    assert.equal(await page.locator(".map .said").first().textContent(), label);
    const [, a, b, n] = label.match(/^(\S+) and (\S+): (\d+) of/);
    await cell.click();
    await page.waitForSelector("a.row");
    assert.equal(await total(), Number(n));
    assert.equal(await page.inputValue("select[aria-label=Solver]"), a);
    assert.equal(await page.inputValue("select[aria-label='Other solver']"), b);
  });

  test("two runs: table, verdict, and a session of both side by side", async () => {
    await open("#/compare/first/second", "a.row.two");
    await page.waitForSelector(".verdict");
    const { table, differ } = await api("compare?first=first&second=second&limit=1");
    assert.equal(await total(), differ);
    await page.click(".square tbody tr:nth-child(1) td:nth-child(3) a");
    await page.waitForFunction(() => document.querySelector(".list-head").textContent.includes("too_easy in the second"));
    assert.equal(await total(), table[0][1]);
    await page.click("a.row.two");
    await page.waitForSelector(".columns .turn.last");
    assert.equal(await page.locator(".columns .column").count(), 2);
    await page.keyboard.press("Escape");
    await page.waitForSelector("a.row.two");
    assert.match(page.url(), /one=calibrated/);
  });
});

describe("an evaluation", () => {
  test("its problems stand in their order, are filtered, and open with every reply", async () => {
    await open("#/run/third", "a.row");
    assert.match(await page.textContent("main h1"), /nano-novice on benchmarks/);
    assert.equal(await total(), 12);
    const order = (await api("evals?run=third")).rows.map((row) => Number(row.problem.match(/\d+/g).at(-1)));
    assert.deepEqual(order, [...order].sort((a, b) => a - b));
    await page.selectOption("select[aria-label='How often right']", "never");
    const { total: never, rows } = await api("evals?run=third&solved=never");
    assert.ok(never >= 2 && never < 12 && rows.every((row) => row.right === 0));
    await page.waitForFunction((never) => document.querySelector(".pager").textContent.includes(`of ${never}`), never);
    await page.click("a.row");
    await page.waitForSelector(".sheet .draw");
    assert.equal(await page.locator(".mark.is-wrong").count(), 2);
    await page.keyboard.press("j");
    await page.waitForFunction((name) => document.querySelector(".sheet h1").textContent.includes(name), rows[1].problem);
    await page.keyboard.press("Escape");
    await page.waitForSelector("a.row");
    assert.match(page.url(), /solved=never/);
    assert.equal(await total(), never);
  });
});

describe("safety", () => {
  test("hostile texts are shown as texts, in lists and in sessions", async () => {
    for (const q of ["<script>alert", "onerror=alert", "javascript:alert", "AAAAAAAA", "gnirts", "iframe"]) {
      await open(`#/run/first?q=${encodeURIComponent(q)}`, "a.row");
      await page.click("a.row");
      await page.waitForSelector(".turn.last .text");
      await page.waitForTimeout(50);
      const seen = await page.evaluate(() => ({
        text: document.querySelector(".turn.last .text").textContent,
        made: document.querySelectorAll("main :is(script, img, svg, iframe, a[href^='javascript'], style)").length,
        pwned: globalThis.__pwned,
        wide: document.documentElement.scrollWidth - innerWidth,
      }));
      assert.ok(seen.text.includes(q), `${q} in ${seen.text.slice(0, 400)}`);
      assert.equal(seen.made, 0, q);
      assert.equal(seen.pwned, undefined);
      assert.ok(seen.wide <= 0, `${q} breaks the layout`);
    }
    await page.keyboard.press("Escape");
    await page.waitForSelector("a.row");
  });

  test("only allow-listed mathematics becomes elements", async () => {
    // In a page of its own: the browser's report of a torn piece is itself against the policy.
    const tab = await context.newPage();
    await tab.goto(at.address);
    const made = await tab.evaluate(async () => {
      const { mathml } = await import("/mathml.js");
      const good = mathml("<math><mfrac><mn>1</mn><mi onclick='x()' href='javascript:x()'>b</mi></mfrac></math>", true);
      const bad = mathml("<math><mtext><script xmlns='http://www.w3.org/1999/xhtml'>x()</script></mtext><annotation-xml/></math>", false);
      const { box } = await import("/text.js");
      const pieces = [{ kind: "text", text: "<b>so</b> " }, { kind: "math", tex: "x", mathml: "<math><mi>x</mi></math>", display: false }, { kind: "math", tex: "\\bad", mathml: "", display: false }];
      const whole = box({ text: pieces, left_out: 7 }, "label");
      return { pieces: whole[0].firstChild.innerHTML, note: whole[1].textContent, good: good.outerHTML, bad: bad.outerHTML, torn: mathml("<math><mi>", false), other: mathml("<svg/>", false) };
    });
    assert.equal(made.good, '<math display="block"><mfrac><mn>1</mn><mi>b</mi></mfrac></math>');
    assert.equal(made.bad, "<math><mtext></mtext></math>");
    assert.equal(made.pieces, '&lt;b&gt;so&lt;/b&gt; <math aria-label="x"><mi>x</mi></math><code class="tex">\\bad</code>');
    assert.equal(made.note, "7 more bytes are not shown.");
    assert.equal(made.other, null);
    assert.equal(made.torn, null);
    await tab.close();
  });

  test("another host's name is refused, and every reply has its policy", async () => {
    const ask = (host, path) => new Promise((done) => {
      const { port } = new URL(at.address);
      request({ host: "127.0.0.1", port, path, headers: { host } }, (reply) => { reply.resume(); done(reply); }).end();
    });
    const { host, port } = new URL(at.address);
    for (const [name, path, status] of [["evil.example", "/", 421], [`evil.example:${port}`, "/api/runs", 421], ["127.0.0.1", "/", 421],
      [host, "/", 200], [`localhost:${port}`, "/api/runs", 200], [host, "/none", 404], [host, "/api/sessions?limit=x", 400]]) {
      const reply = await ask(name, path);
      assert.equal(reply.statusCode, status, `${name}${path}`);
      assert.match(reply.headers["content-security-policy"], /default-src 'none'.*require-trusted-types-for 'script'/);
    }
  });
});

describe("a run that grows", () => {
  test("is followed without a reload", async () => {
    const live = join(folder(), "live");
    synthetic(live, "--sessions", "3");
    const writer = growing(live, "--sessions", "4", "--grow", "150");
    const here = await viewer(live);
    const { page: tab, account: told } = await watched(context);
    await tab.goto(here.address);
    await tab.waitForSelector("a.row");
    await tab.evaluate(() => { globalThis.__same = true; });
    const rows = await tab.locator("a.row").count();
    await tab.waitForFunction((rows) => document.querySelectorAll("a.row").length >= rows + 4, rows, { timeout: 15000 });
    await tab.waitForSelector(".following");
    assert.equal(await tab.evaluate(() => globalThis.__same), true);
    writer.kill("SIGKILL");
    await tab.waitForFunction(() => !document.querySelector(".following"), null, { timeout: 15000 });
    assert.deepEqual(await told(), []);
    await tab.close();
    here.child.kill();
  });
});

describe("looks", () => {
  const places = ["#/run/first", "#/run/first/maps", "#/compare/first/second"];
  for (const [scheme, width] of [["dark", 1280], ["light", 400], ["dark", 400]]) {
    test(`${scheme}, ${width} px: nothing scrolls sideways`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      const { rows } = await api("sessions?limit=1");
      const all = [...places, `#/run/first/session/${rows[0].name}`, `#/both/first/second/${rows[0].name}`];
      for (const place of all) {
        await open(place, "a.row, .cell, .turn");
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${place} is ${wide} px too wide`);
      }
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(paper === "rgb(21, 24, 27)", scheme === "dark");
    });
  }

  test("nothing went wrong in all of this", async () => {
    assert.deepEqual(await account(), []);
  });
});

describe("a viewer with a token", () => {
  const TOKEN = "0123456789abcdef0123456789abcdef";
  let guard, own, seen, browsers;
  before(async () => {
    guard = await guarded(TOKEN, synthetic(join(folder(), "run"), "--sessions", "20"));
    browsers = await browser();
    ({ page: own, account: seen } = await watched(browsers));
  });
  after(async () => {
    await browsers?.close();
    guard?.child.kill();
  });

  test("shows nothing to a browser without a cookie", async () => {
    for (const path of ["", "api/runs", "app.js", "api/session?name=x"]) {
      const reply = await fetch(`${guard.address}${path}`);
      assert.equal(reply.status, 401, path);
      assert.match(reply.headers.get("www-authenticate"), /^Bearer/);
    }
    assert.equal((await fetch(`${guard.address}api/runs`, { headers: { Authorization: `Bearer ${TOKEN}` } })).status, 200);
    assert.equal((await fetch(`${guard.address}api/runs`, { headers: { Authorization: `Bearer ${TOKEN}x` } })).status, 401);
  });

  test("opens with its link, which works once", async () => {
    await own.goto(guard.link);
    await own.waitForSelector("a.row");
    assert.equal(new URL(own.url()).pathname, "/");
    assert.equal(await own.evaluate(() => document.cookie), "", "scripts do not see the cookie");
    const [cookie, ...more] = await browsers.cookies();
    assert.equal(more.length, 0);
    assert.ok(cookie.httpOnly && cookie.sameSite === "Strict" && !cookie.value.includes(TOKEN));
    await own.click("a.row");
    await own.waitForSelector(".sheet .turn");
    await own.reload();
    await own.waitForSelector(".sheet .turn");
    assert.equal((await fetch(guard.link)).status, 401);
    assert.deepEqual(await seen(), []);
  });

  test("gives a cookie for its own host alone", async () => {
    // Another name is another site to the browser.
    const other = guard.address.replace("127.0.0.1", "localhost");
    await own.goto("about:blank");
    const reply = await own.goto(`${other}api/runs`);
    assert.equal(reply.status(), 401);
  });

  test("never prints a token that it was given", () => {
    assert.ok(!guard.said().includes(TOKEN));
  });
});
