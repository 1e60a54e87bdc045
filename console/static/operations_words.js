// The words of the pages of operations and usage, beside those of all pages.

import { inLanguage, t as common } from "./language.js";
import { operations as words } from "./words/operations.js";

/** @type {(key: keyof typeof words | import("./language.js").Word, values?: Record<string, string | number>) => string} */
export const t = (key, values) => (key in words ? inLanguage(words[/** @type {keyof typeof words} */ (key)], values) : common(/** @type {import("./language.js").Word} */ (key), values));
