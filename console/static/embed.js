// The chat of an agent on a page of another site:
//   <script src="https://cairn.example.com/embed.js" data-agent="SLUG" data-user-token="JWT" defer></script>
// It adds a button and a frame of Cairn's origin below one element with a shadow root, and reads
// nothing of the page but the custom properties --cairn-*. docs/agents.md describes them.

(() => {
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  const slug = script?.dataset.agent;
  if (!script || !slug) {
    console.error("cairn: the script needs the attribute data-agent");
    return;
  }
  const { origin } = new URL(script.src);
  const given = script.dataset;
  const language = (given.lang || document.documentElement.lang || navigator.language).slice(0, 2);
  const words = language === "de" ? { open: "Chat öffnen", close: "Chat schließen", chat: "Chat" } : { open: "Open the chat", close: "Close the chat", chat: "Chat" };
  const memory = "cairn.embed." + slug;
  const themed = ["accent", "on-accent", "paper", "sheet", "ink", "quiet", "line", "soft", "font", "scheme"];

  const style = new CSSStyleSheet();
  style.replaceSync(`
    :host { all: initial; position: fixed; inset: auto var(--cairn-right, 1.25rem) var(--cairn-bottom, 1.25rem) auto; z-index: var(--cairn-layer, 2147483000); }
    [hidden] { display: none !important; }
    button { display: block; margin-left: auto; width: 3.5rem; height: 3.5rem; border: 0; border-radius: var(--cairn-round, 50%); cursor: pointer;
      background: var(--cairn-accent, #1f6a5a); color: var(--cairn-on-accent, #fff); box-shadow: 0 .25rem 1rem rgb(0 0 0 / .25); }
    button:focus-visible { outline: 3px solid var(--cairn-accent, #1f6a5a); outline-offset: 3px; }
    svg { width: 1.75rem; height: 1.75rem; fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; vertical-align: middle; }
    iframe { display: block; width: min(var(--cairn-width, 26rem), calc(100vw - 2.5rem)); height: min(var(--cairn-height, 40rem), calc(100vh - 7rem)); margin-bottom: .75rem;
      border: 1px solid rgb(128 128 128 / .4); border-radius: .75rem; background: Canvas; box-shadow: 0 .5rem 2rem rgb(0 0 0 / .25); }
    @media (max-width: 30rem) { iframe { width: calc(100vw - 2.5rem); height: calc(100vh - 6.5rem); } }
  `);

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [style];
  const frame = document.createElement("iframe");
  frame.src = `${origin}/agents/${encodeURIComponent(slug)}/frame`;
  frame.title = given.title || words.chat;
  frame.allow = "clipboard-write";
  frame.hidden = true;
  const button = document.createElement("button");
  button.type = "button";
  button.hidden = true; // until the frame shows the chat: before, the keys of a person would be lost
  button.append(icon());
  root.append(frame, button);

  /** Returns the picture of the button. */
  function icon() {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", "M4 5h16v11H9l-5 4z");
    svg.append(path);
    return svg;
  }

  /** Returns how the page wants the chat to look. */
  function theme() {
    const style = getComputedStyle(host);
    return Object.fromEntries(themed.map((name) => [name, style.getPropertyValue("--cairn-" + name).trim()]).filter(([, value]) => value));
  }

  /** Keeps whether the chat is open, for the next page of this site. @param {string} state */
  function remember(state) {
    try {
      sessionStorage.setItem(memory, state);
    } catch {
      // A browser that stores nothing: the chat is closed on the next page.
    }
  }

  function wasOpen() {
    try {
      return sessionStorage.getItem(memory) === "open";
    } catch {
      return false;
    }
  }

  /** @param {Record<string, unknown>} message */
  const tell = (message) => frame.contentWindow?.postMessage(message, origin);

  /** @param {boolean} open @param {boolean} [byPerson] */
  function show(open, byPerson) {
    frame.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    button.setAttribute("aria-label", open ? words.close : words.open);
    if (!byPerson) return;
    remember(open ? "open" : "closed");
    if (!open) button.focus();
    else {
      frame.focus();
      tell({ cairn: "focus" });
    }
  }

  button.addEventListener("click", () => show(frame.hidden, true));
  root.addEventListener("keydown", (event) => {
    if (/** @type {KeyboardEvent} */ (event).key === "Escape" && !frame.hidden) show(false, true);
  });
  addEventListener("message", (message) => {
    if (message.source !== frame.contentWindow || message.origin !== origin) return;
    if (message.data?.cairn === "close") show(false, true);
    if (message.data?.cairn === "ready") tell({ cairn: "open", token: script.dataset.userToken ?? "", theme: theme() });
    if (message.data?.cairn !== "shown") return;
    button.hidden = false;
    show(wasOpen());
  });
  const add = () => document.body.append(host);
  if (document.body) add();
  else addEventListener("DOMContentLoaded", add, { once: true });
})();
