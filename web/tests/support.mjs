// Starting the viewer, a growing run and a browser; all end with the tests.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const program = (name) => {
  const path = process.env[name];
  if (!path) throw new Error(`set ${name} to the path of a program; see README.md`);
  return path;
};

/** A folder that is gone after the tests. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "aske-view-"));
  process.on("exit", () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Writes a synthetic run. */
export function synthetic(path, ...options) {
  const done = spawnSync(program("SYNTHETIC"), [path, ...options], { stdio: "inherit" });
  if (done.status !== 0) throw new Error("no synthetic run");
  return path;
}

/** Puts problems of the shipped benchmark to a network that ships. */
export function evaluated(path, ...options) {
  const done = spawnSync(program("ASKE"), ["eval", ...options, "--run", path], { stdio: ["ignore", "ignore", "pipe"] });
  if (done.status !== 0) throw new Error(`no evaluation: ${done.stderr}`);
  return path;
}

/** Trains a network of the nano world for a few steps. */
export function trained(path, seeds, steps) {
  const options = ["-o", "train.groups=3", "-o", "train.group_size=3", "-o", "train.measure.samples=1", "-o", "train.measure.exam_questions=0"];
  const done = spawnSync(program("ASKE"), ["train", "--seeds", seeds, "--steps", String(steps), ...options, "--run", path], { stdio: ["ignore", "ignore", "pipe"] });
  if (done.status !== 0) throw new Error(`no training: ${done.stderr}`);
  return path;
}

function start(command, args, options = { stdio: ["ignore", "pipe", "inherit"] }) {
  const child = spawn(command, args, options);
  process.on("exit", () => child.kill("SIGKILL"));
  return child;
}

/** Keeps a run growing. */
export const growing = (path, ...options) => start(program("SYNTHETIC"), [path, ...options]);

/** Runs sessions of the nano world. */
export function benchmarked(path, ...options) {
  const done = spawnSync(program("ASKE"), ["bench", "--config", "nano", ...options, "--run", path], { stdio: ["ignore", "ignore", "pipe"] });
  if (done.status !== 0) throw new Error(`no benchmark: ${done.stderr}`);
  return path;
}

/** Starts `$ASKE view RUN… --port 0`; gives the process and its address. */
export function viewer(...runs) {
  const child = start(program("ASKE"), ["view", ...runs, "--port", "0"]);
  return new Promise((done, fail) => {
    let said = "";
    child.stdout.on("data", (data) => {
      said += data;
      const found = said.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (found) done({ child, address: found[0] });
    });
    child.on("exit", () => fail(new Error(`the viewer ended: ${said}`)));
  });
}

/** Starts a viewer that requires this token; gives the process, its address, and what it said besides. */
export function guarded(token, ...runs) {
  const options = { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ASKE_TOKEN: token } };
  const child = start(program("ASKE"), ["view", ...runs, "--port", "0"], options);
  return new Promise((done, fail) => {
    let [said, besides] = ["", ""];
    const ready = () => {
      const [address] = said.match(/http:\/\/127\.0\.0\.1:\d+\//) ?? [];
      const [link] = besides.match(/http:\/\/\S+\/login\?code=\w+/) ?? [];
      if (address && link) done({ child, address, link, said: () => said + besides });
    };
    child.stdout.on("data", (data) => { said += data; ready(); });
    child.stderr.on("data", (data) => { besides += data; ready(); });
    child.on("exit", () => fail(new Error(`the viewer ended: ${said}${besides}`)));
  });
}

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** A browser with a profile of its own. */
export async function browser() {
  const profile = folder();
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launchPersistentContext(profile, { executablePath, headless: true, args: FLAGS, viewport: { width: 1280, height: 900 } });
}

/** A page that keeps account of everything that should not happen. */
export async function watched(context, allowed = /^(http:\/\/127\.0\.0\.1|data:)/) {
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => !allowed.test(request.url()) && wrong.push(`request: ${request.url()}`));
  await page.addInitScript(() => {
    globalThis.__violations = [];
    addEventListener("securitypolicyviolation", (event) => globalThis.__violations.push(event.violatedDirective));
  });
  const account = async () => [...wrong, ...(await page.evaluate(() => globalThis.__violations))];
  return { page, account };
}
