// Sessions, trainings, evaluations and static copies in a real browser.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, test } from "node:test";
import { browser, evaluated, folder, synthetic, trained, viewer, watched } from "./support.mjs";

const ASKE = process.env.ASKE;
/** A name that attacks whoever shows it. */
const EVIL = "</script><script>globalThis.__pwned=1</script>\u2028\u202e<img src=http://evil.example/x onerror=alert(1)>";

/** An evaluation in which every text is hostile. */
function hostile(path) {
  mkdirSync(path);
  writeFileSync(join(path, "run.toml"), "schema = 1\naske = \"0.1.0\"\n[identity]\neval = \"1\"\n[config.asker]\nmodel = \"m\"\n");
  const line = (problem, sample) => JSON.stringify({ kind: "eval", schema: 1, dataset: EVIL, problem, sample, level: 4294967295, model: EVIL, question: `${EVIL} **b** [a](javascript:alert(1))\n`.repeat(100),
    reference: EVIL, answer: EVIL.repeat(50), finish: "length", boxed: false, right: sample % 2 === 0, by: EVIL, used: {} });
  writeFileSync(join(path, "records.jsonl"), ["../..", EVIL, "__proto__"].flatMap((problem) => Array.from({ length: 30 }, (_, sample) => `${line(problem, sample)}\n`)).join(""));
}
let context, at, page, account, runs;

before(async () => {
  runs = folder();
  synthetic(join(runs, "bench"), "--sessions", "120", "--hostile", "--calls");
  trained(join(runs, "train"), "0,1", 2);
  evaluated(join(runs, "eval-a"), "nano-novice", "--samples", "3", "--limit", "12");
  evaluated(join(runs, "eval-b"), "nano-1m", "--samples", "3", "--limit", "12");
  hostile(join(runs, "evil"));
  at = await viewer(runs);
  context = await browser();
  ({ page, account } = await watched(context));
});
after(async () => {
  await context?.close();
  at?.child.kill();
});

const api = async (path) => (await fetch(`${at.address}api/${path}`)).json();
const openAt = async (address, wait) => {
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForSelector(wait);
};
const open = (hash, wait) => openAt(`${at.address}${hash}`, wait);
const sessionHash = (run, name, query = "") => `#/run/${run.replaceAll("/", "~")}/session/${encodeURIComponent(name.slice(0, name.lastIndexOf("/")))}/${name.slice(name.lastIndexOf("/") + 1)}${query}`;

/** Opens the pages of the hostile evaluation and checks that its texts stay texts. */
async function checkEvil(tab, address) {
  for (const hash of ["#/run/evil", ...[EVIL, "../..", "__proto__"].map((name) => `#/run/evil/problem/${encodeURIComponent(EVIL)}/${encodeURIComponent(name)}?from=20`)]) {
    await tab.goto("about:blank");
    await tab.setViewportSize({ width: 390, height: 800 });
    await tab.goto(address(hash));
    await tab.waitForSelector("a.row, .draw");
    const seen = await tab.evaluate(() => ({
      made: document.querySelectorAll("main :is(script, img, iframe, a[href^='javascript'], style)").length,
      pwned: globalThis.__pwned,
      hidden: /[\u2028\u202e]/.test(document.querySelector("main").textContent),
      wide: document.documentElement.scrollWidth > innerWidth,
    }));
    assert.deepEqual(seen, { made: 0, pwned: undefined, hidden: false, wide: false }, hash);
  }
  await tab.setViewportSize({ width: 1280, height: 900 });
}

