// The German words of causes and warnings, by their codes. The API has sentences in English, which
// name the file, the limit or the service.

import { language } from "../language.js";

/** @type {Record<string, string>} */
const german = {
  "malformed": "nicht lesbar",
  "unauthorized": "nicht angemeldet",
  "forbidden": "nicht erlaubt",
  "not_found": "nicht gefunden",
  "method_not_allowed": "so nicht abrufbar",
  "conflict": "widerspricht dem jetzigen Stand",
  "gone": "nicht mehr vorhanden",
  "too_large": "zu groß",
  "invalid": "ungültige Angabe",
  "rate_limited": "zu viele Anfragen",
  "limit_reached": "Grenze erreicht",
  "canceled": "abgebrochen",
  "provider_failed": "ein Modell oder ein anderer Dienst ist gescheitert",
  "needs_component": "ein Programm oder ein Modell fehlt",
  "unavailable": "zurzeit nicht erreichbar",
  "internal": "Fehler in Cairn",
  "empty": "kein Text enthalten",
  "unsupported_format": "Dateiart wird nicht gelesen",
  "encrypted": "Kennwort nötig",
  "corrupt": "Datei beschädigt",
  "parse_limit": "Auslesen zu aufwendig",
  "pii_found": "personenbezogene Daten gefunden",
  "consent_missing": "Einwilligung fehlt",
  "rejected": "Schadsoftware gefunden",
  "step_failed": "ein Schritt des Projekts ist gescheitert",
  "step_rejected": "ein Schritt des Projekts hat es abgelehnt",
  "unknown_characters": "Zeichen ohne Bedeutung",
  "unreadable_page": "Seite nicht lesbar",
  "second_reader": "mit dem Ersatzprogramm gelesen",
  "formulas_not_computed": "Formeln ohne Wert",
  "preview": "nur die Vorschau gelesen",
  "attachments_not_read": "Anhänge nicht gelesen",
  "includes_not_read": "eingebundene Dateien nicht gelesen",
  "scripts_not_run": "Skripte der Seite nicht ausgeführt",
  "text_changed": "Text von einem Schritt geändert",
  "step_left_out": "ein Schritt des Projekts wurde ausgelassen",
};

/**
 * Returns why something failed or waits, or what was read with doubt: in German the words for
 * its code stand before the sentence of the API.
 * @param {{code?: string, message: string} | null | undefined} problem
 */
export function causeOf(problem) {
  if (!problem) return "";
  const words = language() === "de" && german[problem.code ?? ""];
  return words ? `${words} (${problem.message})` : problem.message;
}
