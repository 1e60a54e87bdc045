// The console: who is signed in, the frame around the pages, and the page of the address.

import { APIError, call, reasonOf, useSession } from "./api.js";
import { accessPages, allowedPages } from "./access_pages.js";
import { showFailure } from "./action.js";
import { announce, fill, h } from "./dom.js";
import { language, languages, setLanguage, t } from "./language.js";
import { applyTheme, preference, setPreference } from "./preferences.js";
import { followLink, navigate, pageOf } from "./router.js";
import { help, listKeys } from "./keyboard.js";

/** @typedef {import("./router.js").Page} Page */

const main = h("main", { id: "main", tabindex: -1 });
const links = /** @type {const} */ ([
  ["ask", "/ask"],
  ["documents", "/documents"],
  ["runs", "/runs"],
  ["imports", "/imports"],
  ["evaluations", "/evaluations"],
  ["projects", "/projects"],
  ["operations", "/operations"],
]);
const renewal = 3_600_000; // milliseconds; a session lasts 12 hours from its last renewal

/** @type {typeof import("./sign_in.js").signIn} */
const signIn = async (...given) => (await import("./sign_in.js")).signIn(...given);

/** @type {Page | null} */
let page = null;
let opening = 0;

/** Shows the page of the address; until it is there, the one before is busy. */
async function show() {
  const [first, ...path] = location.pathname.slice(1).split("/").map(decodeURIComponent);
  const query = new URLSearchParams(location.search);
  for (const link of document.querySelectorAll("nav a")) {
    const leadsTo = link.getAttribute("href");
    const page = first === "syncs" ? "imports" : first || "ask";
    const current = leadsTo === "/" + page || link.hasAttribute("data-access") && accessPages.some(([name]) => name === first);
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const turn = ++opening;
  page?.stop?.();
  page = null;
  main.ariaBusy = "true";
  try {
    const module = await pageOf(first);
    const opened = module ? await module.open(path, query) : { title: t("error.page"), element: h("div", { class: "padded" }, h("p", {}, t("error.page"))) };
    if (turn !== opening) {
      opened.stop?.();
      return;
    }
    page = opened;
    fill(main, opened.element);
    document.title = `${opened.title} · Cairn`;
    announce(opened.title);
  } catch (failure) {
    if (turn === opening) fill(main, h("div", { class: "padded" }, failed(failure, failure instanceof APIError ? show : () => location.reload(), path.length ? links.find(([, to]) => to === "/" + first) : undefined)));
  } finally {
    if (turn === opening) main.ariaBusy = null;
  }
}

/**
 * Returns what says that something could not be read, with a button to try again and the way back.
 * @param {unknown} failure
 * @param {() => void} again
 * @param {typeof links[number]} [back]
 */
function failed(failure, again, back) {
  return h("div", { class: "problem", role: "alert" }, back && h("p", {}, h("a", { href: back[1] }, "‹ ", t(back[0]))), h("p", {}, reasonOf(failure)), h("button", { type: "button", onclick: again }, t("retry")));
}

/** Returns the link to the pages of people and rights; false if none of them is for this reader. */
function accessLink() {
  const [first] = allowedPages();
  return first !== undefined && h("a", { href: "/" + first, "data-access": true }, t("access"));
}

/** @param {{user: string, workspace: string}} session */
function frame(session) {
  const theme = h("select", { "aria-label": t("theme"), onchange: () => setPreference("theme", theme.value) },
    ...(/** @type {const} */ (["system", "light", "dark"])).map((name) =>
      h("option", { value: name === "system" ? "" : name, selected: preference("theme") === (name === "system" ? "" : name) }, t(`theme.${name}`))));
  const tongue = h("select", { "aria-label": t("language"), onchange: () => setLanguage(/** @type {"en"} */ (tongue.value)) },
    ...languages.map((name) => h("option", { value: name, lang: name, selected: language() === name }, name === "en" ? "English" : "Deutsch")));
  const out = async () => {
    const next = await call("sign-out");
    location.assign(next?.address ?? "/"); // that of the identity provider, which sends the browser back
  };
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main" }, t("skip")),
    h("header", { class: "top" },
      h("a", { class: "brand", href: "/ask" }, h("img", { src: "/console/icon.svg", alt: "", width: 24, height: 24 }), "Cairn"),
      h("nav", { "aria-label": t("pages") }, ...links.map(([name, path]) => h("a", { href: path }, t(name))), accessLink()),
      h("details", { class: "menu" }, h("summary", {}, session.user || t("menu")),
        h("div", {}, h("p", { class: "quiet" }, session.workspace), h("label", {}, t("theme"), theme), h("label", {}, t("language"), tongue),
          h("a", { href: "/docs", target: "_blank", rel: "noopener" }, t("api")),
          h("button", { type: "button", class: "plain", onclick: help }, t("help")),
          h("button", { type: "button", class: "plain", onclick: out }, t("sign_out"))))),
    main,
    h("p", { id: "said", role: "status", class: "unseen" }),
  );
}

async function start() {
  void pageOf(location.pathname.split("/")[1])?.catch(() => {}); // it loads meanwhile; show says what is wrong
  applyTheme();
  document.documentElement.lang = language();
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  const why = given.get("refused");
  if (token || why) history.replaceState(null, "", location.pathname + location.search); // it is used once, and in no history
  let refused = why ? t(why === "forbidden" || why === "unavailable" ? `signin.${why}` : "signin.unauthorized") : "";
  let session = token ? await call("sign-in", { body: { token } }).catch((failure) => void (refused = reasonOf(failure))) : null;
  session = session?.signedIn ? session : await call("get-session");
  const methods = session.methods;
  if (!session.signedIn) session = await signIn(t("signin.hint"), methods, refused);
  useSession(session, () => void signIn(t("signin.ended"), methods).then(() => location.reload()));
  frame(session);
  setInterval(() => void call("get-session").catch(() => {}), renewal);
  addEventListener("popstate", () => void show());
  addEventListener("error", ({ error }) => error && showFailure(reasonOf(error)));
  addEventListener("unhandledrejection", ({ reason }) => showFailure(reasonOf(reason)));
  document.addEventListener("click", followLink);
  document.addEventListener("keydown", listKeys(() => navigate("/ask")));
  await show();
}

start().catch((failure) => document.body.replaceChildren(h("main", { class: "padded" }, failed(failure, () => location.reload()))));
