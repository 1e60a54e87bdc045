package words_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/words"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The turbines were overheating; valve MX-4711B.":       "the turbin were overh valv mx 4711b 4711 mx4711b",
		"Die Kühlung der Straße":                               "die kuhlung der strass",
		"don't, l’été":                                         "dont lete ete",
		"Le filtre d’huile, dell'acqua, qu'elle, d'Artagnan's": "le filtr dhuil huil dellacqua acqua quell ell dartagnan artagnan",
		"E-505, E 505, E505":                                   "e 505 e 505 e505 e505 e505 505",
		"ISO 9001 and iso 9001":                                "iso 9001 and iso 9001 iso9001",
		"42 Nm, 42Nm, 7 boxes, v1.2":                           "42 nm 42nm 7 box v1 2 42nm 42 nm",
		"C++, C#, C and .NET. Cpp":                             "c c c and net cpp cplusplus csharp dotnet cplusplus",
		"C++17, C#12, cpp2, .NET8":                             "c 17 c 12 cpp2 net8 cpp net cplusplus csharp dotnet",
		"25 °C, 25°C, 10µm, 10 µm":                             "25 c 25 c 10μm 10 μm 25c 25c 25 10um 10 um 10um",
		"é505, d41d8cd98f, H2O":                                "e505 d41d8cd98f h2o h2",
		"知识图谱":                                                 "知识 识图 图谱 谱",
		"getUserById, HTTPServer2Go":                           "getuserbyid httpserver2go get user by id http server2 go",
		"PDFs of IDs, iPhone, GetÉtat":                         "pdfs of id iphon getetat phone",
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
		"C++":                              {{Word: "cplusplus"}},
		"quelle huile ou l’usine":          {{Word: "quell"}, {Word: "huil"}, {Word: "ou"}, {Word: "usin"}, {Word: "lusin"}},
		"10µm":                             {{Word: "10μm"}, {Word: "10um"}, {Word: "10"}, {Word: "um"}},
		"E505":                             {{Word: "e505"}, {Word: "505"}},
		"What did they pay in dividends?":  {{Word: "pay"}, {Word: "paid"}, {Word: "dividend"}},
		"shares that were sold":            {{Word: "share"}, {Word: "sold"}, {Word: "sell"}},
		"People paid":                      {{Word: "peopl"}, {Word: "person"}, {Word: "paid"}, {Word: "pay"}},
		"What grew?":                       {{Word: "grew"}, {Word: "grow"}, {Word: "grown"}},
		"How much is it?":                  {{Word: "how"}, {Word: "much"}, {Word: "is"}, {Word: "it"}},
		"How many employees, how much tax": {{Word: "employe"}, {Word: "tax"}},
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
