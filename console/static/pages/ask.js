// The page to ask on: the conversations, the questions and answers of one, and the passage
// that an answer cites beside it.

import { attempt } from "../action.js";
import { call, newKey, reasonOf } from "../api.js";
import { h } from "../dom.js";
import { t } from "../language.js";
import { navigate, rename } from "../router.js";
import { composer } from "../composer.js";
import { conversations } from "../conversations.js";
import { liveAnswer, markLast } from "../answer.js";
import { added, fillTurns, question } from "../turns.js";

/** @typedef {import("../answer.js").Live} Live */

/** @type {import("../router.js").Open} */
export async function open([id]) {
  let conversation = id ?? "";
  /** @type {() => void} */
  let named = () => {};
  const hasName = new Promise((/** @type {(value?: any) => void} */ resolve) => (named = resolve));
  /** Answers under way, in the order of their questions: each waits for those before it. @type {Live[]} */
  const live = [];
  /** @type {ReturnType<typeof import("../source_panel.js").sourcePanel> | null} */
  let panel = null; // once a passage was opened
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
    show: (/** @type {import("../answer.js").Source[]} */ sources, /** @type {number} */ at, /** @type {string} */ quote) => void attempt(async () => {
      const { sourcePanel } = await import("../source_panel.js");
      if (!panel) element.append((panel = sourcePanel()).element);
      panel.show(sources, at, quote);
    }),
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
    markLast(turns);
    one.element.scrollIntoView({ block: "end" });
  };
  stop.addEventListener("click", () => live[0]?.cancel());

  const past = conversation ? await fillTurns(conversation, turns, { ...to, edit, begin }) : null;
  const title = past?.title ?? t("ask");
  if (!conversation) turns.append(welcome(to.ask));
  void list.load();
  const element = h("div", { class: "ask" }, list.element, h("section", { class: "talk", "aria-label": t("ask") }, h("h1", { class: "unseen" }, title), turns, form));
  element.addEventListener("dragover", (e) => e.preventDefault());
  element.addEventListener("drop", (e) => {
    e.preventDefault();
    if (e.dataTransfer) void drop(e.dataTransfer);
  });
  setTimeout(() => field.focus()); // when it is in the page
  return {
    title, element,
    stop: () => {
      live.forEach((one) => one.stop());
      past?.stop();
    },
  };
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

/** Returns what stands in place of answers. @param {(text: string) => void} ask */
function welcome(ask) {
  const first = h("div");
  void call("list-documents", { query: { limit: 1 } }).then(async ({ data }) => {
    if (!data.length) (await import("../first_documents.js")).firstDocuments(first, ask);
  }).catch(() => {}); // it is a hint, no more
  return h("div", { class: "welcome" }, h("h2", {}, t("ask.empty")), h("p", { class: "quiet" }, t("ask.empty.hint")), first);
}
