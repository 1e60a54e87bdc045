package enrich_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/enrich"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"English":             {"The employees of the company may take thirty days of leave in every calendar year, and those who travel often get more.", "eng"},
		"German":              {"Die Beschäftigten der Firma haben in jedem Kalenderjahr Anspruch auf dreißig Tage Urlaub, und wer viel reist, erhält mehr davon.", "deu"},
		"French":              {"Les employés de la société ont droit à trente jours de congé par année civile, et ceux qui voyagent souvent en ont davantage.", "fra"},
		"Dutch":               {"De werknemers van het bedrijf hebben ieder jaar recht op dertig dagen verlof, of op meer, en het was altijd zo dat wie veel reist daar dagen bij krijgt.", "nld"},
		"half English":        {german + "The end of the and to that with which. " + german, "deu"},
		"English names":       {"Die Firmen The Who, Of Monsters and Men, With the Beatles und From the Sky haben ihren Sitz in Berlin, wo ihre Beschäftigten arbeiten und wohnen, und sie stellen jedes Jahr neue Leute ein, die dort auch eine Wohnung bekommen, wenn sie von weit her kommen.", "deu"},
		"English in capitals": {strings.ToUpper(english), "eng"},
		"too short":           {"Hello there", "und"},
		"numbers":             {strings.Repeat("123 456 789\n", 50), "und"},
		"nothing":             {"", "und"},
		"Japanese":            {strings.Repeat("従業員は毎年三十日の休暇を取ることができます。", 4), "jpn"},
		"short Japanese":      {"営業時間は九時から十七時までです。", "jpn"},
		"Chinese":             {strings.Repeat("员工每年可以享受三十天的带薪休假，经常出差的人可以享受更多。", 3), "cmn"},
		"short Korean":        {"영업시간은 아홉 시부터입니다.", "kor"},
		"short Greek":         {"Ανοιχτά κάθε μέρα", "ell"},
		"short Hebrew":        {"פתוח בכל יום", "heb"},
		"short Thai":          {"เปิดทุกวัน", "tha"},
		"short Arabic":        {"تفتح المتاجر أبوابها كل يوم حتى المساء", "arb"},
		"short Ukrainian":     {"Її сім'я їздить на відпочинок щороку.", "ukr"},
		"short Russian":       {"Это объявление для всех, что были здесь", "rus"},
		"a Greek letter":      {"α", "und"},
		"a very long sample":  {strings.Repeat("This sentence is written in plain English and says nothing new at all. ", 100_000), "eng"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := enrich.Language(c.text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

const (
	english = "The employees of the company may take thirty days of leave in every calendar year, and those who travel often get more. "
	table   = "| Region | Net sales | Operating margin | Total comprehensive income |\n| Normandie | 1,406 | 12 % | 88 |\n| La Manche | 911 | 4 % | 31 |\n"
	german  = "Die Beschäftigten der Firma haben in jedem Kalenderjahr Anspruch auf dreißig Tage Urlaub, und wer viel reist, erhält mehr davon. "
	chinese = "员工每年可以享受三十天的带薪休假，经常出差的人可以享受更多。"
	arabic  = "يحق لموظفي الشركة الحصول على ثلاثين يوما من الإجازة في كل سنة، ومن يسافر كثيرا يحصل على المزيد. "
	hebrew  = "עובדי החברה זכאים לשלושים ימי חופשה בכל שנה, ומי שנוסע הרבה מקבל יותר. "
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	long := func(parts ...string) string {
		var text strings.Builder
		for _, part := range parts {
			text.WriteString(strings.Repeat(part, 40))
		}
		return text.String()
	}
	for name, c := range map[string]struct {
		text, document string
		parts          map[string]string
	}{
		"one language is the language of every part, however short": {long(english), "eng", map[string]string{"No.": "eng", english: "eng"}},
		"a part of a mixed document has its own": {long(english, german, english), "eng", map[string]string{
			german: "deu", english: "eng", "12 | 13": "eng",
		}},
		"scripts are told apart": {long(chinese, arabic, hebrew, hebrew, hebrew), "heb", map[string]string{
			chinese: "cmn", arabic: "arb", hebrew: "heb",
		}},
		"one chapter in a long document": {long(strings.Repeat(english, 50), strings.Repeat(german, 20), strings.Repeat(english, 50)), "eng", map[string]string{german: "deu"}},
		"a short document has one":       {german + german, "deu", map[string]string{english: "deu"}},
		"tables of an English document":  {long(english, table), "eng", map[string]string{table: "eng"}},
		"tables of a mixed document":     {long(english, english, german, table), "eng", map[string]string{table: "eng", german: "deu"}},
		"a table of names is no proof":   {long(table), "und", map[string]string{table: "und"}},
		"sentences in cells are":         {long("| 1 | " + german + " | EUR |\n"), "deu", nil},
		"another script is":              {long("| 品名 | ねだん | ポンプ |\n"), "jpn", nil},
		"numbers have none":              {strings.Repeat("123 456 789\n", 500), "und", map[string]string{"1": "und"}},
		"no text":                        {"", "und", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			languages := enrich.NewLanguages(c.text)
			if languages.Document != c.document {
				t.Errorf("the document is %s, want %s", languages.Document, c.document)
			}
			for part, want := range c.parts {
				if got := languages.Of(part); got != want {
					t.Errorf("%q is %s, want %s", part, got, want)
				}
			}
		})
	}
}

func BenchmarkLanguages(b *testing.B) {
	for name, c := range map[string]struct {
		text  string
		parts int
	}{
		"a note of 1,000 characters": {strings.Repeat(english, 8), 1},
		"a page of 3,000 characters": {strings.Repeat(english, 25), 3},
		"a book of 1,000,000":        {strings.Repeat(english, 8000), 1000},
		"a mixed book of 1,000,000":  {strings.Repeat(english, 4000) + strings.Repeat(german, 4000), 1000},
	} {
		b.Run(name, func(b *testing.B) {
			part := strings.Repeat(german, 8)
			for b.Loop() {
				languages := enrich.NewLanguages(c.text)
				for range c.parts {
					languages.Of(part)
				}
			}
		})
	}
}

func TestOtherThan(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		known, question string
		want            bool
	}{
		{"deu", "Which lamp lights the harbour at night?", true},
		{"deu", "Where do I report a broken machine before the end of my shift?", true},
		{"eng", "Wie viele Tage Urlaub haben die Mitarbeiterinnen und Mitarbeiter, und wer genehmigt ihn?", true},
		{"deu", "Wo melde ich eine kaputte Maschine vor dem Ende meiner Schicht?", false},
		{"eng", "Which lamp lights the harbour at night?", false},
		{"deu", "lamp", false},
		{"deu", "Wer ist der Regisseur des Films How the West Was Won aus dem Jahr 1962?", false},
		// Names from English, and languages with the same letters.
		{"rus", "поддержка Wireless Network Manager в ядре", false},
		{"rus", "Библиотека для работы с изображениями", false},
		{"cmn", "Network Manager 的图形界面 for GNOME desktop", false},
		{"rus", "Which lamp lights the harbour at night?", true},
	} {
		if got := enrich.OtherThan(test.known, test.question); got != test.want {
			t.Errorf("beside texts in %s, %q is in another language: %t", test.known, test.question, got)
		}
	}
}

func BenchmarkOtherThan(b *testing.B) {
	for name, question := range map[string]string{
		"in English": "Where do I report a broken machine before the end of my shift?",
		"in German":  "Wo melde ich eine kaputte Maschine vor dem Ende meiner Schicht?",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				enrich.OtherThan("eng", question)
			}
		})
	}
}
