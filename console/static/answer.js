// An answer: one that is stored, and one that comes while its run goes on.

import { actionButton, attempt } from "./action.js";
import { answerWork } from "./answer_work.js";
import { address, call, may, reasonOf } from "./api.js";
import { citations } from "./citation.js";
import { announce, atNextFrame, fill, h, keepFocus } from "./dom.js";
import { follow } from "./events.js";
import { feedback } from "./feedback.js";
import { withoutCitations } from "./inline.js";
import { t } from "./language.js";
import { blocks, render } from "./markdown.js";
import { sourceList, sourceName } from "./sources.js";

/** @typedef {import("./sources.js").Source} Source */

/**
 * @typedef {object} Actions
 * @property {(sources: Source[], at: number, quote: string) => void} show shows a passage
 * @property {(text: string) => void} ask asks another question
 * @property {() => void} [again] asks the same question again; without it the answer is only read
 */

/**
 * @typedef {object} Live
 * @property {string} run
 * @property {HTMLElement} element
 * @property {() => void} stop stops to follow; the run goes on
 * @property {() => void} cancel ends the run
 */

/**
 * Returns the element of a stored answer.
 * @param {{text: string, sources: Source[], status: string, run_id: string | null, rating: "up" | "down" | null}} message
 * @param {Actions} actions
 */
export function answerOf(message, actions) {
  const marks = citations(() => message.sources, actions.show);
  const body = h("div", { class: "words" }, ...blocks(message.text).map((block) => render(block, marks)));
  const state = message.status === "completed" ? null : h("p", { class: "quiet" }, t(message.status === "canceled" ? "ask.stopped" : "ask.tool.failed"));
  const work = message.run_id && h("div", { hidden: true });
  if (work) void import("./stored_work.js").then(({ storedWork }) => storedWork(/** @type {string} */ (message.run_id), work)).catch(() => {}); // the answer is there without it
  return h("article", { class: "answer", "aria-label": t("ask.answer") }, work, body, state,
    ...ending({ run: message.run_id, text: message.text, sources: message.sources, suggestions: [], rating: message.rating }, actions));
}

/** Makes the last answer of a conversation a landmark: the others have the same name. @param {HTMLElement} turns */
export function markLast(turns) {
  const all = [...turns.querySelectorAll(".answer")];
  for (const one of all) one.role = one === all.at(-1) ? "region" : null;
}

/**
 * Returns what stands below an answer.
 * @param {{run: string | null, text: string, sources: Source[], suggestions: string[], rating: "up" | "down" | null}} answer
 * @param {Actions} actions
 */
function ending({ run, text, sources, suggestions, rating }, actions) {
  const copy = async () => {
    const used = sources.filter((one) => one.usedInResponse);
    const plain = withoutCitations(text, "$1");
    await navigator.clipboard.writeText([plain, "", ...used.map((one) => `[${one.rank}] ${sourceName(one)}`)].join("\n"));
    announce(t("copied"));
  };
  const [rate, comment] = run ? feedback(run, rating) : [];
  return [
    sourceList(sources, actions.show),
    h("div", { class: "row actions" },
      actionButton(t("ask.copy"), copy, { class: "plain" }),
      actions.again && h("button", { type: "button", class: "plain", onclick: actions.again }, t("ask.again")), rate, run && runLink(run)),
    comment,
    suggestions.length > 0 && h("ul", { class: "suggestions", "aria-label": t("ask.suggestions") },
      ...suggestions.map((one) => h("li", {}, h("button", { type: "button", onclick: () => actions.ask(one) }, one)))),
  ];
}

/** Returns the link to the page of a run, for readers of runs. @param {string} run */
function runLink(run) {
  return may("runs.read") && h("a", { class: "quiet", href: "/runs/" + encodeURIComponent(run) }, t("run.link"));
}

/**
 * Follows the answer of a run.
 * @param {string} run
 * @param {Actions & {started: (conversation: string) => void, added: (text: string) => void, ended: () => void}} actions
 * @param {boolean} queued whether it waits for another answer
 * @returns {Live}
 */
