// The words of the page that tries steps. They are loaded with that page alone.

import { table } from "./common.js";

export const pipeline = table({
  "hint": ["A step of your own runs at one of four places of ingestion and answering. Set steps in the settings; here a step runs once and changes nothing.", "Ein eigener Schritt läuft an einer von vier Stellen der Aufnahme und des Antwortens. Schritte stehen in den Einstellungen; hier läuft ein Schritt einmal und ändert nichts."],
  "none": ["No steps yet. Write one below, and put it into the settings when it works.", "Noch keine Schritte. Unten einen schreiben, und in die Einstellungen übernehmen, wenn er geht."],
  "saved": ["Saved steps", "Gespeicherte Schritte"],
  "step": ["Step", "Schritt"],
  "document": ["Document", "Dokument"],
  "document.help": ["The id of a document, for extracted and before_embedding", "Die Id eines Dokuments, für extracted und before_embedding"],
  "question": ["Question", "Frage"],
  "question.help": ["For before_prompt and after_answer", "Für before_prompt und after_answer"],
  "answer": ["Answer", "Antwort"],
  "answer.help": ["What the step gets as the answer, for after_answer", "Was der Schritt als Antwort bekommt, für after_answer"],
  "try": ["Try the step", "Schritt ausprobieren"],
  "settings": ["Settings", "Einstellungen"],
  "sent": ["Sent", "Gesendet"],
  "answered": ["Answered", "Geantwortet"],
  "changed": ["It changes something.", "Er ändert etwas."],
  "unchanged": ["It changes nothing.", "Er ändert nichts."],
  "failed": ["It failed: {message}", "Er ist gescheitert: {message}"],
  "took": ["{time}, version {version}", "{time}, Version {version}"],
});
