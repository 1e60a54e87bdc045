package words_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/words"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The turbines were overheating; valve MX-4711B.": "the turbin were overh valv mx 4711b",
		"Die Kühlung der Straße":                         "die kuhlung der strass",
		"don't, l’été":                                   "dont lete",
		"知识图谱":                                           "知识 识图 图谱 谱",
		"getUserById, HTTPServer2Go":                     "getuserbyid httpserver2go get user by id http server2 go",
		"PDFs of IDs, iPhone, GetÉtat":                   "pdfs of id iphon getetat phone",
		"المُشْكِلات، ﺍﻟﻤﺸﻜﻼﺕ المشــكلات":    "المشكلات المشكلات المشكلات",
		"پژوهشی پژوهشي کتاب كتاب، أحمد احمد": "پژوهشي پژوهشي كتاب كتاب احمد احمد",
		"10⁶ 10^6 10⁻⁶ note¹ 12 m² H₂O 273³": "10 6 10 6 10 6 note 1 12 m2 h2o 273 3",
		"שָׁלוֹם": "שלום",
		"":        "",
	} {
		if got := words.Document(text, words.Stems{}); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]words.Term{
		"Which turbines were overheating?": {{Word: "turbin"}, {Word: "overh"}},
		"getUserById":                      {{Word: "getuserbyid"}, {Word: "get"}, {Word: "user"}, {Word: "id"}},
		"the who":                          {{Word: "the"}, {Word: "who"}},
		"图谱":                               {{Word: "图谱"}},
		"谱":                                {{Word: "谱", Prefix: true}},
		"?!":                               nil,
	} {
		if diff := cmp.Diff(want, words.Question(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
