// The words of the page to ask on while there are no documents.

import { table } from "./common.js";

export const first = table({
  "first.drop": ["There are no documents yet. Drop your first one.", "Noch gibt es keine Dokumente. Das erste ablegen."],
  "first.samples": ["Load the sample documents", "Beispieldokumente laden"],
  "first.ready": ["The samples are ready. Ask them:", "Die Beispiele sind bereit. Fragen an sie:"],
});
