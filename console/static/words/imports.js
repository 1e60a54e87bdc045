// The words of the pages of imports.

import { table } from "./common.js";

export const imports = table({
  "imp.retry": ["Retry all failed", "Alle fehlgeschlagenen erneut versuchen"],
  "imp.source": ["Source", "Quelle"],
  "imp.objects": ["Objects", "Objekte"],
  "imp.speed": ["Rate", "Tempo"],
  "imp.dry": ["check", "Prüfung"],
  "imp.counts": ["{published} published, {skipped} unchanged, {failed} failed of {all}", "{published} fertig, {skipped} unverändert, {failed} fehlgeschlagen von {all}"],
  "imp.would": ["{all} found: {remaining} to import, {skipped} unchanged, {failed} failed", "{all} gefunden: {remaining} zu importieren, {skipped} unverändert, {failed} fehlgeschlagen"],
  "imp.vanished": [", {n} vanished", ", {n} verschwunden"],
  "imp.rate": ["{n} documents/s", "{n} Dokumente/s"],
  "imp.eta": ["{time} left", "noch {time}"],
  "imp.none": ["No imports yet. Open “New import”, name a source and press Check: it takes in nothing yet.", "Noch keine Importe. Unter „Neuer Import“ eine Quelle angeben und auf „Prüfen“ drücken: Das liest noch nichts ein."],
  "imp.new": ["New import", "Neuer Import"],
  "imp.secret": ["Name of the secret", "Name des Geheimnisses"],
  "imp.value": ["Its value, if it is new", "Sein Wert, falls es neu ist"],
  "imp.value.hint": ["Stored encrypted, replaces a secret of this name, and is never shown again. A public bucket needs none: choose anonymous.", "Wird verschlüsselt gespeichert, ersetzt ein Geheimnis dieses Namens und wird nie wieder gezeigt. Ein öffentlicher Bucket braucht keines: anonymous wählen."],
  "imp.include": ["Include (patterns, one a line)", "Einschließen (Muster, je Zeile eines)"],
  "imp.exclude": ["Exclude (patterns, one a line)", "Ausschließen (Muster, je Zeile eines)"],
  "imp.tags": ["Tags, one a line", "Schlagwörter, je Zeile eines"],
  "imp.remove_vanished": ["Remove documents of vanished objects", "Dokumente verschwundener Objekte entfernen"],
  "imp.check": ["Check", "Prüfen"],
  "imp.start": ["Start", "Starten"],
  "imp.cancel": ["Cancel import", "Import abbrechen"],
  "imp.cancel.title": ["Cancel this import?", "Diesen Import abbrechen?"],
  "imp.cancel.hint": ["It starts no more objects. Documents that it has published remain.", "Er beginnt keine weiteren Objekte. Veröffentlichte Dokumente bleiben."],
  "imp.failures": ["Failures", "Fehler"],
  "imp.none_failed": ["Nothing has failed.", "Nichts ist fehlgeschlagen."],
});
