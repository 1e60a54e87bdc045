// The page in a frame: what it is told by the page around it, which runs /embed.js, and what it
// tells that page.

/**
 * @typedef {object} Given
 * @property {string} token of the user; "" = nobody is signed in
 */

const colours = /** @type {const} */ ({ accent: "--accent", "on-accent": "--on-accent", paper: "--paper", sheet: "--sheet", ink: "--ink", quiet: "--quiet", line: "--line", soft: "--soft" });

/** Sets how the page looks. @param {Record<string, unknown>} theme */
function dress(theme) {
  const style = document.documentElement.style;
  for (const [name, property] of Object.entries(colours)) {
    const value = theme[name];
    if (typeof value === "string" && CSS.supports("color", value)) style.setProperty(property, value);
  }
  if (typeof theme.font === "string" && CSS.supports("font-family", theme.font)) style.setProperty("--agent-font", theme.font);
  if (theme.scheme === "light" || theme.scheme === "dark") document.documentElement.dataset.theme = theme.scheme;
}

/** Tells the page around this one. @param {string} word */
export function tell(word) {
  parent.postMessage({ cairn: word }, "*"); // it holds nothing of a visitor
}

/**
 * Returns what the page around this one gives. The policy of this page lets only pages of listed
 * origins be around it.
 * @returns {Promise<Given>}
 */
export function given() {
  return new Promise((resolve) => {
    if (parent === window) return resolve({ token: "" });
    addEventListener("message", (message) => {
      if (message.source !== parent || message.data?.cairn !== "open") return;
      dress(message.data.theme ?? {});
      resolve({ token: typeof message.data.token === "string" ? message.data.token : "" });
    });
    tell("ready");
  });
}
