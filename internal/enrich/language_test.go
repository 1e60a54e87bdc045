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
		"short Japanese":     {"営業時間は九時から十七時までです。", "jpn"},
		"Chinese":            {strings.Repeat("员工每年可以享受三十天的带薪休假，经常出差的人可以享受更多。", 3), "cmn"},
		"short Korean":       {"영업시간은 아홉 시부터입니다.", "kor"},
		"short Greek":        {"Ανοιχτά κάθε μέρα", "ell"},
		"short Hebrew":       {"פתוח בכל יום", "heb"},
		"short Thai":         {"เปิดทุกวัน", "tha"},
		"short Arabic":       {"تفتح المتاجر أبوابها كل يوم حتى المساء", "arb"},
		"short Ukrainian":    {"Її сім'я їздить на відпочинок щороку.", "ukr"},
		"short Russian":      {"Это объявление для всех, что были здесь", "rus"},
		"a Greek letter":     {"α", "und"},
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
