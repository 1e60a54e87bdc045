// The chat of an agent: a conversation, and the form of a question.

import { newKey, reasonOf } from "../api.js";
import { answerOf, liveAnswer, markLast } from "../answer.js";
import { fill, h, onEnter } from "../dom.js";
import { inLanguage, t } from "../language.js";
import { agent as words } from "../words/agent.js";
import { showPassage } from "./passage.js";
import { callAgent, keep, kept, routes } from "./visitor.js";

/**
 * An agent (schema AgentDescription).
 * @typedef {object} Agent
 * @property {string} slug
 * @property {string} visibility
 * @property {string} title
 * @property {string} description
 * @property {string[]} starters
 * @property {string} avatar
 * @property {boolean} has_picture
 */

/**
 * Returns the chat.
 * @param {Agent} agent
 * @param {boolean} anonymous whether the visitor may become another one
 */
export function chat(agent, anonymous) {
  let conversation = kept().conversation ?? "";
  /** Answers under way. @type {import("../answer.js").Live[]} */
  const live = [];
  const turns = h("div", { class: "turns", role: "log", "aria-label": agent.title });
  const field = h("textarea", { class: "question", name: "question", rows: 2, maxlength: 32000, "aria-label": t("ask.question"), placeholder: inLanguage(words.placeholder) });
  const send = h("button", { class: "first" }, t("ask.button"));
  const stop = h("button", { type: "button", hidden: true, onclick: () => live[0]?.cancel() }, t("ask.stop"));
  const wrong = h("p", { class: "wrong", role: "alert" });

  const ask = async (/** @type {string} */ given) => {
    const text = given.trim();
    if (!text || send.disabled || live.length) return;
    send.disabled = true;
    wrong.textContent = "";
    try {
      const started = await callAgent(routes.ask, { body: { text, conversation_id: conversation || undefined }, key: newKey() }, anonymous);
      field.value = "";
      begin(started.run_id, text);
    } catch (failure) {
      wrong.textContent = reasonOf(failure);
    }
    send.disabled = live.length > 0;
  };
  const to = { show: showPassage, ask: (/** @type {string} */ text) => void ask(text) };
  const begin = (/** @type {string} */ run, /** @type {string} */ text) => {
    const one = liveAnswer(run, {
      ...to,
      again: () => to.ask(text),
      added: () => {},
      started: (found) => {
        conversation = found;
        keep({ conversation });
      },
      ended: () => {
        live.splice(live.indexOf(one), 1);
        stop.hidden = true;
        send.disabled = false;
      },
    }, live.length > 0);
    live.push(one);
    stop.hidden = false;
    turns.querySelector(".welcome")?.remove();
    turns.append(question(text), one.element);
    markLast(turns);
    one.element.scrollIntoView({ block: "end" });
  };
  const welcome = () => fill(turns, h("div", { class: "welcome" }, h("p", {}, agent.description), h("p", { class: "quiet" }, inLanguage(words.hint)),
    agent.starters.length > 0 && h("ul", { class: "suggestions", "aria-label": inLanguage(words.starters) },
      ...agent.starters.map((one) => h("li", {}, h("button", { type: "button", onclick: () => to.ask(one) }, one))))));
  const clear = () => {
    for (const one of live.splice(0)) one.stop();
    stop.hidden = true;
    send.disabled = false;
    conversation = "";
    keep({ conversation });
    welcome();
    field.focus();
  };
  /** Shows the conversation that was open last, if it is there. */
  const resume = async () => {
    welcome();
    if (!conversation) return;
    const found = await callAgent(routes.conversation, { path: { conversation } }, false).catch(() => null);
    if (!found) return clear();
    fill(turns, ...turnsOf(found.messages, to.ask));
    markLast(turns);
    for (const { run_id, text } of found.running) begin(run_id, text);
    turns.lastElementChild?.scrollIntoView({ block: "end" });
  };
  const form = h("form", { class: "composer", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    void ask(field.value);
  } }, field, h("div", { class: "row" }, stop, send), wrong);
  onEnter(field, () => form.requestSubmit());
  return { turns, form, field, clear, resume, conversation: () => conversation };
}

/** @param {string} text */
function question(text) {
  return h("div", { class: "asked" }, h("p", {}, text));
}

/**
 * Returns the questions and answers of stored messages.
 * @param {any[]} messages
 * @param {(text: string) => void} [ask] asks again; without it they are only read
 */
export function turnsOf(messages, ask) {
  let asked = "";
  return messages.map((message) => {
    if (message.role === "user") return question((asked = message.text));
    const text = asked;
    return answerOf(message, { show: showPassage, ask: ask ?? (() => {}), again: ask && (() => ask(text)) });
  });
}
