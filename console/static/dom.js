// Elements and their changes. Text is always set as text: no page makes HTML of a string.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an element. A property that begins with "on" is a listener, "class" the classes;
 * the others are attributes. null, undefined and false leave one out, true sets it empty.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  apply(element, properties);
  append(element, children.flat());
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, any>} properties
 */
function apply(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {Element} parent
 * @param {Child[]} children
 */
function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Shows other children in an element.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  keepFocus(parent, () => {
    parent.replaceChildren();
    append(parent, children.flat());
    return parent;
  });
}

/**
 * Draws an element anew. If what had the focus is drawn again, that has it.
 * @param {Element} before
 * @param {() => Element} draw returns what stands in its place
 */
export function keepFocus(before, draw) {
  const had = /** @type {HTMLElement} */ (document.activeElement);
  const inside = before !== had && before.contains(had);
  const now = draw();
  if (!inside || document.activeElement === had) return;
  const again = had.isConnected ? had : [...now.querySelectorAll(had.tagName)].find((one) => nameOf(one) === nameOf(had));
  /** @type {HTMLElement | undefined} */ (again)?.focus({ preventScroll: true });
}

/**
 * Calls back when a text is sent by Enter. Shift and Enter begin a line.
 * @param {HTMLTextAreaElement} field
 * @param {(e: KeyboardEvent) => void} send
 */
export function onEnter(field, send) {
  field.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
    e.preventDefault();
    send(e);
  });
  field.addEventListener("keypress", (e) => {
    if (e.key === "Enter" && !e.shiftKey) e.preventDefault(); // some programs that type send it by itself
  });
}

/** @param {Element} element */
const nameOf = (element) => element.getAttribute("aria-label") ?? element.textContent;

/**
 * Shows a dialog over the page. It is gone when it is closed.
 * @param {string} name for screen readers
 * @param {...(Child | Child[])} children
 */
export function openDialog(name, ...children) {
  const dialog = h("dialog", { "aria-label": name, onclose: () => dialog.remove() }, ...children);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Tells screen readers, in a hidden region that stays.
 * @param {string} sentence
 */
export function announce(sentence) {
  const region = document.getElementById("said");
  if (region) region.textContent = sentence;
}

/**
 * Calls a function at the next frame, once for all calls before it.
 * @param {() => void} draw
 * @returns {() => void}
 */
export function atNextFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}
