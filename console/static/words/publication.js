// The words of the publication of a project. They are loaded with that page alone.

import { table } from "./common.js";

export const publication = table({
  "hint": ["A published project is an agent: a page to ask on, a chat for other pages, and an endpoint of the A2A protocol.", "Ein veröffentlichtes Projekt ist ein Agent: eine Seite zum Fragen, ein Chat für andere Seiten und ein Endpunkt des A2A-Protokolls."],
  "visibility": ["Who may ask", "Wer fragen darf"],
  "visibility.public": ["Anybody", "Alle"],
  "visibility.workspace": ["People and keys of the workspace", "Personen und Schlüssel des Arbeitsbereichs"],
  "visibility.help": ["Visitors of a public agent see the documents that the whole workspace may read and that are not classified above the lowest level.", "Besucher eines öffentlichen Agenten sehen die Dokumente, die der ganze Arbeitsbereich lesen darf und die nicht über der niedrigsten Stufe klassifiziert sind."],
  "title": ["Title", "Titel"],
  "title.help": ["The heading of the page", "Die Überschrift der Seite"],
  "slug": ["Address", "Adresse"],
  "slug.help": ["The name in the address: lower case letters, digits, - or _. Default: the id of the project", "Der Name in der Adresse: Kleinbuchstaben, Ziffern, - oder _. Vorgabe: die Id des Projekts"],
  "description": ["Description", "Beschreibung"],
  "description.help": ["What the page says before the first question", "Was vor der ersten Frage auf der Seite steht"],
  "starters": ["Questions to begin with", "Fragen zum Anfangen"],
  "starters.help": ["One in each line, at most 6", "Eine je Zeile, höchstens 6"],
  "avatar": ["Picture", "Bild"],
  "avatar.help": ["At most 8 characters, such as an emoji, or data:image/png;base64,… of at most 64 KB", "Höchstens 8 Zeichen, etwa ein Emoji, oder data:image/png;base64,… mit höchstens 64 KB"],
  "origins": ["Pages that may show the chat", "Seiten, die den Chat zeigen dürfen"],
  "origins.help": ["One origin in each line, such as https://www.example.com", "Eine Herkunft je Zeile, etwa https://www.example.com"],
  "publish": ["Publish", "Veröffentlichen"],
  "save": ["Save", "Speichern"],
  "rotate": ["New secret", "Neues Geheimnis"],
  "secret": ["Secret for the tokens of users", "Geheimnis für die Token der Nutzer"],
  "card": ["Address of the card", "Adresse der Karte"],
  "script": ["Script for other pages", "Skript für andere Seiten"],
  "end": ["End the publication", "Veröffentlichung beenden"],
  "end.hint": ["The address answers nobody from then on. The conversations stay with the project.", "Die Adresse antwortet dann niemandem mehr. Die Unterhaltungen bleiben beim Projekt."],
  "gallery": ["Agents", "Agenten"],
});
