// The words of the audit. They are loaded with that page alone.

import { table } from "./common.js";

export const audit = table({
  "audit": ["Audit", "Prüfprotokoll"],
  "audit.hint": ["Every text that left, every change, sign-in and refusal. Each entry has the hash of the one before.", "Jeder Text, der herausging, jede Änderung, Anmeldung und Ablehnung. Jeder Eintrag enthält den Hash des vorigen."],
  "audit.seq": ["No.", "Nr."],
  "audit.at": ["Time", "Zeit"],
  "audit.actor": ["Actor", "Wer"],
  "audit.action": ["Action", "Aktion"],
  "audit.object": ["Object", "Objekt"],
  "audit.outcome": ["Outcome", "Ergebnis"],
  "audit.address": ["Address", "Adresse"],
  "audit.details": ["Details", "Einzelheiten"],
  "audit.since": ["From", "Von"],
  "audit.until": ["Before", "Vor"],
  "audit.none": ["No entries.", "Keine Einträge."],
  "audit.verify": ["Verify", "Prüfen"],
  "audit.whole": ["All {count} entries are as they were written.", "Alle {count} Einträge sind so, wie sie geschrieben wurden."],
  "audit.broken": ["The audit is broken at entry {seq} ({kind}).", "Das Prüfprotokoll ist bei Eintrag {seq} gestört ({kind})."],
});
