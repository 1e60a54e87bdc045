// The words of the personal data of a project's documents. They are loaded with that page alone.

import { table } from "./common.js";

export const privacy = table({
  "privacy.off": ["This project looks for no personal data (privacy.pii: off).", "Dieses Projekt sucht nicht nach personenbezogenen Daten (privacy.pii: off)."],
  "privacy.detect": ["This project looks for personal data in new documents, and changes nothing (privacy.pii: detect).", "Dieses Projekt sucht in neuen Dokumenten nach personenbezogenen Daten und ändert nichts (privacy.pii: detect)."],
  "privacy.redact": ["This project replaces personal data in new documents by placeholders (privacy.pii: redact).", "Dieses Projekt ersetzt personenbezogene Daten in neuen Dokumenten durch Platzhalter (privacy.pii: redact)."],
  "privacy.reject": ["This project refuses new documents with personal data (privacy.pii: reject).", "Dieses Projekt lehnt neue Dokumente mit personenbezogenen Daten ab (privacy.pii: reject)."],
  "privacy.change": ["Change the settings", "Einstellungen ändern"],
  "privacy.reading": ["{n} documents read …", "{n} Dokumente gelesen …"],
  "privacy.read": ["{n} documents read; {found} of them have personal data.", "{n} Dokumente gelesen; {found} davon haben personenbezogene Daten."],
  "privacy.none": ["Nothing was found. Documents from before the setting are searched when they are read again.", "Nichts gefunden. Dokumente von vor der Einstellung werden durchsucht, wenn sie neu eingelesen werden."],
  "privacy.none.off": ["Nothing is known, because nothing was looked for. Set privacy.pii to detect, and reindex.", "Nichts ist bekannt, weil nicht gesucht wurde. privacy.pii auf detect setzen und neu indizieren."],
  "privacy.kinds": ["Kinds", "Arten"],
  "privacy.kind": ["Kind", "Art"],
  "privacy.places": ["Places", "Fundstellen"],
  "privacy.documents": ["Documents", "Dokumente"],
  "privacy.document": ["Document", "Dokument"],
  "privacy.first": ["The {n} with the most of {all}.", "Die {n} mit den meisten von {all}."],
});
