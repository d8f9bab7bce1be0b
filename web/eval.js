// An evaluation: the list of problems, and one problem with every reply.

import { request } from "./api.js";
import { h, fill, select } from "./dom.js";
import { PAGE, pagedList } from "./paged-list.js";
import { filterOf, go, homeLink, runLink } from "./route.js";
import { neighbourLinks } from "./session.js";
import { answerText, box, prose } from "./text.js";
import { draw } from "./turn.js";

const SOLVED = [["", "all problems"], ["always", "always right"], ["sometimes", "sometimes right"], ["never", "never right"]];
const FILTERS = ["q", "solved"];
const level = (one) => (one.level === null ? "" : ` level ${one.level}`);

function row(one, href) {
  return h("a", { class: "row", href, data: { name: `${one.dataset}/${one.problem}` } },
    h("span", { class: "badge" }, `${one.right} of ${one.samples}`),
    h("span", { class: "pair" }, h("span", { class: "name" }, one.dataset), ` ${one.problem}`, h("span", { class: "quiet" }, level(one))),
    h("span", { class: "question", dir: "auto" }, prose(one.question)));
}

/** The view of `#/run/RUN?…` for an evaluation. */
export async function problems(context, route) {
  const run = () => context.run;
  const { id } = run();
  let query = route.query;
  const found = pagedList("Problems");
  const search = h("input", { type: "search", placeholder: "Search problems", "aria-label": "Search problems",
    on: { input: () => find() } });
  const solved = select("How often right", SOLVED, query.get("solved") ?? "", () => find());
  const find = () => go(runLink(id, [], { q: search.value, solved: solved.value }), true);
  const score = h("p", { class: "quiet" });
  const read = async () => {
    const offset = Number(query.get("offset")) || 0;
    const filter = filterOf(query, FILTERS);
    const page = await request("evals", { run: id, ...filter, offset, limit: PAGE });
    if (document.activeElement !== search) search.value = filter.q ?? "";
    solved.value = filter.solved ?? "";
    const { samples, right } = run().evals;
    fill(score, `${right} of ${samples} samples are right`);
    found.draw(page, (one) => row(one, runLink(id, ["problem", one.dataset, one.problem], filter)),
      (next) => { go(runLink(id, [], { ...filter, offset: next || "" })); scrollTo(0, 0); });
  };
  await read();
  return {
    title: run().name,
    node: [h("h1", {}, h("span", { class: "name" }, run().asker || run().name), " on benchmarks"), score, h("p", {}, search, " ", solved), found.node],
    navigate: async (next) => { query = next.query; await read(); },
    update: read,
    keys: { ...found.keys, search: () => { search.focus(); search.select(); }, back: () => go(homeLink()) },
  };
}

/** The view of `#/run/RUN/problem/DATASET/PROBLEM`. */
export async function problem(context, route) {
  const { id } = context.run;
  const [dataset = "", name = ""] = route.parts;
  const filter = filterOf(route.query, FILTERS);
  const one = await request("eval", { run: id, dataset, problem: name, ...filter });
  const to = (other) => (other ? runLink(id, ["problem", ...other], filter) : null);
  const back = runLink(id, [], filter);
  const neighbours = neighbourLinks("Problems", back, to(one.before), to(one.after));
  const right = one.samples.filter((sample) => sample.right).length;
  const node = h("div", { class: "sheet" },
    neighbours.node,
    h("header", { class: "sheet-head" },
      h("h1", {}, h("span", { class: "name" }, one.dataset), ` ${one.problem}`, h("span", { class: "quiet" }, level(one))),
      h("p", {}, `${right} of ${one.samples.length} samples are right`)),
    h("section", { class: "turn last", "aria-label": "Problem" }, box(one.question, "Problem", "question-text"),
      h("p", { class: "answer", dir: "auto" }, h("span", { class: "quiet" }, "Reference answer "), h("span", { class: "value" }, answerText(one.reference)))),
    h("section", { class: "turn", "aria-label": "Samples" }, h("h2", {}, "Samples"),
      h("div", { class: "side-by-side" }, one.samples.map((sample) => draw(sample, `Sample ${sample.number + 1}`,
        { right: sample.right, note: `${sample.by === "none" ? "not compared" : `decided by ${sample.by}`}${sample.boxed ? "" : ", no box"}` })))));
  return { title: `${one.dataset} ${one.problem}`, node, keys: neighbours.keys };
}