export function liveAnswer(run, actions, queued) {
  let text = "";
  let said = 0; // characters of text that screen readers were told
  /** @type {Source[]} */
  let sources = [];
  /** @type {string[]} */
  let shown = []; // the blocks that body has
  const marks = citations(() => sources, actions.show);
  const phase = h("p", { class: "phase quiet" }, t(queued ? "ask.queued" : "ask.searching"));
  const note = h("p", { class: "lost", role: "status", hidden: true });
  const work = answerWork(run);
  const notes = h("div");
  const body = h("div", { class: "words", "aria-busy": "true" });
  const below = h("div");
  const element = h("article", { class: "answer live", "aria-label": t("ask.answer") }, phase, ...work.elements, notes, body, note, below);

  const paint = () => {
    const now = blocks(text);
    for (let i = 0; i < now.length; i++) {
      if (shown[i] === now[i]) continue;
      const made = render(now[i], marks);
      const old = body.children[i];
      if (old) keepFocus(old, () => (old.replaceWith(made), made));
      else body.append(made);
    }
    while (body.children.length > now.length) body.lastElementChild?.remove();
    shown = now;
  };
  const draw = atNextFrame(paint);
  /** Returns the text that screen readers were not told, or the whole sentences of it. @param {boolean} all */
  const unsaid = (all) => {
    const left = text.slice(said);
    const plain = left.replace(/<[^>]*>?/g, (tag) => "_".repeat(tag.length)); // of the same length
    const end = all ? left.length : Math.max(...[". ", "! ", "? ", "\n"].map((one) => plain.lastIndexOf(one))) + 1;
    said += end;
    return left.slice(0, end).replace(/<[^>]*>/g, "").trim();
  };
  const speak = () => {
    const sentences = unsaid(false);
    if (sentences) announce(sentences);
  };
  const redraw = () => {
    shown = [];
    draw();
  };
  const end = (/** @type {string} */ words) => {
    element.classList.remove("live");
    body.removeAttribute("aria-busy");
    phase.remove();
    announce(`${unsaid(true)} ${words}`.trim());
    actions.ended();
  };
  const saidModel = (/** @type {any} */ data) => t(data.next ? "ask.failed.model" : "ask.waits", { model: data.model, next: data.next ?? "" });

  /** @type {Record<string, (data: any) => void>} */
  const events = {
    ...work.events,
    runStarted: (data) => data.conversationId && actions.started(data.conversationId),
    attachmentUpdate: (data) => {
      if (data.status === "pending") phase.textContent = t("ask.attached", { name: data.name });
      if (data.error) notes.append(h("p", { class: "lost" }, t("ask.attached.failed", { name: data.name, message: data.error.message })));
    },
    apiMessageChunk: (data) => {
      text += data.chunk.data;
      phase.textContent = t("ask.writing");
      draw();
      speak();
    },
    messageReset: () => {
      text = "";
      said = 0;
      redraw();
    },
    userMessage: (data) => actions.added(data.text),
    modelFailed: (data) => void (phase.textContent = saidModel(data)),
    researchUpdate: (data) => void (phase.textContent = data.text || data.title || data.phase),
    sendSourcesMessage: (data) => {
      sources = data.sources;
      if (!data.final) phase.textContent = t("ask.found", { n: sources.length });
      redraw();
    },
    completedMessage: (data) => {
      if (!data.answer.startsWith(text)) said = data.answer.length; // other words than those that came
      text = data.answer;
      sources = data.sources;
      shown = [];
      paint(); // whoever sees the end sees all words
      const why = data.finishReason === "length" ? t("ask.length") : data.finishReason === "content_filter" ? t("ask.filter") : "";
      fill(below, why && h("p", { class: "lost" }, why), ...(data.notices ?? []).map((/** @type {any} */ one) => h("p", { class: "quiet" }, one.message)),
        ...ending({ run, text, sources, suggestions: data.suggestions ?? [], rating: null }, actions));
      end(t("ask.done"));
    },
    error: (data) => {
      const canceled = data.code === "canceled";
      fill(below, h("p", { class: canceled ? "quiet" : "wrong", role: canceled ? null : "alert" }, canceled ? t("ask.stopped") : data.message),
        ...(text ? ending({ run, text, sources, suggestions: [], rating: null }, actions) : [h("div", { class: "row actions" }, h("button", { type: "button", onclick: actions.again }, t("ask.again")), runLink(run))]));
      end(t("ask.stopped"));
    },
  };
  const stop = follow(address("workspace-run-events", { run_id: run }, { compact: "true" }), 0, {
    event: (name, data) => events[name]?.(data),
    state: (state) => {
      note.hidden = state === "open";
      note.textContent = state === "lost" ? t("ask.lost") : t("ask.resumed");
      note.classList.toggle("resumed", state === "resumed");
    },
    failed: (failure) => events.error({ code: "", message: reasonOf(failure) }),
  });
  return { run, element, stop, cancel: () => void attempt(() => call("workspace-cancel-run", { path: { run_id: run } })) };
}
