// The page to ask on: the conversations, the questions and answers of one, and the passage
// that an answer cites beside it.

import { call, reasonOf } from "../api.js";
import { h } from "../dom.js";
import { t } from "../language.js";
import { preference, setPreference } from "../preferences.js";
import { projectChoice } from "../project_choice.js";
import { navigate, rename } from "../router.js";
import { conversations } from "../conversations.js";
import { answerOf, liveAnswer } from "../answer.js";
import { sourcePanel } from "../source_panel.js";

/** @typedef {import("../answer.js").Live} Live */

/** @type {import("../router.js").Open} */
export async function open([id]) {
  let conversation = id ?? "";
  /** @type {Live | null} */
  let live = null;
  const panel = sourcePanel();
  const turns = h("div", { class: "turns" });
  const list = conversations(() => conversation, () => navigate("/ask"));
  const { form, field, project, send, stop, wrong } = composer();

  const show = (/** @type {import("../answer.js").Source[]} */ sources, /** @type {number} */ at, /** @type {string} */ quote) => panel.show(sources, at, quote);
  const ask = async (/** @type {string} */ text, /** @type {Record<string, any>} */ more = {}) => {
    if (!text.trim() || live) return;
    wrong.textContent = "";
    send.disabled = true;
    field.value = "";
    try {
      const started = await call("query", { body: { text, projectId: project.value || undefined, conversationId: conversation || undefined, stream: true, ...more } });
      turns.querySelector(".welcome")?.remove();
      turns.append(question(text));
      begin(started.runId, text);
    } catch (failure) {
      field.value ||= text;
      wrong.textContent = reasonOf(failure);
    }
    send.disabled = false;
  };
  const begin = (/** @type {string} */ run, /** @type {string} */ text) => {
    live = liveAnswer(run, {
      show,
      started: (found) => {
        rename("/ask/" + encodeURIComponent(found), { run, text });
        if (conversation === found) return;
        conversation = found;
        void list.load();
      },
      ended: () => {
        live = null;
        stop.hidden = true;
        void list.load();
      },
      ask,
      again: () => ask(text),
    });
    stop.hidden = false;
    turns.append(live.element);
    live.element.scrollIntoView({ block: "end" });
  };
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    void ask(field.value, /** @type {HTMLInputElement} */ (form.elements.namedItem("research")).checked ? { deepResearch: true } : {});
  });
  stop.addEventListener("click", () => live?.cancel());

  const title = conversation ? await fillTurns(conversation, turns, { show, ask, begin }) : t("ask");
  if (!conversation) turns.append(welcome());
  void list.load();
  const element = h("div", { class: "ask" }, list.element, h("section", { class: "talk", "aria-label": t("ask") }, turns, form), panel.element);
  queueMicrotask(() => field.focus());
  return { title, element, stop: () => live?.stop() };
}

/** @param {string} text */
function question(text) {
  return h("div", { class: "asked" }, h("p", {}, text));
}

function welcome() {
  return h("div", { class: "welcome" }, h("h1", {}, t("ask.empty")), h("p", { class: "quiet" }, t("ask.empty.hint")));
}

/** Returns the form of a question. */
function composer() {
  const field = h("textarea", { class: "question", name: "question", rows: 2, maxlength: 32000, "aria-label": t("ask.question"), placeholder: t("ask.placeholder") });
  const project = projectChoice(preference("project"), (chosen) => setPreference("project", chosen));
  const send = h("button", { class: "first" }, t("ask.button"));
  const stop = h("button", { type: "button", class: "stop", hidden: true }, t("ask.stop"));
  const wrong = h("p", { class: "wrong", role: "alert" });
  const form = h("form", { class: "composer" }, field,
    h("div", { class: "row" }, project, h("label", { class: "choice" }, h("input", { type: "checkbox", name: "research" }), t("ask.research")), h("span", { class: "space" }), stop, send), wrong);
  field.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
    e.preventDefault();
    form.requestSubmit();
  });
  return { form, field, project, send, stop, wrong };
}

/**
 * Shows the questions and answers of a conversation, and goes on with an answer that is
 * under way. It returns the title.
 * @param {string} id
 * @param {HTMLElement} turns
 * @param {{show: any, ask: (text: string) => void, begin: (run: string, text: string) => void}} to
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
      ended.add(message.run_id);
      if (message.role === "user") turns.append(question((asked = message.text)));
      else {
        const text = asked;
        turns.append(answerOf(message, { show: to.show, ask: to.ask, again: () => to.ask(text) }));
      }
    }
    cursor = found.next_cursor ?? "";
  } while (cursor);
  for (const { id: run } of running.data) {
    if (ended.has(run)) continue; // since the list was read
    // The question is stored with its answer; until then the page that asked it knows it.
    const text = history.state?.run === run ? history.state.text : asked ? "" : title;
    if (text) turns.append(question(text));
    to.begin(run, text);
  }
  return title;
}
