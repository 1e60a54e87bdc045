// The words of the steps of runs. The API has them in English, as Temporal shows them; # stands for a number.

/** @type {Record<string, string>} */
const german = {
  "prepare": "vorbereiten",
  "model call #": "Modellaufruf #",
  "search": "suchen",
  "search the web": "im Web suchen",
  "read the pages": "Seiten lesen",
  "rerank the pages": "Seiten neu ordnen",
  "suggest questions": "Fragen vorschlagen",
  "run the steps before the prompt": "Schritte vor dem Prompt ausführen",
  "run the steps after the answer": "Schritte nach der Antwort ausführen",
  "take notes": "Notizen machen",
  "plan the questions": "Fragen planen",
  "plan round #": "Runde # planen",
  "outline the report": "Bericht gliedern",
  "outline the report by its questions": "Bericht nach den Fragen gliedern",
  "write question # of #": "Frage # von # schreiben",
  "join the report": "Bericht zusammenfügen",
  "save the report": "Bericht speichern",
  "list page #": "Seite # auflisten",
  "list items": "Fragen auflisten",
  "measure": "messen",
  "make the zip": "Zip-Datei erzeugen",
  "write part # of the export": "Teil # des Exports schreiben",
  "look for what vanished": "Verschwundenes suchen",
};

/**
 * Returns the name of a step in a language: that of the API where it has no other.
 * @param {string} name
 * @param {string} language
 */
export function stepName(name, language) {
  const numbers = name.match(/\d+/g) ?? [];
  const known = language === "de" && german[name.replace(/\d+/g, "#")];
  return known ? known.replace(/#/g, () => numbers.shift() ?? "") : name;
}
