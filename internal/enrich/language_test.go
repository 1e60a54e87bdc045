package enrich_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/enrich"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"English":            {"The employees of the company may take thirty days of leave in every calendar year, and those who travel often get more.", "eng"},
		"German":             {"Die Beschäftigten der Firma haben in jedem Kalenderjahr Anspruch auf dreißig Tage Urlaub, und wer viel reist, erhält mehr davon.", "deu"},
		"French":             {"Les employés de la société ont droit à trente jours de congé par année civile, et ceux qui voyagent souvent en ont davantage.", "fra"},
		"too short":          {"Hello there", "und"},
		"numbers":            {strings.Repeat("123 456 789\n", 50), "und"},
		"nothing":            {"", "und"},
		"Japanese":           {strings.Repeat("従業員は毎年三十日の休暇を取ることができます。", 4), "jpn"},
		"a very long sample": {strings.Repeat("This sentence is written in plain English and says nothing new at all. ", 100_000), "eng"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := enrich.Language(c.text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