describe("a session", () => {
  test("begins with its outcome in a sentence, the reference and both answers", async () => {
    const { rows } = await api("sessions?run=bench&outcome=calibrated&limit=1");
    const { name, pair, right } = rows[0];
    await open(sessionHash("bench", name), ".verdict-card");
    const winner = pair[right[0] ? 0 : 1];
    assert.match(await page.textContent(".sentence"), new RegExp(`calibrated ${winner} was right and ${pair[right[0] ? 1 : 0]} was wrong`));
    const { check } = await api(`session?run=bench&name=${encodeURIComponent(name)}`);
    const agreed = typeof check[0].answer.text === "string" ? check[0].answer.text : null;
    if (agreed) assert.equal(await page.locator(".given .value").first().textContent(), agreed);
    assert.equal(await page.locator(".given.right").count(), 1);
    assert.equal(await page.locator(".given.wrong").count(), 1);
  });

  test("shows the asker's sections under headings", async () => {
    const { rows } = await api("sessions?run=train/before&limit=1");
    await open(sessionHash("train/before", rows[0].name), ".private");
    await page.locator(".private > summary").first().click();
    assert.deepEqual(await page.locator(".private").first().locator(".reply-part h4").allTextContents(), ["Reasoning", "Draft", "Question"]);
    assert.ok(!(await page.locator(".private").first().textContent()).includes("#Reasoning#"));
  });

  test("shows the messages that were sent, which have the stored hash", async () => {
    const { rows } = await api("sessions?run=train/before&limit=1");
    await open(sessionHash("train/before", rows[0].name), ".verdict-card");
    await page.locator(".draw .sent > summary").first().click();
    await page.waitForSelector(".draw .sent .message");
    assert.match(await page.locator(".draw .sent").first().textContent(), /their hash is the stored one.*temperature/s);
    await page.locator("section[aria-label=Calls] summary").first().click();
    await page.waitForSelector("table[aria-label='All calls']");
    const { calls } = await api(`requests?run=train/before&name=${encodeURIComponent(rows[0].name)}`);
    assert.ok(calls.length > 5 && calls.every((call) => call.exact === true), "every request is rebuilt exactly");
    assert.equal(await page.locator("table[aria-label='All calls'] tbody tr").count(), calls.length);
    await page.locator("section[aria-label=Calls] summary").nth(1).click();
    await page.waitForFunction(() => document.querySelector("section[aria-label=Calls]").textContent.includes('"kind": "session"'));
  });

  test("a replay hides the outcome until it is guessed", async () => {
    const { rows } = await api("sessions?run=bench&outcome=too_easy&limit=1");
    await open(sessionHash("bench", rows[0].name, "?outcome=too_easy&replay=1"), ".guess");
    assert.equal(await page.locator(".verdict-card, .flags, section[aria-label='Cross-check'], .turn.last .draw").count(), 0);
    assert.ok(!/was right|was wrong|Both were/.test(await page.textContent("main")));
    await page.click(".guess button.too_hard");
    await page.waitForSelector(".verdict-card");
    assert.match(await page.textContent(".guess"), /Not quite: .*too_easy.*You guessed .*too_hard.*0 of 1 guess right/s);
    await page.keyboard.press("j");
    await page.waitForSelector(".guess button.too_easy");
    assert.match(page.url(), /outcome=too_easy&replay=1/);
    await page.click(".guess button.too_easy");
    assert.match(await page.textContent(".guess"), /You are right.*1 of 2 guesses right/s);
  });

  test("Markdown is rendered, and nothing in it is a link or an element of its own", async () => {
    const made = await page.evaluate(async () => {
      const { markdown } = await import("/markdown.js");
      const show = (text) => {
        const box = document.createElement("div");
        box.append(...markdown([].concat(text).map((one) => (typeof one === "string" ? { kind: "text", text: one } : one))).flat(Infinity));
        return box.innerHTML;
      };
      const formula = { kind: "math", tex: "$x$", mathml: "<math><mi>x</mi></math>", display: false };
      const begun = performance.now();
      for (const evil of ["*".repeat(20000), "`".repeat(20000), "[".repeat(20000), "**a ".repeat(5000), "> ".repeat(10000), "_a_b".repeat(5000), "|".repeat(20000), "~~a".repeat(6000)]) show(evil);
      return {
        mixed: show(["# A **bold", formula, "**\n- one\n  more\n1. `two`\n\n```js\n<b>*no*</b>\n```"]),
        html: show("<script>alert(1)</script> <img src=x onerror=alert(1)>"),
        link: show("[click](javascript:alert(1)) ![x](http://evil.example/a.png) <http://evil.example>"),
        math: show("2*3*4 and a_1 + a_2"),
        table: show("| a | b |\n|---|---|\n| 1 | 2 |"),
        hidden: show("a\u200bb\u202ec\u2028d\ue000e"),
        seconds: (performance.now() - begun) / 1000,
      };
    });
    assert.equal(made.mixed, '<p class="md-heading">A <strong>bold<math aria-label="$x$"><mi>x</mi></math></strong></p>'
      + '<div class="md-list" role="list"><div class="md-item" role="listitem" style="--level: 0;"><span class="md-bullet">•</span><span>one\nmore</span></div>'
      + '<div class="md-item" role="listitem" style="--level: 0;"><span class="md-bullet">1.</span><span><code>two</code></span></div></div>'
      + '<pre class="md-code">&lt;b&gt;*no*&lt;/b&gt;</pre>');
    assert.ok(!/<(?!\/?p)/.test(made.html), made.html);
    assert.ok(!/<(a|img)/.test(made.link) && made.link.includes("http://evil.example/a.png"), made.link);
    assert.equal(made.math, "<p>2*3*4 and a_1 + a_2</p>");
    assert.match(made.table, /<th scope="col">a<\/th>.*<td>2<\/td>/);
    assert.equal(made.hidden, "<p>a⟨200B⟩b⟨202E⟩c⟨2028⟩d⟨E000⟩e</p>");
    assert.ok(made.seconds < 10, `${made.seconds} s`);
  });
});

