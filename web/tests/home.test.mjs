// The page of all runs, the panels of a run, and links, in a real browser.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { benchmarked, browser, evaluated, folder, synthetic, viewer, watched } from "./support.mjs";

const ODD = ["<img src=x onerror=alert(1)>", "a~b", "x%2Fy", "#?&=+ é", "x/../..".replaceAll("/", "\u2215"), "‮gnirts"];
let runs, context, at, page, account;

before(async () => {
  runs = join(folder(), "runs");
  mkdirSync(runs);
  synthetic(join(runs, "first"), "--sessions", "380", "--asker", "one");
  synthetic(join(runs, "second"), "--sessions", "190", "--asker", "two", "--seed", "5");
  synthetic(join(runs, "deep/er/first"), "--sessions", "20", "--asker", "three");
  evaluated(join(runs, "exam"), "nano-novice", "--samples", "2", "--limit", "6");
  benchmarked(join(runs, "nano"), "--pairs", "nano-15k:nano-1m", "--samples", "1");
  for (const name of ODD) cpSync(join(runs, "deep/er/first"), join(runs, "odd", name), { recursive: true });
  mkdirSync(join(runs, "lost"));
  writeFileSync(join(runs, "lost/records.jsonl"), "{}\n");
  cpSync(join(runs, "deep/er/first"), join(runs, "torn"), { recursive: true });
  writeFileSync(join(runs, "torn/records.jsonl"), "nothing\n");
  symlinkSync(runs, join(runs, "deep/loop"));
  at = await viewer(runs);
  context = await browser();
  ({ page, account } = await watched(context));
});
after(async () => {
  await context?.close();
  at?.child.kill();
});

const open = async (hash, wait, tab = page, address = at.address) => {
  await tab.goto("about:blank");
  await tab.goto(`${address}${hash}`);
  await tab.waitForSelector(wait);
};
const api = async (path, address = at.address) => (await fetch(`${address}api/${path}`)).json();
const names = (tab = page) => tab.locator("a.row-link").allTextContents();
const ready = (tab = page) => tab.waitForFunction(() => document.querySelector(".runs tbody tr") && !document.querySelector(".unread") && !document.querySelector("main [role=status]").textContent.includes("reading"));

