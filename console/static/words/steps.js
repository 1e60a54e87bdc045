// The words of the steps of runs. The API has them in English, as Temporal shows them; # stands
// for a number and * for a name.

/** @type {Record<string, string>} */
const german = {
  "prepare": "vorbereiten",
  "model call #": "Modellaufruf #",
  "search": "suchen",
  "search the web": "im Web suchen",
  "read the pages": "Seiten lesen",
  "rerank the pages": "Seiten neu ordnen",
  "suggest questions": "Fragen vorschlagen",
  "sum up the conversation": "Unterhaltung zusammenfassen",
  "wait for the attachments": "auf die Anhänge warten",
  "ask the webhooks of the project": "Webhooks des Projekts fragen",
  "run the steps before the prompt": "Schritte vor dem Prompt ausführen",
  "run the steps after the answer": "Schritte nach der Antwort ausführen",
  "prepare *": "* vorbereiten",
  "take the answer of *": "Antwort von * übernehmen",
  "*, call # of #": "*, Aufruf # von #",
  "take notes": "Notizen machen",
  "plan the questions": "Fragen planen",
  "plan round #": "Runde # planen",
  "outline the report": "Bericht gliedern",
  "outline the report by its questions": "Bericht nach den Fragen gliedern",
  "write section # of #": "Abschnitt # von # schreiben",
  "list the notes of section # of #": "Notizen von Abschnitt # von # auflisten",
  "join the report": "Bericht zusammenfügen",
  "save the report": "Bericht speichern",
  "list page #": "Seite # auflisten",
  "import objects #-#": "Objekte #–# importieren",
  "import # large objects from # on": "# große Objekte ab # importieren",
  "look for what vanished": "Verschwundenes suchen",
  "retry what failed": "Fehlgeschlagenes erneut versuchen",
  "note what failed": "Fehlgeschlagenes festhalten",
  "delete the lists of objects": "Objektlisten löschen",
  "start versions": "Fassungen beginnen",
  "begin": "beginnen",
  "fill": "füllen",
  "drop": "verwerfen",
  "list items": "Fragen auflisten",
  "put the items on record": "Fragen festhalten",
  "judge item #": "Frage # beurteilen",
  "measure": "messen",
  "write question # of #": "Frage # von # schreiben",
  "apply the retention to a page": "Aufbewahrung auf eine Seite anwenden",
  "leave out near duplicates": "Beinahe-Dubletten weglassen",
  "store the test set": "Testsatz speichern",
  "make the zip": "Zip-Datei erzeugen",
  "write part # of the export": "Teil # des Exports schreiben",
  "delete the export": "Export löschen",
  "end the access of the person": "Zugriff der Person beenden",
  "stop the questions of the person": "Fragen der Person anhalten",
  "remove the documents of the person": "Dokumente der Person entfernen",
  "remove the conversations of the person": "Unterhaltungen der Person entfernen",
  "remove the runs of the person": "Läufe der Person entfernen",
  "wait for the removals of the documents": "auf das Entfernen der Dokumente warten",
  "remove what came meanwhile": "inzwischen Hinzugekommenes entfernen",
  "overwrite what was removed": "Entferntes überschreiben",
  "stop what runs in the project": "Läufe des Projekts anhalten",
  "remove the documents of the project": "Dokumente des Projekts entfernen",
  "remove the rows of the project": "Zeilen des Projekts entfernen",
};

/**
 * Returns the name of a step in a language: that of the API where it has no other.
 * @param {string} name
 * @param {string} language
 */
export function stepName(name, language) {
  if (language !== "de") return name;
  for (const [english, text] of Object.entries(german)) {
    const found = new RegExp(`^${english.replace(/[#*]/g, (one) => (one === "#" ? "(\\d+)" : "(.+)"))}$`).exec(name);
    let at = 0;
    if (found) return text.replace(/[#*]/g, () => found[++at]);
  }
  return name;
}