describe("a training", () => {
  test("shows the curves of all seeds, the measurements, and questions by step", async () => {
    await open("#/run/train", "svg.chart-plot");
    const { seeds } = await api("training?run=train");
    assert.deepEqual(seeds.map((seed) => [seed.seed, seed.step]), [[0, 2], [1, 2]]);
    const titles = await page.locator("figcaption").allTextContents();
    for (const title of ["reward", "calibration reward", "bad_cross_check", "agrees with the oracle", "mean importance ratio", "token entropy", "sampled tokens", "step, s"]) {
      assert.ok(titles.includes(title), title);
    }
    assert.equal(await page.locator(".chart").first().locator(".plot-line").count(), 2);
    const last = seeds[0].columns.reward.at(-1);
    assert.ok((await page.locator(".plot-readout").first().textContent()).includes(`seed 0 ${Number(last.toPrecision(3))}`));
    assert.deepEqual(await page.locator("table[aria-label='Before and after training'] tbody th").allTextContents(), ["before", "seed 0", "seed 1", "pooled"]);
    await page.waitForSelector("table.samples tbody tr");
    const { groups } = await api("rollouts?run=train/seed-0&step=2");
    await page.waitForSelector("a.row.rollout");
    assert.equal(await page.locator("a.row.rollout").count(), groups.flatMap((group) => group.sessions).length);
    await page.locator(".stepper a", { hasText: "‹" }).click();
    await page.waitForFunction(() => document.querySelector(".stepper").textContent.includes("step 1 of 2"));
    assert.match(page.url(), /seed=0&step=1/);
    const first = (await api("rollouts?run=train/seed-0&step=1")).groups[0].sessions[0];
    await page.waitForFunction((name) => document.querySelector("a.row.rollout")?.dataset.name === name, first.name);
    await page.click("a.row.rollout");
    await page.waitForSelector(".verdict-card");
  });

  test("damaged metrics are named, and the rest is shown", async () => {
    const file = join(runs, "train", "seed-1", "metrics.jsonl");
    const sound = readFileSync(file);
    appendFileSync(file, "{\"step\":3,\"reward\":<script>}\n");
    await open("#/run/train", "svg.chart-plot");
    assert.match(await page.textContent(".seeds"), /line 3 of 3 in .*metrics\.jsonl cannot be read/);
    writeFileSync(file, sound);
  });
});