describe("home", () => {
  test("lists every run with its numbers, and a broken folder with its reason", async () => {
    await open("", "table.runs");
    await ready();
    assert.match(page.url(), /#\/$/);
    const { rows, total } = await api("home");
    assert.equal(total, 7 + ODD.length);
    assert.deepEqual(new Set(rows.map((row) => row.id)), new Set(["first", "second", "deep/er/first", "exam", "lost", "nano", "torn", ...ODD.map((name) => `odd/${name}`)]));
    assert.equal(await page.locator(".runs tbody tr").count(), rows.length);
    const row = page.locator("tr", { has: page.locator("a", { hasText: /^first$/ }) });
    const { rate, sessions, usd, findings } = rows.find((one) => one.id === "first");
    const { outcomes: [calibrated] } = (await api("evidence?run=first")).runs[0];
    assert.equal(rate.value, calibrated.rate);
    assert.deepEqual(rate.interval, calibrated.over_pairs);
    const text = (await row.textContent()).replace(/\s+/g, " ");
    for (const part of ["one", "20 solvers", String(sessions), `${(100 * rate.value).toFixed(1)}%`, `$${usd.toFixed(2)}`, "now", "sessions"]) assert.ok(text.includes(part) || part === "now", `${part} in ${text}`);
    assert.ok(findings.length > 0 && (await row.locator(".warning").count()) > 0);
    assert.match(await row.locator(".bar.small").getAttribute("aria-label"), /^calibrated \d+, too_easy/);
    assert.match(await page.locator("tr.broken", { hasText: "lost" }).textContent(), /no run\.toml/);
    assert.match(await page.locator("tr.broken", { hasText: "torn" }).textContent(), /records\.jsonl:1: /);
    assert.match(await page.locator("tr", { hasText: "exam" }).textContent(), /evaluation.*12 samples/s);
  });

  test("is sorted, filtered and searched, and the address says so", async () => {
    await open("", "table.runs");
    await page.click("thead a:text-is('Done')");
    await page.waitForURL(/sort=sessions/);
    await page.waitForSelector("th[aria-sort=descending] a:has-text('Done')");
    const { rows } = await api("home?sort=sessions");
    assert.deepEqual(await names().then((all) => all.slice(0, 3)), rows.slice(0, 3).map((row) => row.id));
    assert.equal(rows[0].id, "first");
    await page.click("th[aria-sort=descending] a");
    await page.waitForSelector("th[aria-sort=ascending]");
    await page.keyboard.press("/");
    await page.keyboard.type("TWO", { delay: 10 });
    await page.waitForFunction(() => document.querySelectorAll("a.row-link").length === 1);
    assert.deepEqual(await names(), ["second"]);
    assert.match(page.url(), /q=TWO/);
    await page.reload();
    await page.waitForSelector("a.row-link");
    assert.deepEqual(await names(), ["second"]);
    assert.equal(await page.inputValue("input[type=search]"), "TWO");
    await open("#/?kind=evaluation", "a.row-link");
    assert.deepEqual(await names(), ["exam"]);
  });

  test("two runs are selected with the keyboard and compared", async () => {
    await open("#/?sort=asker", "a.row-link");
    const ids = (await names()).map((name, index) => [name, index]).filter(([name]) => ["first", "second"].includes(name));
    for (const [name] of ids) {
      await page.locator("a.row-link", { hasText: new RegExp(`^${name}$`) }).focus();
      await page.keyboard.press("x");
      await page.waitForFunction((name) => new URLSearchParams(location.hash.split("?")[1]).getAll("select").includes(name), name);
      assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
    }
    await page.click(".selection a.primary");
    await page.waitForSelector(".verdict");
    assert.match(page.url(), /#\/compare\/(first\/second|second\/first)$/);
    await open("#/compare/first/second/deep~er~first", ".verdict");
    assert.equal(await page.locator("section[aria-label='All runs'] tbody tr").count(), 3);
    await page.locator("section[aria-label='All runs'] tbody a").nth(1).click();
    await page.waitForURL(/pair=0-2/);
    await page.waitForFunction(() => document.querySelector(".rates").textContent.includes("deep/er/first"));
    await open("#/compare/first/exam", "main .trouble");
    assert.match(await page.textContent("main"), /exam is no run of sessions/);
  });

  test("j, k, Enter and Esc move between home and runs", async () => {
    await open("#/?sort=name&q=first", "a.row-link");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const name = await page.evaluate(() => document.activeElement.dataset.name);
    assert.equal(name, (await names())[1]);
    await page.keyboard.press("Enter");
    await page.waitForSelector("a.row");
    await page.keyboard.press("Escape");
    await page.waitForSelector("table.runs");
  });
});

describe("links", () => {
  test("name the run, and survive new folders, a restart and another folder to start from", async () => {
    const { rows } = await api("sessions?run=second&limit=3");
    const link = `#/run/second/session/${rows[2].name}`;
    const heading = async (tab, address) => {
      await open(link, ".sheet h1", tab, address);
      return [await tab.textContent(".sheet h1"), await tab.locator(".text.question-text").last().textContent()];
    };
    const before = await heading(page, at.address);
    const other = await context.newPage();
    await open("#/?sort=name", "a.row-link", other);
    // Folders that come before it in the alphabet, and one of the same name.
    cpSync(join(runs, "first"), join(runs, "aaa"), { recursive: true });
    cpSync(join(runs, "first"), join(runs, "elsewhere/second"), { recursive: true });
    await other.waitForFunction(() => [...document.querySelectorAll("a.row-link")].some((one) => one.textContent === "elsewhere/second"), null, { timeout: 15000 });
    assert.ok((await names(other)).includes("aaa"), "new runs appear without a reload");
    assert.deepEqual(await heading(page, at.address), before);
    const again = await viewer(runs);
    assert.deepEqual(await heading(page, again.address), before);
    // A page that follows a viewer would miss it.
    await page.goto("about:blank");
    again.child.kill();
    const alone = await viewer(join(runs, "second"));
    assert.deepEqual(await heading(page, alone.address), before);
    await page.goto("about:blank");
    await page.goto(alone.address);
    await page.waitForSelector("a.row");
    assert.match(page.url(), /#\/run\/second$/, "a single run is opened");
    await page.goto("about:blank");
    alone.child.kill();
    for (const gone of ["aaa", "elsewhere"]) rmSync(join(runs, gone), { recursive: true });
    await other.waitForFunction(() => ![...document.querySelectorAll("a.row-link")].some((one) => one.textContent === "aaa"), null, { timeout: 15000 });
    await other.close();
  });

  test("of odd names open the run of that name, and none leaves the folder", async () => {
    for (const name of ODD) {
      await open("#/?sort=name", "a.row-link");
      const row = page.locator(`a.row-link[data-name="${`odd/${name}`.replace(/["\\]/g, "\\$&")}"]`);
      await row.click();
      await page.waitForSelector("a.row");
      const [{ id }, { id: again }] = [await api(`run?run=${encodeURIComponent(`odd/${name}`)}`), await page.evaluate(async () => {
        const { currentRoute } = await import("/route.js");
        return { id: currentRoute().run };
      })];
      assert.deepEqual([id, again], [`odd/${name}`, `odd/${name}`]);
      await page.click("a.row");
      await page.waitForSelector(".sheet h1");
    }
    for (const bad of ["..", "~..~..~etc", "..%2F..%2Fetc", "%2Fetc%2Fpasswd", "0", "7", "%00"]) {
      await open(`#/run/${bad}`, "main .trouble");
      assert.match(await page.textContent("main .trouble"), /there is no run/);
      // Chromium reports each refused request.
    }
  });

  test("to a folder that vanishes say so, and it comes back by itself", async () => {
    synthetic(join(runs, "brief"), "--sessions", "5");
    const tab = await context.newPage();
    await open("#/", "a.row-link", tab);
    await tab.waitForSelector("a.row-link[data-name=brief]", { timeout: 15000 });
    await tab.click("a.row-link[data-name=brief]");
    await tab.waitForSelector("a.row");
    renameSync(join(runs, "brief"), join(folder(), "brief"));
    await tab.waitForFunction(() => document.querySelector("#live").textContent.includes("there is no run"), null, { timeout: 15000 });
    synthetic(join(runs, "brief"), "--sessions", "6");
    await tab.waitForFunction(() => document.querySelectorAll("a.row").length === 6, null, { timeout: 20000 });
    rmSync(join(runs, "brief"), { recursive: true });
    await tab.close();
  });
});

describe("a run", () => {
  test("its sessions are sorted by any column, on the server", async () => {
    for (const [label, sort] of [["Outcome", "outcome"], ["Pair", "pair"], ["sample", "sample"], ["Question, by length", "question"], ["Flags", "flags"]]) {
      await open("#/run/first", "a.row");
      await page.click(`.order a:text-is('${label}')`);
      await page.waitForSelector(`.order a[aria-current]:has-text('${label}')`);
      assert.match(page.url(), new RegExp(`sort=${sort}`));
      const shown = () => page.locator("a.row").evaluateAll((all) => all.slice(0, 5).map((one) => one.dataset.name));
      const expected = async (desc) => (await api(`sessions?run=first&limit=5&sort=${sort}${desc ? "&desc=true" : ""}`)).rows.map((row) => row.name);
      assert.deepEqual(await shown(), await expected(false));
      await page.click(`.order a[aria-current]`);
      await page.waitForURL(/desc=true/);
      await page.waitForFunction((name) => document.querySelector("a.row").dataset.name === name, (await expected(true))[0]);
      assert.deepEqual(await shown(), await expected(true));
    }
  });

  test("its maps have the report's orientation and a legend", async () => {
    await open("#/run/first/maps", ".map .cell");
    assert.equal(await page.locator(".map").count(), 5);
    const { solvers, cells } = (await api("evidence?run=first")).runs[0];
    const map = page.locator(".map").first();
    const rows = await map.locator("tbody th .name").allTextContents();
    const columns = await map.locator("tfoot th").allTextContents();
    const sizes = solvers.map((solver) => solver.name);
    // Upward and leftward are larger: the last row is the smallest solver, the first column the largest.
    assert.deepEqual(rows, sizes.slice(0, -1).reverse());
    assert.deepEqual(columns, sizes.slice(1).reverse());
    const cell = cells.find((one) => one.pair[0] === 0 && one.pair[1] === sizes.length - 1);
    const corner = map.locator("tbody tr").last().locator(".cell").first();
    assert.equal(await corner.textContent(), String(Math.round((100 * cell.outcomes[0]) / cell.sessions)));
    assert.deepEqual(await map.locator(".legend li").allTextContents(), ["0%", "50%", "100%"]);
  });

  test("its checks lead to the sessions behind each number", async () => {
    const { checks } = await api("evidence?run=first");
    const links = { "Cross-check disagrees": "outcome=bad_cross_check", "Asked before": "flag=duplicate", "Questions cut": "flag=cut" };
    for (const [check, filter] of Object.entries(links)) {
      const { hits } = checks.find((one) => one.check === check);
      await open("#/run/first/validity", ".numbers.checks");
      const row = page.locator(".numbers.checks tbody tr", { hasText: check });
      if (hits === 0) continue;
      await row.locator("td a").first().click();
      await page.waitForURL(new RegExp(filter));
      await page.waitForSelector("a.row");
      if (check === "Cross-check disagrees") assert.match(await page.textContent(".pager .quiet"), new RegExp(`of ${hits}$`));
    }
    await open("#/run/first/validity", ".example");
    const name = await page.locator(".example").first().textContent();
    await page.locator(".example").first().click();
    await page.waitForSelector(".sheet h1");
    assert.ok(decodeURIComponent(page.url()).endsWith(`session/${name}`));
  });

  test("its analyses, configuration, prompts and calls are shown", async () => {
    await open("#/run/first/analysis", ".ranges");
    const { abilities } = (await api("evidence?run=first")).ability;
    assert.equal(await page.locator("[aria-label='Ability of the solvers'] .range").count(), abilities.ability.filter(Boolean).length);
    await open("#/run/exam/config?q=temperature", ".numbers.config");
    const { values } = await api("configuration?run=exam");
    const matching = values.filter(({ key, value }) => `${key} ${value}`.includes("temperature"));
    assert.ok(matching.length > 0 && matching.length < values.length);
    assert.equal(await page.locator("[aria-label=Configuration] .numbers.config tbody tr").count(), matching.length);
    const { values: all } = await api("configuration?run=nano");
    assert.equal(all.find(({ key }) => key === "run.samples").origin, "--samples");
    assert.equal(all.find(({ key }) => key === "protocol.rounds").origin, null);
    await open("#/run/nano/config?set=true", "details[id^=prompt]");
    assert.equal(await page.locator("[aria-label=Configuration] .numbers.config tbody tr").count(), all.filter(({ origin }) => origin).length);
    await page.locator("details[id^=prompt] summary").first().click();
    assert.ok((await page.locator("details[open] .text").first().textContent()).length > 20);
    await open("#/run/exam/calls", ".numbers.calls");
    const { models, spans } = await api("calls?run=exam");
    assert.deepEqual(models.map(({ role, model, calls }) => [role, model, calls]), [["panel", "nano-novice", 12]]);
    assert.equal(spans.reduce((sum, span) => sum + span.calls, 0), 12);
    assert.equal(await page.locator(".timeline path").count(), spans.length);
  });
});

describe("looks", () => {
  const places = ["#/", "#/run/first", "#/run/first/maps", "#/run/first/analysis", "#/run/first/validity", "#/run/first/config", "#/run/exam/calls", "#/compare/first/second/deep~er~first"];
  for (const [scheme, width] of [["light", 1280], ["dark", 390]]) {
    test(`${scheme}, ${width} px: nothing scrolls sideways, and everything has a name`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      for (const place of places) {
        await open(place, "a.row-link, a.row, .map, .panel, .numbers");
        const seen = await page.evaluate(() => ({
          wide: document.documentElement.scrollWidth - innerWidth,
          unnamed: [...document.querySelectorAll("main :is(a, button, input, select, table, section, nav)")].filter((one) =>
            !(one.getAttribute("aria-label") || one.textContent.trim() || one.closest("label"))).map((one) => one.outerHTML.slice(0, 80)),
          headings: document.querySelectorAll("main h1").length,
        }));
        assert.ok(seen.wide <= 0, `${place} is ${seen.wide} px too wide`);
        assert.deepEqual(seen.unnamed, [], place);
        assert.equal(seen.headings, 1, place);
      }
    });
  }

  test("nothing went wrong in all of this", async () => {
    // Chromium writes a line for each response with an error status, which the test of odd links asks for.
    assert.deepEqual((await account()).filter((line) => !line.includes("status of 404")), []);
  });
});
