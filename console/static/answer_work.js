// What a model did for an answer: its reasoning and its calls of tools, folded.

import { h } from "./dom.js";
import { t } from "./language.js";
import { toolCall } from "./tool_call.js";

/** @param {string} run */
export function answerWork(run) {
  const words = h("p");
  const thoughts = h("details", { class: "thoughts", hidden: true }, h("summary", {}, t("ask.thinking")), words);
  const calls = h("div", { class: "calls" });
  /** @type {Record<string, (data: any) => void>} */
  const events = {
    reasoning: ({ delta, reset }) => {
      words.textContent = reset ? delta : words.textContent + delta;
      thoughts.hidden = !words.textContent;
    },
    toolCall: (data) => toolCall(calls, run, data),
  };
  return { elements: [thoughts, calls], events };
}
