// The page to ask on: the conversations, the questions and answers of one, and the passage
// that an answer cites beside it.

import { call, newKey, reasonOf } from "../api.js";
import { h } from "../dom.js";
import { t } from "../language.js";
import { navigate, rename } from "../router.js";
import { composer } from "../composer.js";
import { conversations } from "../conversations.js";
import { answerOf, liveAnswer } from "../answer.js";
import { sourcePanel } from "../source_panel.js";

/** @typedef {import("../answer.js").Live} Live */

/** @type {import("../router.js").Open} */
export async function open([id]) {
  let conversation = id ?? "";
  /** @type {() => void} */
  let named = () => {};
  const hasName = new Promise((/** @type {(value?: any) => void} */ resolve) => (named = resolve));
  /** Answers under way, in the order of their questions: each waits for those before it. @type {Live[]} */
  const live = [];
  const panel = sourcePanel();
  const turns = h("div", { class: "turns" });
  const list = conversations(() => conversation, () => navigate("/ask"));

  const ask = async (/** @type {import("../composer.js").Asked} */ { text, files, options }) => {
    try {
      if (live.length && !conversation) await hasName;
      const body = { text, stream: true, ...options, ...(conversation ? { conversationId: conversation } : {}) };
      const started = await call("query", { body: files.length ? formOf(body, files) : body, key: newKey() });
      turns.querySelector(".welcome")?.remove();
      begin(started.runId, text);
      return "";
    } catch (failure) {
      return reasonOf(failure);
    }
  };
  const steer = async (/** @type {string} */ text) => {
    if (!live.length) return t("ask.steer.late");
    try {
      await call("workspace-steer-run", { path: { run_id: live[0].run }, body: { text }, key: newKey() });
      return "";
    } catch (failure) {
      return reasonOf(failure);
    }
  };
  const { form, field, stop, submit, working, drop, edit } = composer(ask, steer);
  const to = {
    show: (/** @type {import("../answer.js").Source[]} */ sources, /** @type {number} */ at, /** @type {string} */ quote) => panel.show(sources, at, quote),
    ask: (/** @type {string} */ text) => void submit(text),
  };
  const begin = (/** @type {string} */ run, /** @type {string} */ text) => {
    const one = liveAnswer(run, {
      ...to,
      again: () => to.ask(text),
      started: (found) => {
        if (conversation === found) return;
        conversation = found;
        rename("/ask/" + encodeURIComponent(found));
        named();
        void list.load();
      },
      added: (words) => one.element.before(added(words)),
      ended: () => {
        live.splice(live.indexOf(one), 1);
        working(live.length > 0);
        void list.load();
      },
    }, live.length > 0);
    live.push(one);
    working(true);
    if (text) turns.append(question(text, edit));
    turns.append(one.element);
    one.element.scrollIntoView({ block: "end" });
  };
  stop.addEventListener("click", () => live[0]?.cancel());

  const title = conversation ? await fillTurns(conversation, turns, { ...to, edit, begin }) : t("ask");
  if (!conversation) turns.append(welcome(to.ask));
  void list.load();
  const element = h("div", { class: "ask" }, list.element, h("section", { class: "talk", "aria-label": t("ask") }, h("h1", { class: "unseen" }, title), turns, form), panel.element);
  element.addEventListener("dragover", (e) => e.preventDefault());
  element.addEventListener("drop", (e) => {
    e.preventDefault();
    if (e.dataTransfer) void drop(e.dataTransfer);
  });
  setTimeout(() => field.focus()); // when it is in the page
  return { title, element, stop: () => live.forEach((one) => one.stop()) };
}

/**
 * Returns a question with files as a form.
 * @param {Record<string, any>} body
 * @param {File[]} files
 */
function formOf(body, files) {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  for (const file of files) form.append("files", file, file.name);
  return form;
}

/**
 * @param {string} text
 * @param {(text: string) => void} edit
 */
function question(text, edit) {
  return h("div", { class: "asked" }, h("button", { type: "button", class: "plain", onclick: () => edit(text) }, t("ask.edit")), h("p", {}, text));
}

/** Returns words that were added to a question while its answer was under way. @param {string} text */
function added(text) {
  return h("div", { class: "asked added" }, h("span", { class: "quiet" }, t("ask.added")), h("p", {}, text));
}

/** Returns what stands in place of answers. @param {(text: string) => void} ask */
function welcome(ask) {
  const first = h("div");
  void call("list-documents", { query: { limit: 1 } }).then(async ({ data }) => {
    if (!data.length) (await import("../first_documents.js")).firstDocuments(first, ask);
  }).catch(() => {}); // it is a hint, no more
  return h("div", { class: "welcome" }, h("h2", {}, t("ask.empty")), h("p", { class: "quiet" }, t("ask.empty.hint")), first);
}

/**
 * Shows the questions and answers of a conversation, and goes on with the answers that are
 * under way. It returns the title.
 * @param {string} id
 * @param {HTMLElement} turns
 * @param {{show: any, ask: (text: string) => void, edit: (text: string) => void, begin: (run: string, text: string) => void}} to
 */
async function fillTurns(id, turns, to) {
  const running = await call("list-runs", { query: { conversation_id: id, status: "running", limit: 10 } });
  const ended = new Set();
  let cursor = "";
  let title = t("ask");
  let asked = "";
  do {
    const found = await call("get-conversation", { path: { id }, query: { limit: 100, cursor } });
    title = found.title || title;
    for (const message of found.messages) {
      const more = message.role === "user" && message.run_id && ended.has(message.run_id);
      ended.add(message.run_id);
      if (more) turns.append(added(message.text));
      else if (message.role === "user") turns.append(question((asked = message.text), to.edit));
      else {
        const text = asked;
        turns.append(answerOf(message, { show: to.show, ask: to.ask, again: () => to.ask(text) }));
      }
    }
    cursor = found.next_cursor ?? "";
  } while (cursor);
  for (const { id: run } of running.data.reverse()) { // oldest first
    if (ended.has(run)) continue; // since the list was read
    const { question: text } = await call("workspace-get-run", { path: { run_id: run } }); // it is stored with its answer
    to.begin(run, text ?? "");
  }
  return title;
}
