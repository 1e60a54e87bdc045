// Answers that a person scores, one at a time and by keyboard. The score of the judge comes and is
// shown after the person's own.

import { attempt } from "./action.js";
import { call } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { answerTo, back, labelled, say, scores, short } from "./evaluation_parts.js";
import { number, t } from "./language.js";
import { rename } from "./router.js";
import { to } from "./routes_evaluations.js";
import { sourceName } from "./sources.js";

/** @typedef {"score" | "context"} Part a part of a review */
/** @typedef {{score?: number, context?: number, comment?: string}} Review */
/** @typedef {{item: any, review: Review, saved: boolean}} Entry an answer with what the person says of it */

const atATime = 20; // answers that are read at once

const samplings = /** @type {const} */ (["random", "low_score", "disagreement"]);

/** The keys, with their words. */
const keys = /** @type {const} */ ([["0 1 2", "review.key.score"], ["x", "review.key.part"], ["c", "review.key.comment"], ["n →", "review.key.next"], ["p ←", "review.key.previous"]]);

/** @param {string} id @param {URLSearchParams} query */
export async function openReview(id, query) {
  const path = { evaluation: id };
  const one = await call(to["get-evaluation"], { path, query: { limit: 1, blind: true } });
  /** @type {Entry[]} */
  let entries = [];
  let at = 0;
  let left = 0;
  /** @type {Part} */
  let part = "score";
  const calibrates = query.has("calibration");
  const above = `/evaluations/${encodeURIComponent(id)}`;
  const passages = h("details");
  const sampling = h("select", { "aria-label": say("review.sampling"), onchange: () => void begin() }, ...samplings.map((name) => h("option", { value: name, selected: query.get("sampling") === name }, say(`review.${name}`))));
  const status = h("p", { role: "status", class: "quiet" });
  const comment = h("textarea", { rows: 2, maxlength: 4000, onchange: () => void keep(), onkeydown: (/** @type {KeyboardEvent} */ e) => {
    if (e.key !== "Escape") return;
    void keep();
    place.focus();
  } });
  const [content, groups, judge] = [h("div"), h("div", { class: "row scores" }), h("div")];
  const place = h("div", { class: "review", tabindex: -1 }, content, groups, labelled(say("review.comment"), comment), judge);

  /** Reads further answers. */
  const read = async () => {
    const found = await call(to["get-evaluation"], { path, query: { sampling: sampling.value, limit: atATime, blind: true } });
    left = found.to_review;
    const known = new Set(entries.map(({ item }) => item.number));
    entries.push(...found.items.filter((/** @type {any} */ item) => !known.has(item.number)).map((/** @type {any} */ item) => ({ item, review: {}, saved: false })));
  };
  const begin = async () => {
    entries = [];
    at = 0;
    rename(`${above}/review?sampling=${sampling.value}${calibrates ? "&calibration" : ""}`);
    await attempt(read);
    draw();
    place.focus();
  };
  /** Stores what was said of the answer that is shown. @param {Review} more */
  const save = async (more) => {
    const entry = entries[at];
    if (!entry) return;
    const review = { ...entry.review, ...more };
    let { item } = entry;
    const done = await attempt(async () => (item = await call(to["review-evaluation-item"], { path: { ...path, item: item.id }, query: { repeat: item.repeat, cell: item.cell }, body: { ...review, comment: review.comment || undefined } })));
    if (!done) return;
    if (!entry.saved) left--;
    Object.assign(entry, { item, review, saved: true });
    update();
  };
  /** Stores the comment, if it is another one. */
  const keep = async () => {
    const entry = entries[at];
    if (!entry || comment.value === (entry.review.comment ?? "")) return;
    entry.review.comment = comment.value;
    await save({});
    announce(say("review.kept"));
  };
  /** Scores the part that is chosen, and chooses the next one. @param {number} value */
  const score = async (value) => {
    const scored = part;
    if (!entries[at]) return;
    part = "context";
    update();
    announce(`${say(`eval.${scored}`)} ${short(value)}`);
    await save({ [scored]: value });
  };
  const move = async (/** @type {1 | -1} */ step) => {
    void keep();
    if (at + step < 0 || at >= entries.length + (step < 0 ? 1 : 0)) return;
    at += step;
    part = "score";
    if (at >= entries.length) await attempt(read);
    draw();
    place.focus();
  };
  const choose = (/** @type {Part} */ chosen) => {
    part = chosen;
    update();
  };
  const group = (/** @type {Part} */ name, /** @type {Entry} */ entry) => h("fieldset", { class: part === name && "chosen" }, h("legend", {}, say(`review.${name}`)), h("div", { class: "row" },
    ...scores.map((value, i) => h("button", { type: "button", "aria-pressed": String(entry.review[name] === value), onclick: () => {
      part = name;
      void score(value);
    } }, h("kbd", {}, i), " ", say(`review.grade.${/** @type {0} */ (i)}`)))));
  /** Shows what was said of the answer. The comment, in which somebody may be writing, stays. */
  const update = () => {
    const entry = entries[at];
    fill(status, entry ? say("review.place", { n: number(at + 1), left: number(left) }) : say(entries.length ? "review.done" : "review.none"));
    if (!entry) return;
    fill(groups, group("score", entry), group("context", entry));
    fill(judge, judgeOf(entry));
    if (document.activeElement === document.body) place.focus();
  };
  const draw = () => {
    const entry = entries[at];
    place.hidden = !entry;
    if (entry) {
      comment.value = entry.review.comment ?? "";
      fill(content, ...shownOf(entry, passages));
    }
    update();
  };
  const onKey = (/** @type {KeyboardEvent} */ e) => {
    const target = /** @type {HTMLElement} */ (e.target);
    if (e.ctrlKey || e.metaKey || e.altKey || target.closest("input, textarea, select, dialog")) return;
    const acts = /** @type {Record<string, () => void>} */ ({
      0: () => void score(scores[0]), 1: () => void score(scores[1]), 2: () => void score(scores[2]), x: () => choose(part === "score" ? "context" : "score"), c: () => addEventListener("keyup", () => comment.focus(), { once: true }), // so that the letter is not typed
      n: () => void move(1), ArrowRight: () => void move(1), p: () => void move(-1), ArrowLeft: () => void move(-1),
    });
    if (!acts[e.key]) return;
    e.preventDefault();
    acts[e.key]();
  };
  document.addEventListener("keydown", onKey);
  await read();
  draw();
  setTimeout(() => place.focus());
  const help = h("dl", { class: "keys" }, ...keys.flatMap(([key, word]) => [h("dt", {}, ...key.split(" ").flatMap((single) => [h("kbd", {}, single), " "])), h("dd", {}, say(word))]));
  return {
    title: say("eval.review.page"), stop: () => document.removeEventListener("keydown", onKey),
    element: h("div", { class: "padded document" }, calibrates ? back(above + "/calibration", say("calib.title")) : back(above, one.test_set_name), h("div", { class: "row" }, h("h1", {}, say("eval.review.page")), h("span", { class: "space" }), sampling), status, place,
      h("div", { class: "row" }, h("button", { type: "button", onclick: () => void move(-1) }, "‹ ", say("review.key.previous")), h("button", { type: "button", onclick: () => void move(1) }, say("review.key.next"), " ›")),
      h("details", {}, h("summary", {}, t("help")), help)),
  };
}

