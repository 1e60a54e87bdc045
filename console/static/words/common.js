// Words that several pages have.

/** @type {<K extends string>(table: Record<K, [string, string]>) => Record<K, [string, string]>} */
export const table = (entries) => entries;

export const common = table({
  "ask": ["Ask", "Fragen"],
  "documents": ["Documents", "Dokumente"],
  "skip": ["Skip to the content", "Zum Inhalt springen"],
  "pages": ["Pages", "Seiten"],
  "theme": ["Theme", "Farben"],
  "theme.system": ["As the system", "Wie das System"],
  "theme.light": ["Light", "Hell"],
  "theme.dark": ["Dark", "Dunkel"],
  "language": ["Language", "Sprache"],
  "sign_out": ["Sign out", "Abmelden"],
  "api": ["API reference", "API-Referenz"],
  "close": ["Close", "Schließen"],
  "cancel": ["Cancel", "Abbrechen"],
  "copied": ["Copied", "Kopiert"],
  "confirm.type": ["Type “{word}” to confirm", "Zur Bestätigung „{word}“ eingeben"],
  "more": ["Show more", "Mehr anzeigen"],
  "retry": ["Try again", "Erneut versuchen"],
  "menu": ["Menu", "Menü"],
  "help": ["Keyboard shortcuts", "Tastenkürzel"],
  "help.question": ["Write a question", "Eine Frage schreiben"],
  "help.next": ["Next in the list", "Nächstes in der Liste"],
  "help.previous": ["Previous in the list", "Voriges in der Liste"],
  "help.open": ["Open what is chosen", "Öffnen, was ausgewählt ist"],
  "help.help": ["Show this list", "Diese Liste zeigen"],
  "help.close": ["Close a panel", "Ein Fenster schließen"],
  "error.network": ["Cairn cannot be reached. It is tried again.", "Cairn ist nicht erreichbar. Es wird erneut versucht."],
  "error.page": ["This page does not exist.", "Diese Seite gibt es nicht."],
  "signin.title": ["Sign in to Cairn", "Bei Cairn anmelden"],
  "signin.key": ["API key", "API-Schlüssel"],
  "signin.button": ["Sign in", "Anmelden"],
  "signin.hint": ["“cairn up” prints a link that signs a browser in, and the file of the admin key. Whoever runs this Cairn gives you a key.", "„cairn up“ zeigt einen Link, der einen Browser anmeldet, und die Datei des Admin-Schlüssels. Einen Schlüssel gibt, wer dieses Cairn betreibt."],
  "signin.ended": ["Your session has ended. Sign in again; the page comes back as it was.", "Die Sitzung ist abgelaufen. Nach der Anmeldung ist die Seite wieder da."],
});
