// The page of the API keys of the workspace.

import { h } from "../dom.js";
import { keys } from "../keys.js";
import { t } from "../language.js";

/** @type {import("../router.js").Open} */
export function open() {
  const { element, stop } = keys("");
  return { title: t("keys"), element: h("div", { class: "padded documents" }, h("h1", {}, t("keys")), element), stop };
}
