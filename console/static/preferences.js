// What the browser keeps: how this reader likes the console, and nothing of the data.

/** @typedef {"theme" | "language" | "project" | "columns"} Preference */

/**
 * @param {Preference} name
 * @returns {string} "" = none
 */
export function preference(name) {
  try {
    return localStorage.getItem("cairn." + name) ?? "";
  } catch {
    return ""; // a browser that stores nothing
  }
}

/**
 * @param {Preference} name
 * @param {string} value "" = none
 */
export function setPreference(name, value) {
  try {
    if (value) localStorage.setItem("cairn." + name, value);
    else localStorage.removeItem("cairn." + name);
  } catch {
    // A browser that stores nothing: it is for this page alone.
  }
  if (name === "theme") applyTheme();
}

/** Shows the theme that was chosen, or the one of the system. */
export function applyTheme() {
  const theme = preference("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}