/** Returns a question with its answer and the passages, without what the judge says. @param {Entry} entry @param {HTMLElement} passages stay open or folded */
function shownOf({ item }, passages) {
  const given = item.sources.filter((/** @type {any} */ one) => !one.removed).map((/** @type {any} */ one) => h("li", {}, h("strong", {}, sourceName(one)), h("p", {}, one.text)));
  fill(passages, h("summary", {}, say("review.passages", { n: number(given.length) })), h("ol", { class: "passages" }, ...given));
  return [
    h("h2", {}, item.question), h("div", { class: "reader" },
      h("section", { "aria-label": say("eval.answer") }, h("h3", {}, say("eval.answer")), answerTo(item)),
      h("section", { "aria-label": say("eval.reference") }, h("h3", {}, say("eval.reference")), h("p", {}, item.reference ?? say("review.no.reference")))),
    passages,
  ];
}

/** Returns what the judge says of an answer that the person has scored. @param {Entry} entry */
function judgeOf({ item, review, saved }) {
  if (!saved || review.score === undefined) return h("p", { class: "quiet" }, say("review.blind"));
  return h("section", { class: "notice", "aria-label": say("eval.judge") }, h("p", {}, h("strong", {}, say("review.judge", { score: short(item.score) || "–", context: short(item.context) || "–" }))),
    item.reason && h("p", {}, item.reason), item.context_reason && h("p", {}, item.context_reason));
}
