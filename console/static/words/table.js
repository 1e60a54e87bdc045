// The words of all pages, each with its English and its German.

import { common } from "./common.js";
import { ask } from "./ask.js";
import { documents } from "./documents.js";
import { runs } from "./runs.js";
import { projects } from "./projects.js";

export const words = {
  ...common,
  ...ask,
  ...documents,
  ...runs,
  ...projects,
};
