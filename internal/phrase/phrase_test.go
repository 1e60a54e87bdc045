package phrase

import (
	"reflect"
	"strings"
	"testing"
)

func TestLanguageOf(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"How many days of leave are there?": "eng", "E-505": "eng", "": "eng", "vacation": "eng",
		"Wie viele Urlaubstage habe ich?": "deu", "Wer haftet?": "deu", "und in Frankreich?": "deu", "WAS KOSTET DIE LIZENZ": "deu",
		"Quel est le délai de préavis ?": "fra", "Combien de jours de congé ?": "fra", "Qu'est-ce que l'article 5 dit ?": "fra",
		"¿Cuántos días de vacaciones hay?": "spa", "cuando vence el contrato": "spa",
		"Quanti giorni di ferie ci sono?": "ita", "Qual è il prezzo della licenza?": "ita",
		"Quantos dias de férias existem?": "por", "Qual é o prazo de entrega?": "por",
		"Hoeveel vakantiedagen heb ik?": "nld", "Wat kost de licentie van het pakket?": "nld",
		"Сколько дней отпуска?": "eng", "有多少天假期？": "eng",
		"What does Die Zeit say about the merger?": "eng",
	} {
		if got := languageOf(question); got != want {
			t.Errorf("%q is in %s, want %s", question, got, want)
		}
	}
}

// TestPhrases compares each language with English: it has every phrase, with as many texts in it.
func TestPhrases(t *testing.T) {
	t.Parallel()
	if len(all) != len(functionWords) {
		t.Errorf("%d languages have phrases, %d are told apart", len(all), len(functionWords))
	}
	for language, phrases := range all {
		v, of := reflect.ValueOf(phrases), reflect.ValueOf(all[english])
		for i := range v.NumField() {
			text, want := v.Field(i).String(), of.Field(i).String()
			if text == "" || strings.Count(text, "%s") != strings.Count(want, "%s") || language != english && text == want {
				t.Errorf("%s, %s: %q; in English %q", language, v.Type().Field(i).Name, text, want)
			}
		}
	}
}
