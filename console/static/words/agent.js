// The words of the page of an agent.

import { table } from "./common.js";

export const agent = table({
  "placeholder": ["Write a question …", "Eine Frage schreiben …"],
  "starters": ["Questions to begin with", "Fragen zum Anfangen"],
  "new": ["New conversation", "Neue Unterhaltung"],
  "close": ["Close the chat", "Chat schließen"],
  "none": ["There is no such agent.", "Diesen Agenten gibt es nicht."],
  "sign_in": ["This agent is for people of a workspace.", "Dieser Agent ist für Personen eines Arbeitsbereichs."],
  "sign_in.apart": ["Open it in a window of its own to sign in", "Zum Anmelden in einem eigenen Fenster öffnen"],
  "hint": ["Answers are made by a model from documents. Each statement names its source.", "Antworten schreibt ein Modell aus Dokumenten. Jede Aussage nennt ihre Quelle."],
  "share": ["Share", "Teilen"],
  "share.made": ["Whoever has this link can read the conversation until {until}.", "Wer diesen Link hat, kann die Unterhaltung bis {until} lesen."],
  "share.link": ["Link", "Link"],
  "share.days": ["Valid for (days)", "Gültig (Tage)"],
  "share.make": ["Make a link", "Link erzeugen"],
  "share.links": ["Links to this conversation", "Links zu dieser Unterhaltung"],
  "share.until": ["Link, valid until {until}", "Link, gültig bis {until}"],
  "share.withdraw": ["Withdraw", "Zurückziehen"],
  "share.withdrawn": ["The link is withdrawn: it opens nothing any more.", "Der Link ist zurückgezogen: Er öffnet nichts mehr."],
  "shared": ["A shared conversation, readable until {until}", "Eine geteilte Unterhaltung, lesbar bis {until}"],
  "shared.ask": ["Ask this agent yourself", "Diesen Agenten selbst fragen"],
});
