// The pages of syncs: all of them with the connections that they use, and one.

import { openSync } from "../sync.js";
import { openSyncs } from "../syncs_list.js";

/** @type {import("../router.js").Open} */
export function open([id]) {
  return id ? openSync(id) : openSyncs();
}
