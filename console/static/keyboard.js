// The keys that work on every page.

import { h, openDialog } from "./dom.js";
import { t } from "./language.js";

/**
 * Returns the listener of keys: "/" writes a question, j and k walk through the list of the
 * page, ? shows the keys.
 * @param {() => void} ask opens the page to ask on
 * @returns {(e: KeyboardEvent) => void}
 */
export function listKeys(ask) {
  return (e) => {
    const target = /** @type {HTMLElement} */ (e.target);
    if (e.ctrlKey || e.metaKey || e.altKey || target.closest("input, textarea, select, dialog")) return;
    if (e.key === "/") {
      e.preventDefault();
      const field = document.querySelector("textarea.question");
      if (field instanceof HTMLElement) field.focus();
      else ask();
    } else if (e.key === "?") help();
    else if (e.key === "j" || e.key === "k") walk(e.key === "j" ? 1 : -1);
  };
}

/** Moves the focus within the list that has it, or into the first one. @param {1 | -1} step */
function walk(step) {
  const list = document.activeElement?.closest("[data-list]") ?? document.querySelector("[data-list]");
  const items = /** @type {HTMLElement[]} */ ([...(list?.querySelectorAll("[data-item]") ?? [])]);
  const at = items.findIndex((item) => item === document.activeElement);
  items[Math.max(0, Math.min(items.length - 1, at + step))]?.focus();
}

/** Shows the keys. */
export function help() {
  const keys = /** @type {const} */ ([["/", "help.question"], ["j", "help.next"], ["k", "help.previous"], ["Enter", "help.open"], ["Ctrl+Enter", "help.steer"], ["Esc", "help.close"], ["?", "help.help"]]);
  openDialog(t("help"),
    h("h2", {}, t("help")),
    h("dl", { class: "keys" }, ...keys.flatMap(([key, word]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, t(word))])),
    h("form", { method: "dialog" }, h("button", {}, t("close"))));
}
