// Markdown of answers as elements. Only what is listed here becomes an element; everything
// else, HTML too, is shown as the text that it is.

import { h } from "./dom.js";
import { inline } from "./inline.js";

/** @typedef {import("./inline.js").Marks} Marks */

/** Of a text that cites nothing. @type {Marks} */
export const plain = { citation: (_, rank) => document.createTextNode(rank), web: (_, title) => document.createTextNode(title) };

/**
 * Returns the blocks of a text: those before the last never change when text is appended.
 * @param {string} text
 * @returns {string[]}
 */
export function blocks(text) {
  /** @type {string[]} */
  const found = [];
  /** @type {string[]} */
  let open = [];
  let fence = "";
  const close = () => {
    if (open.length) found.push(open.join("\n"));
    open = [];
  };
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence) {
      open.push(line);
      if (mark && mark.startsWith(fence) && line.trim() === mark) {
        fence = "";
        close();
      }
    } else if (mark) {
      close();
      fence = mark;
      open.push(line);
    } else if (line.trim() === "" && !/^(\s*([-*+]|\d+[.)])\s|\s{2,}\S)/.test(open.at(-1) ?? "")) {
      close();
    } else if (line.trim() === "") {
      open.push(""); // between items of a list
    } else {
      if (open.length && open.at(-1) === "" && !/^(\s*([-*+]|\d+[.)])\s|\s{2,}\S)/.test(line)) close();
      if (/^ {0,3}#{1,6}\s/.test(line)) close();
      open.push(line);
      if (/^ {0,3}#{1,6}\s/.test(line)) close();
    }
  }
  close();
  return found;
}

/**
 * Returns the element of a block.
 * @param {string} block
 * @param {Marks} marks
 * @returns {HTMLElement}
 */
export function render(block, marks) {
  const lines = block.split("\n");
  const first = lines[0];
  const fence = /^ {0,3}(`{3,}|~{3,})\s*(\S*)/.exec(first);
  if (fence) {
    const closed = lines.length > 1 && (lines.at(-1) ?? "").trim().startsWith(fence[1]);
    return code(lines.slice(1, closed ? -1 : undefined).join("\n"), fence[2]);
  }
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(first);
  if (heading) {
    const level = Math.min(heading[1].length + 2, 6); // the page has the levels above
    return h(/** @type {"h3"} */ (`h${level}`), {}, inline(heading[2], marks));
  }
  if (/^ {0,3}([-*_])( *\1){2,} *$/.test(first) && lines.length === 1) return h("hr");
  if (/^ {0,3}>/.test(first)) {
    const inner = lines.map((line) => line.replace(/^ {0,3}> ?/, "")).join("\n");
    return h("blockquote", {}, ...blocks(inner).map((b) => render(b, marks)));
  }
  if (lines.length > 1 && first.includes("|") && /^[\s|:-]+$/.test(lines[1]) && lines[1].includes("-")) return table(lines, marks);
  if (isItem(first)) return list(lines, marks);
  const items = lines.findIndex((line, i) => i > 0 && isItem(line));
  if (items > 0) {
    return h("div", {}, paragraph(lines.slice(0, items), marks), list(lines.slice(items), marks));
  }
  return paragraph(lines, marks);
}

/**
 * @param {string[]} lines
 * @param {Marks} marks
 */
function paragraph(lines, marks) {
  /** @type {(Node | string)[]} */
  const parts = [];
  lines.forEach((line, i) => {
    if (i > 0) parts.push(/( {2}|\\)$/.test(lines[i - 1]) ? h("br") : " ");
    parts.push(...inline(line.replace(/( {2,}|\\)$/, "").trim(), marks));
  });
  return h("p", {}, ...parts);
}

/**
 * @param {string} text
 * @param {string} name of its language
 */
function code(text, name) {
  return h("pre", { tabindex: 0, role: "group", "aria-label": name || "code" }, h("code", {}, text));
}

const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

/** @param {string} line */
function isItem(line) {
  return item.test(line);
}

/**
 * @param {string[]} lines
 * @param {Marks} marks
 * @returns {HTMLElement}
 */
function list(lines, marks) {
  const [, indent, bullet] = item.exec(lines[0]) ?? ["", "", "-"];
  const numbered = /\d/.test(bullet);
  const made = numbered ? h("ol", { start: parseInt(bullet, 10) }) : h("ul");
  /** @type {string[]} */
  let inner = [];
  /** @type {HTMLLIElement | null} */
  let open = null;
  const close = () => {
    if (open && inner.some((line) => line.trim())) {
      const depth = Math.min(...inner.filter((line) => line.trim()).map((line) => line.search(/\S/)));
      for (const block of blocks(inner.map((line) => line.slice(depth)).join("\n"))) open.append(render(block, marks));
    }
    inner = [];
  };
  for (const line of lines) {
    const found = item.exec(line);
    if (found && found[1].length <= indent.length) {
      close();
      open = h("li", {}, ...inline(found[3], marks));
      made.append(open);
    } else inner.push(line);
  }
  close();
  return made;
}

/**
 * @param {string[]} lines
 * @param {Marks} marks
 */
function table(lines, marks) {
  const cells = (/** @type {string} */ line) =>
    line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const right = cells(lines[1]).map((mark) => /^-+:$/.test(mark));
  const row = (/** @type {string} */ line, /** @type {"th" | "td"} */ tag) =>
    h("tr", {}, ...cells(line).map((cell, i) => h(tag, { class: right[i] && "number", scope: tag === "th" && "col" }, ...inline(cell, marks))));
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": cells(lines[0]).join(", ") },
    h("table", {}, h("thead", {}, row(lines[0], "th")), h("tbody", {}, ...lines.slice(2).map((line) => row(line, "td")))));
}
