// What happened in a run, as lines made of its events.

import { h } from "./dom.js";
import { duration, moment, number, t } from "./language.js";
import { countersOf, named, stageName, waitOf } from "./runs_list.js";
import { toolCall } from "./tool_call.js";
import { causeOf } from "./words/causes.js";

const shown = 500; // of the events as they came

/** The parts of the line of an event. @type {Record<string, (data: any) => any[]>} */
const titles = {
  runStarted: () => [t("run.begins")],
  attachmentUpdate: (data) => [data.name, t(`doc.${/** @type {"pending"} */ (data.status)}`), data.error?.message],
  searchChoices: () => [t("run.choices")],
  sendSourcesMessage: (data) => [t("run.found", { n: data.sources.length }), data.final && t("ask.used", { n: data.sources.filter((/** @type {any} */ one) => one.usedInResponse).length })],
  apiMessageChunk: () => [t("run.words")],
  tool_partial_update: () => [t("run.words")],
  reasoning: () => [t("ask.thinking")],
  userMessage: (data) => [t("ask.added"), data.text],
  messageReset: (data) => [t("run.reset"), data.reason],
  modelFailed: (data) => [t("run.model_failed", { model: data.model, n: data.attempt }), data.code, data.status, data.next && t("run.failover", { model: data.next }), data.retryAt && t("run.next", { at: moment(data.retryAt) })],
  webhookCall: (data) => [data.id, named(data.status), duration(data.seconds), data.message],
  pipelineStep: (data) => [data.name, named(data.status), duration(data.seconds), data.changed && t("run.changed"), data.message],
  tool_update: (data) => [data.phase, data.status],
  documentUpdate: (data) => [stageName(data.stage), data.progress && number(data.progress, { style: "percent" }), data.waiting && waitOf(data.waiting)],
  importUpdate: ({ discovered, published, skipped, failed, waiting }) => [countersOf({ discovered, published, skipped, failed }), waiting && waitOf(waiting)],
  evaluationUpdate: ({ total, judged, failed }) => [countersOf({ total, judged, failed })],
  generationUpdate: ({ wanted, written, kept }) => [countersOf({ wanted, written, kept })],
  completedMessage: (data) => [named("completed"), data.model, countersOf(data.usage), data.finishReason, ...(data.notices ?? []).map((/** @type {any} */ one) => one.message)],
  tool_end: () => [named("completed")],
  runEnded: (data) => [named(data.status), data.error?.code, causeOf(data.error)],
  error: (data) => [data.code, causeOf(data)],
};

/** The text that a line opens. @type {Record<string, (data: any) => string>} */
const texts = {
  searchChoices: json, tool_update: json,
  sendSourcesMessage: (data) => data.sources.map((/** @type {any} */ one) => `[${one.rank}] ${one.documentName ?? ""} ${one.score ? number(one.score) : ""}`).join("\n"),
  apiMessageChunk: (data) => data.chunk.data,
  tool_partial_update: (data) => data.content,
  reasoning: (data) => data.delta ?? "",
};

/** Events that go on with the line of the one before. */
const grows = new Set(["apiMessageChunk", "tool_partial_update", "reasoning", "importUpdate", "evaluationUpdate", "generationUpdate"]);

/** Returns what two events have in common that are one line; "" = nothing. @param {string} name @param {any} data */
function keyOf(name, data) {
  if (name === "documentUpdate") return `${data.stage} ${data.waiting?.attempt ?? ""}`;
  return grows.has(name) ? name : "";
}

/** Returns the lines of a run, and the function that adds its next event. @param {string} run */
export function timeline(run) {
  const list = h("ol", { class: "timeline", "aria-label": t("run.timeline") });
  const raw = h("ol", { class: "raw" });
  const rest = h("p", { class: "quiet" });
  const count = h("summary");
  let events = 0;
  /** @type {Map<string, HTMLElement>} */
  const calls = new Map();
  /** @type {{key: string, title: HTMLElement, text: Text} | null} */
  let last = null;
  /** The last line whose beginning is known. @type {{took: HTMLElement, began: number} | null} */
  let stage = null;

  /** Shows how long the last stage took. @param {string | null | undefined} end when the next one began, or the run ended */
  const close = (end) => {
    if (stage && end) stage.took.textContent = ` · ${duration(Math.max(0, (Date.parse(end) - stage.began) / 1000))}`;
  };

  const line = (/** @type {string} */ name, /** @type {any} */ data) => {
    const text = texts[name]?.(data);
    const key = keyOf(name, data);
    if (!last || last.key !== key || !key) {
      last = { key, title: h(text === undefined ? "span" : "summary"), text: document.createTextNode("") };
      const took = h("span", { class: "quiet" });
      close(data.at);
      if (data.at) stage = { took, began: Date.parse(data.at) };
      const wrong = name === "error" || name === "modelFailed" || data.error || data.waiting || data.status === "failed";
      list.append(h("li", { class: wrong && "wrong" }, text === undefined ? [last.title, took] : fold(last.title, last.text)));
    }
    last.title.textContent = titles[name](data).filter(Boolean).join(" · ");
    if (data.reset) last.text.data = "";
    last.text.appendData(text ?? "");
  };
  const place = (/** @type {string} */ call) => {
    last = null;
    const known = calls.get(call) ?? h("li");
    calls.set(call, known);
    if (!known.parentElement) list.append(known);
    return known;
  };
  const add = (/** @type {string} */ name, /** @type {any} */ data) => {
    if (name === "toolCall") toolCall(place(data.id), run, data);
    else if (name === "toolEvent") place(data.toolCallId).append(fold(h("summary", {}, data.event), json(data.data)));
    else if (titles[name]) line(name, data);
    count.textContent = t("run.raw", { n: number(++events) });
    if (events <= shown) raw.append(h("li", {}, `${name} ${JSON.stringify(data)}`));
    else rest.textContent = t("run.more", { n: number(events - shown) });
  };
  return { add, close, element: h("section", {}, h("h2", {}, t("run.timeline")), list, h("details", { class: "events" }, count, raw, rest)) };
}

/** @param {HTMLElement} summary @param {Text | string} text */
function fold(summary, text) {
  return h("details", {}, summary, h("pre", { tabindex: 0, role: "group", "aria-label": t("run.timeline") }, text));
}

/** @param {any} data */
function json(data) {
  return JSON.stringify(data, null, 2) ?? "";
}