describe("an evaluation", () => {
  test("shows pass@k and avg@k with intervals by dataset and level", async () => {
    await open("#/run/eval-a", "table[aria-label=Scores]");
    const { datasets: [ladder] } = await api("scores?run=eval-a");
    const percent = (value) => `${(100 * value).toFixed(1)}%`;
    const row = await page.locator("table[aria-label=Scores] tbody tr").first().locator("td").allTextContents();
    assert.equal(row[2], percent(ladder.average.value));
    assert.equal(row[8], percent(ladder.pass[2].value), "pass@3");
    assert.match(row[3], /to/);
    assert.equal(await page.locator("tr.level").count(), Object.keys(ladder.levels).length);
    assert.ok(await page.locator(".chart .plot-line").count() >= 1);
  });

  test("every sample of a problem has its message", async () => {
    await page.click("a.row");
    await page.waitForSelector(".sheet .draw");
    assert.equal(await page.locator(".draw").count(), 3);
    await page.locator(".draw .sent > summary").first().click();
    await page.waitForSelector(".draw .sent .text");
    assert.match(await page.locator(".draw .sent").first().textContent(), /its hash is the stored one/);
  });

  test("two are compared problem by problem", async () => {
    await open("#/compare/eval-a/eval-b", ".row.compared");
    const { comparison, rows } = await api("eval-compare?first=eval-a&second=eval-b");
    assert.equal(await page.locator("table[aria-label='Both evaluations'] tbody tr").count(), comparison.lines.length);
    assert.equal(await page.locator(".row.compared").count(), rows.length);
    const { total } = await api("eval-compare?first=eval-a&second=eval-b&change=up");
    await page.selectOption("select[aria-label=Change]", "up");
    await page.waitForFunction((total) => document.querySelectorAll(".row.compared").length === total, total);
  });

  test("hostile names of datasets, problems and models are texts on one line", async () => {
    await checkEvil(page, (hash) => `${at.address}${hash}`);
  });

  test("nothing went wrong on any page", async () => {
    assert.deepEqual(await account(), []);
  });
});

