// What a reader says of an answer.

import { actionButton, attempt } from "./action.js";
import { call } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { t } from "./language.js";

/**
 * Returns the buttons that rate an answer, and the place for a comment.
 * @param {string} run of the answer
 * @param {"up" | "down" | null} rating that the reader gave before
 * @returns {[HTMLElement, HTMLElement]} the buttons, and what stands below them
 */
export function feedback(run, rating) {
  const place = h("div");
  const button = (/** @type {"up" | "down"} */ value) => h("button", { type: "button", class: "plain", "aria-pressed": String(rating === value), onclick: () => void rate(value) }, t(value === "up" ? "ask.good" : "ask.bad"));
  const buttons = { up: button("up"), down: button("down") };
  const rate = async (/** @type {"up" | "down"} */ value) => {
    if (!await attempt(() => give({ rating: value }))) return;
    for (const [name, one] of Object.entries(buttons)) one.setAttribute("aria-pressed", String(name === value));
    fill(place, form(value));
  };
  const give = (/** @type {Record<string, string | undefined>} */ body) => call("give-feedback", { path: { run_id: run }, body });
  const form = (/** @type {"up" | "down"} */ value) => {
    const comment = h("textarea", { rows: 2, maxlength: 4000, "aria-label": t("ask.comment"), placeholder: t("ask.comment") });
    const expected = h("textarea", { rows: 2, maxlength: 16000, "aria-label": t("ask.expected"), placeholder: t("ask.expected"), hidden: value === "up" });
    const send = async () => {
      await give({ rating: value, comment: comment.value || undefined, expected: expected.value || undefined });
      fill(place, h("p", { class: "quiet" }, t("ask.thanks")));
      announce(t("ask.thanks"));
    };
    return h("div", { class: "feedback" }, comment, expected, h("div", { class: "row" }, actionButton(t("send"), send, { class: "first" }),
      h("button", { type: "button", class: "plain", onclick: () => fill(place) }, t("close"))));
  };
  return [h("span", {}, buttons.up, buttons.down), place];
}
