// The questions and answers of a conversation: the last ones at first, and those before them
// as they are scrolled to.

import { answerOf, markLast } from "./answer.js";
import { call, reasonOf } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./language.js";

/** @typedef {any} Message (schema MessageView) */
/** @typedef {{show: any, ask: (text: string) => void, edit: (text: string) => void, begin: (run: string, text: string) => void}} To */

const atOnce = 50; // messages

/**
 * @param {string} text
 * @param {(text: string) => void} edit
 */
export function question(text, edit) {
  return h("div", { class: "asked" }, h("button", { type: "button", class: "plain", onclick: () => edit(text) }, t("ask.edit")), h("p", {}, text));
}

/** Returns words that were added to a question while its answer was under way. @param {string} text */
export function added(text) {
  return h("div", { class: "asked added" }, h("span", { class: "quiet" }, t("ask.added")), h("p", {}, text));
}

/** Reports whether a message adds to the question of the one before. @param {Message} message @param {Message} [before] */
function adds(message, before) {
  return message.role === "user" && !!message.run_id && message.run_id === before?.run_id;
}

/** Returns the elements of messages, of which the first one begins a question. @param {Message[]} messages @param {To} to */
function turnsOf(messages, to) {
  let asked = "";
  return messages.map((message, i) => {
    const text = message.text;
    if (adds(message, messages[i - 1])) return added(text);
    if (message.role === "user") return question((asked = text), to.edit);
    const again = asked;
    return answerOf(message, { show: to.show, ask: to.ask, again: () => to.ask(again) });
  });
}

/**
 * Shows the last questions and answers of a conversation, and goes on with the answers that
 * are under way.
 * @param {string} id
 * @param {HTMLElement} turns
 * @param {To} to
 */
export async function fillTurns(id, turns, to) {
  const running = await call("list-runs", { query: { conversation_id: id, status: "running", limit: 10 } });
  let cursor = /** @type {string | null} */ ("");
  let reading = false;
  /** The messages that are read and whose question is not. @type {Message[]} */
  let open = [];
  const older = h("div", { class: "older quiet" });
  turns.append(older);

  const read = async () => {
    const found = await call("get-conversation", { path: { id }, query: { limit: atOnce, order: "desc", cursor: cursor ?? "" } });
    cursor = found.next_cursor ?? null;
    const messages = /** @type {Message[]} */ ([...found.messages.toReversed(), ...open]);
    const begins = messages.findIndex((one, i) => cursor === null || i > 0 && one.role === "user" && !adds(one, messages[i - 1]));
    const from = begins < 0 ? messages.length : begins;
    open = messages.slice(0, from);
    const left = turns.scrollHeight - turns.scrollTop;
    older.after(...turnsOf(messages.slice(from), to));
    markLast(turns);
    turns.scrollTop = turns.scrollHeight - left;
    return { title: found.title, messages };
  };
  const further = async () => {
    if (cursor === null || reading) return;
    reading = true;
    try {
      await read();
      fill(older);
    } catch (failure) {
      fill(older, reasonOf(failure), " ", h("button", { type: "button", onclick: () => void further() }, t("retry")));
    }
    reading = false;
    seen.unobserve(older); // it tells again if the beginning is still in sight
    if (!older.childElementCount) seen.observe(older);
  };
  const seen = new IntersectionObserver((found) => {
    if (found.some((one) => one.isIntersecting)) void further();
  }, { root: turns, rootMargin: "600px 0px 0px" });

  const { title, messages } = await read();
  const ended = new Set(messages.map((one) => one.run_id));
  for (const { id: run } of running.data.reverse()) { // oldest first
    if (ended.has(run)) continue; // since the list was read
    const { question: text } = await call("workspace-get-run", { path: { run_id: run } }); // it is stored with its answer
    to.begin(run, text ?? "");
  }
  setTimeout(() => { // when it is in the page
    turns.scrollTop = turns.scrollHeight;
    seen.observe(older);
  });
  return { title: title || t("ask"), stop: () => seen.disconnect() };
}