describe("a static copy", () => {
  let copy, tab, told;
  before(async () => {
    copy = join(folder(), "copy");
    const made = spawnSync(ASKE, ["view", runs, "--bundle", copy], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    ({ page: tab, account: told } = await watched(context, /^(file:\/\/|data:)/));
  });

  const at = async (hash, wait) => {
    await tab.goto("about:blank");
    await tab.goto(`${pathToFileURL(join(copy, "index.html"))}${hash}`);
    await tab.waitForSelector(wait);
  };

  test("an existing folder is refused, with a hint", () => {
    const again = spawnSync(ASKE, ["view", runs, "--bundle", copy], { encoding: "utf8" });
    assert.equal(again.status, 2);
    assert.match(again.stderr, /is not empty.*hint:/s);
  });

  test("is plain ASCII in its data, with nothing that ends a script", () => {
    const files = readdirSync(join(copy, "data")).filter((name) => name.endsWith(".js"));
    assert.ok(files.length > 300);
    for (const name of files) {
      const text = readFileSync(join(copy, "data", name), "latin1");
      assert.match(text, /^askeChunk\("[ -~]*", "[ -~]*", (true|false)\);\n$/);
      assert.ok(!/[<>]/.test(text), name);
    }
  });

  test("opens from file:// with all of its pages", async () => {
    await at("", "a[href^='#/run/']");
    await at("#/run/bench", "a.row");
    const first = await tab.locator("a.row").first().getAttribute("data-name");
    await tab.click("a.row");
    await tab.waitForSelector(".verdict-card");
    await tab.locator("section[aria-label=Calls] summary").first().click();
    await tab.waitForSelector("table[aria-label='All calls']");
    await tab.keyboard.press("j");
    await tab.waitForFunction(() => document.querySelector(".way")?.textContent.includes("2 of "));
    await tab.keyboard.press("Escape");
    await tab.waitForSelector(`a.row[data-name="${first}"]`);
    await at("#/run/train", "a.row.rollout");
    assert.ok(await tab.locator(".plot-line").count() > 20);
    await tab.waitForSelector("table.samples tbody tr");
    await at("#/run/eval-a", "table[aria-label=Scores]");
    await tab.click("a.row");
    await tab.waitForSelector(".draw");
    await at("#/compare/eval-a/eval-b", ".row.compared");
    await at(sessionHash("bench", first, "?replay=1"), ".guess");
  });

  test("filters like the server, as far as it says", async () => {
    assert.match(await tab.textContent(".copy-note"), /static copy.*300 characters/s);
    for (const query of ["outcome=too_easy", "flag=truncated", "sort=pair", "sort=sample", "sort=flags&desc=true", "sort=latest&outcome=calibrated", "q=GEMMA-3-12b", "a=qwen3-4b&flag=leaked"]) {
      await at(`#/run/bench?${query}`, "a.row");
      const shown = await tab.locator("a.row").evaluateAll((rows) => rows.map((row) => row.dataset.name));
      const { rows } = await api(`sessions?run=bench&limit=100&${query}`);
      assert.deepEqual(shown, rows.map((row) => row.name), query);
    }
  });

  test("hostile texts are texts, and nothing is requested elsewhere", async () => {
    for (const q of ["<script>alert", "onerror=alert", "javascript:alert", "AAAAAAAA", "gnirts", "iframe"]) {
      await at(`#/run/bench?q=${encodeURIComponent(q)}`, "a.row");
      await tab.click("a.row");
      await tab.waitForSelector(".verdict-card .text");
      const seen = await tab.evaluate(() => ({
        made: document.querySelectorAll("main :is(script, img, iframe, a[href^='javascript'], style)").length,
        pwned: globalThis.__pwned,
        wide: document.documentElement.scrollWidth - innerWidth,
      }));
      assert.deepEqual([seen.made, seen.pwned, seen.wide <= 0], [0, undefined, true], q);
    }
    await checkEvil(tab, (hash) => `${pathToFileURL(join(copy, "index.html"))}${hash}`);
    // The policy holds under file://, too.
    const blocked = await tab.evaluate(async () => {
      const before = globalThis.__violations.length;
      let thrown = 0;
      try { document.body.innerHTML = "<img src=http://127.0.0.1:9/x>"; } catch { thrown += 1; }
      try { document.createElement("script").src = "https://evil.example/x.js"; } catch { thrown += 1; }
      await fetch("http://127.0.0.1:9/").catch(() => { thrown += 1; });
      await new Promise((done) => setTimeout(done, 50));
      const seen = globalThis.__violations.splice(before).length;
      return { thrown, seen };
    });
    assert.equal(blocked.thrown, 3);
    assert.ok(blocked.seen >= 3);
  });

  test("nothing went wrong under file://", async () => {
    assert.deepEqual((await told()).filter((line) => !/^console: .*(Content Security Policy|TrustedHTML|TrustedScriptURL|violates)/.test(line)), []);
    await tab.close();
  });

  test("opens from any web host, below any path", async () => {
    const types = { html: "text/html", js: "text/javascript", css: "text/css", txt: "text/plain" };
    const host = createServer((request, response) => {
      const path = new URL(request.url, "http://x").pathname.replace("/some/where/", "");
      try {
        response.setHeader("content-type", types[path.split(".").at(-1)] ?? "application/octet-stream");
        response.end(readFileSync(join(copy, path)));
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise((done) => host.listen(0, "127.0.0.1", done));
    const { page: web, account: said } = await watched(context);
    await web.goto(`http://127.0.0.1:${host.address().port}/some/where/index.html#/run/bench`);
    await web.waitForSelector("a.row");
    await web.click("a.row");
    await web.waitForSelector(".verdict-card");
    assert.deepEqual(await said(), []);
    await web.close();
    host.close();
  });

  test("a folder without runs leaves nothing behind", () => {
    const empty = folder();
    mkdirSync(join(empty, "none"));
    const failed = spawnSync(ASKE, ["view", join(empty, "none"), "--bundle", join(empty, "site")], { encoding: "utf8" });
    assert.notEqual(failed.status, 0);
    assert.deepEqual(readdirSync(empty), ["none"]);
  });
});
