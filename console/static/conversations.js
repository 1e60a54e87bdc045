// The list of conversations beside the page to ask on.

import { attempt, confirm } from "./action.js";
import { call } from "./api.js";
import { fill, h, openDialog } from "./dom.js";
import { t } from "./language.js";

const wide = matchMedia("(min-width: 60rem)"); // on less, the list is folded above the answers
const pause = 200; // milliseconds between the last letter of a search and its request

/**
 * @param {() => string} open the id of the conversation that is open; "" = a new one
 * @param {() => void} gone is called when that one was deleted
 */
export function conversations(open, gone) {
  /** @type {{id: string, title: string}[]} */
  let known = [];
  let cursor = "";
  let timer = 0;
  let turn = 0;
  const search = h("input", { type: "search", maxlength: 200, "aria-label": t("ask.search"), placeholder: t("ask.search"), oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), pause);
  } });
  const none = h("p", { class: "quiet", role: "status" });
  const list = h("ul", { "data-list": "", "aria-label": t("ask.conversations") });
  const more = h("button", { type: "button", class: "plain", hidden: true, onclick: () => void load(true) }, t("more"));

  const draw = () => {
    none.textContent = search.value.trim() && !known.length ? t("ask.search.none") : "";
    fill(list, ...known.map((one) =>
      h("li", {},
        h("a", { href: "/ask/" + encodeURIComponent(one.id), "data-item": "", "aria-current": one.id === open() && "page" }, one.title || one.id),
        h("button", { type: "button", class: "plain", "aria-label": t("ask.rename", { title: one.title }), onclick: () => rename(one) }, "✎"),
        h("button", { type: "button", class: "plain", "aria-label": t("ask.delete", { title: one.title }), onclick: () => remove(one.id) }, "×"))));
  };
  const load = async (further = false) => {
    const now = ++turn;
    const found = await call("list-conversations", { query: { q: search.value.trim(), limit: 50, cursor: further ? cursor : "" } }).catch(() => null);
    if (!found || now !== turn) return; // it is loaded with the next answer, or other words are looked for
    known = further ? [...known, ...found.data] : found.data;
    cursor = found.next_cursor ?? "";
    more.hidden = !cursor;
    draw();
  };
  const remove = (/** @type {string} */ id) =>
    confirm({ title: t("ask.delete.title"), hint: t("ask.delete.sure"), label: t("ask.delete.button") }, async () => {
      await call("delete-conversation", { path: { id } });
      known = known.filter((one) => one.id !== id);
      draw();
      if (id === open()) gone();
    });
  const rename = (/** @type {{id: string, title: string}} */ one) => {
    const field = h("input", { value: one.title, maxlength: 200, required: true, "aria-label": t("ask.title") });
    const form = h("form", { method: "dialog", onsubmit: () => void attempt(async () => {
      Object.assign(one, await call("rename-conversation", { path: { id: one.id }, body: { title: field.value } }));
      draw();
    }) }, h("h2", {}, t("ask.title")), field, h("div", { class: "row" }, h("button", { class: "first" }, t("save")), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel"))));
    const dialog = openDialog(t("ask.title"), form);
    field.select();
  };
  const folded = h("details", { open: wide.matches }, h("summary", {}, t("ask.conversations")), h("a", { class: "button", href: "/ask" }, t("ask.new")), search, none, list, more);
  wide.onchange = () => (folded.open = wide.matches);
  return { element: h("aside", { class: "conversations", "aria-label": t("ask.conversations") }, folded), load };
}
