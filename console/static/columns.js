// The choice of the columns of a table. The browser keeps it.

import { h } from "./dom.js";
import { t } from "./language.js";
import { preference, setPreference } from "./preferences.js";

/** @typedef {{name?: string, title: string, hidden?: boolean}} Column one without a name is always shown */

/**
 * Hides the columns that this reader does not want, and returns the choice of them.
 * @param {Column[]} columns
 * @param {() => void} changed
 */
export function columnChoice(columns, changed) {
  const named = columns.filter((one) => one.name);
  const wanted = preference("columns");
  if (wanted) for (const one of named) one.hidden = !wanted.split(",").includes(one.name ?? "");
  const boxes = named.map((one) => {
    const box = h("input", { type: "checkbox", checked: !one.hidden, onchange: () => {
      one.hidden = !box.checked;
      setPreference("columns", named.filter((each) => !each.hidden).map((each) => each.name).join(",") || "none");
      changed();
    } });
    return h("label", { class: "choice" }, box, one.title);
  });
  return h("details", { class: "menu" }, h("summary", {}, t("columns")), h("div", {}, ...boxes));
}
