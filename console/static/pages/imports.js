// The pages of imports: all of them, and one.

import { openImport } from "../import.js";
import { openImports } from "../imports_list.js";

/** @type {import("../router.js").Open} */
export function open([id]) {
  return id ? openImport(id) : openImports();
}
