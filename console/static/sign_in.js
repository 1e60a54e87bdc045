// The form that signs a browser in with an API key.

import { call, reasonOf } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

/** @type {Promise<any> | null} */
let shown = null;

/**
 * Asks for a key over the page until one is right, and returns the session. The page below
 * stays as it was.
 * @param {string} hint why, and where a key comes from
 * @param {string[]} methods how a browser can sign in: oidc and key
 * @param {string} [refused] why the link that was opened did not sign in
 * @returns {Promise<import("./api.js").Session>}
 */
export function signIn(hint, methods, refused = "") {
  shown ??= new Promise((resolve) => {
    const key = h("input", { type: "password", name: "key", autocomplete: "current-password", required: true, "aria-label": t("signin.key"), placeholder: t("signin.key") });
    const wrong = h("p", { class: "wrong", role: "alert" }, refused);
    const button = h("button", { class: "first" }, t("signin.button"));
    const provider = methods.includes("oidc")
      ? [h("button", { type: "button", class: "first", onclick: () => location.assign("/auth/login?" + new URLSearchParams({ return: location.pathname + location.search })) }, t("signin.provider"))]
      : [];
    const form = h("form", { method: "dialog" }, h("h1", {}, t("signin.title")), ...provider, h("p", {}, hint), key, wrong, button);
    const dialog = h("dialog", { class: "signin", "aria-label": t("signin.title"), oncancel: (/** @type {Event} */ e) => e.preventDefault() }, form);
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      button.disabled = true;
      try {
        const session = await call("sign-in", { body: { key: key.value.trim() } });
        dialog.remove();
        shown = null;
        resolve(session);
      } catch (failure) {
        wrong.textContent = reasonOf(failure);
        key.select();
      }
      button.disabled = false;
    });
    document.body.append(dialog);
    dialog.showModal();
    key.focus();
  });
  return shown;
}
