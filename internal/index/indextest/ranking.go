package indextest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
)

func vector(components ...float32) func(*index.Entry) {
	return func(e *index.Entry) { e.Vector = components }
}

func testRanking(t *testing.T, open Open, without []Promise) {
	for name, test := range map[string]func(t *testing.T, open Open, without []Promise){
		"the score of the dense leg is the cosine, whatever the lengths":           ranksByCosine,
		"a hit has its document and version":                                       returnsDocumentAndVersion,
		"equal scores are ordered by chunk id, also at the limit":                  ordersEqualScores,
		"rare words count more than frequent ones, and short texts more than long": ranksRareWords,
		"a workspace's ranking does not depend on another's documents":             ranksEachWorkspaceAlone,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open, without)
		})
	}
}

func ranksByCosine(t *testing.T, open Open, _ []Promise) {
	q := index.Query{Principal: member(), Limit: 10}
	f := newFixture(t, open,
		entry("same", "x", vector(30, 0, 0, 0)), entry("near", "x", vector(1, 1, 0, 0)),
		entry("right angle", "x", vector(0, .1, 0, 0)), entry("opposite", "x", vector(-5, 0, 0, 0)))
	hits, err := f.Dense(f.ctx, q, []float32{7, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	f.inOrder("dense", ids(hits), "same", "near", "right angle", "opposite")
	for i, want := range []float64{1, math.Sqrt2 / 2, 0, -1} {
		if i < len(hits) && math.Abs(hits[i].Score-want) > 1e-5 {
			t.Errorf("%s scores %v, want %v", hits[i].ChunkID, hits[i].Score, want)
		}
	}
}

func returnsDocumentAndVersion(t *testing.T, open Open, _ []Promise) {
	q := index.Query{Principal: member(), Limit: 10}
	f := newFixture(t, open, entry("chunk", "common", func(e *index.Entry) { e.DocumentID, e.Version = "document", 7 }))
	dense, _ := f.Dense(f.ctx, q, []float32{1, 0, 0, 0})
	words, _ := f.BM25(f.ctx, q, "common")
	for _, hits := range [][]string{ids(dense), ids(words)} {
		f.inOrder("a leg", hits, "chunk")
	}
	for _, h := range append(dense, words...) {
		if h.DocumentID != "document" || h.Version != 7 {
			t.Errorf("hit is %+v", h)
		}
	}
}

func ordersEqualScores(t *testing.T, open Open, without []Promise) {
	var entries []index.Entry
	for i := range 400 {
		entries = append(entries, entry(fmt.Sprintf("%03d", (i*7)%400), "common"))
	}
	f := newFixture(t, open, entries...)
	short := index.Query{Principal: member(), Limit: 4}
	for leg, got := range map[string][]string{"dense": f.dense(short, 1, 0, 0, 0), "BM25": f.words(short, "common")} {
		if slices.Contains(without, LeastOfEqual) && len(got) == short.Limit && slices.IsSorted(got) {
			continue
		}
		f.inOrder(leg, got, "000", "001", "002", "003")
	}
}

func ranksRareWords(t *testing.T, open Open, _ []Promise) {
	q := index.Query{Principal: member(), Limit: 10}
	var entries []index.Entry
	for i := range 20 {
		entries = append(entries, entry(fmt.Sprintf("filler-%02d", i), "engine of some kind"))
	}
	f := newFixture(t, open, append(entries,
		entry("rare", "a turbocharger of some kind"),
		entry("long", "a turbocharger among very many other words that all say something about other matters entirely"))...)
	got := f.words(q, "engine turbocharger")
	if len(got) != 10 || got[0] != "rare" || got[1] != "long" {
		t.Errorf("found %v, want rare, long, then fillers", got)
	}
}

func ranksEachWorkspaceAlone(t *testing.T, open Open, without []Promise) {
	q := index.Query{Principal: member(), Limit: 10}
	if slices.Contains(without, OwnStatistics) {
		t.Skip("this index weighs words by the documents of all workspaces")
	}
	ours := []index.Entry{entry("a", "valve and pump and valve"), entry("b", "pump"), entry("c", "other things")}
	f := newFixture(t, open, ours...)
	before, _ := f.BM25(f.ctx, q, "valve pump")
	for i := range 50 {
		f.upsert(entry(fmt.Sprint("theirs-", i), "valve valve valve", in("other", project)))
	}
	after, _ := f.BM25(f.ctx, q, "valve pump")
	if len(before) != 2 || fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("before %v, after %v", before, after)
	}
}

// testWords searches texts of many languages by words in another form, script or case.
func testWords(t *testing.T, open Open) {
	q := index.Query{Principal: member(), Limit: 10}
	f := newFixture(t, open, textsOfManyLanguages()...)
	for _, test := range wordQuestions {
		t.Run(test.name, func(t *testing.T) {
			got := f.words(q, test.question)
			if len(got) == 0 || got[0] != test.want {
				t.Errorf("%q found %v, want %s first", test.question, got, test.want)
			}
		})
	}
	t.Run("an unknown word finds nothing", func(t *testing.T) {
		for _, question := range []string{"", " ", "?!", "zeppelin", "图书", "val"} {
			if got := f.words(q, question); len(got) > 0 {
				t.Errorf("%q found %v", question, got)
			}
		}
	})
	t.Run("stop words are ignored beside other words", func(t *testing.T) {
		if got := f.words(q, "the who zeppelin"); len(got) > 0 {
			t.Errorf("found %v", got)
		}
	})
}

func textsOfManyLanguages() []index.Entry {
	return []index.Entry{
		entry("en", "The engineers' turbines were overheating; don't touch valve MX-4711B."),
		entry("de", "Die Kühlung der Straße ist überprüft."),
		entry("fr", "Le café est fermé. L’été arrive."),
		entry("ru", "Новая система охлаждения"),
		entry("zh", "知识图谱与检索增强生成"),
		entry("ja", "東京タワーの高さは333メートルです"),
		entry("ko", "서울특별시의 인구"),
		entry("hi", "हिन्दी में लिखा हुआ"),
		entry("th", "ภาษาไทยไม่มีช่องว่าง"),
		entry("who", "the who"),
		entry("ar", "نظام التبريد في المحرك"),
		entry("compound", "Die Kühlwasserpumpe wird jährlich geprüft."),
		entry("tr", "Isparta, DIŞ KAPISI ve İZMİR limanı"),
		entry("code", "Call getUserById(id) and check for E-505 since v2.4.2."),
	}
}

// wordQuestions are questions with the entry of textsOfManyLanguages that each finds first.
var wordQuestions = []struct{ name, question, want string }{
	{"a word in another form", "overheated turbine", "en"},
	{"case does not matter", "VALVE", "en"},
	{"a part number", "mx-4711b", "en"},
	{"an apostrophe does not matter", "dont", "en"},
	{"accents do not matter", "cafe ferme", "fr"},
	{"umlauts and sharp s", "kuhlung STRASSE", "de"},
	{"a curly apostrophe equals a straight one", "l'ete", "fr"},
	{"Cyrillic", "СИСТЕМА", "ru"},
	{"Chinese, a word inside a run", "检索", "zh"},
	{"Chinese, one character", "谱", "zh"},
	{"Chinese, the last character", "成", "zh"},
	{"Chinese, a longer question", "什么是知识图谱？", "zh"},
	{"Japanese", "東京", "ja"},
	{"Japanese katakana with a long vowel", "タワー", "ja"},
	{"half-width katakana", "ﾒｰﾄﾙ", "ja"},
	{"Korean, a word inside a run", "특별시", "ko"},
	{"Devanagari with vowel signs", "हिन्दी", "hi"},
	{"Thai, a word inside a run", "ไทย", "th"},
	{"stop words alone find", "the who", "who"},
	{"Arabic", "التبريد", "ar"},
	{"a German compound", "kuhlwasserpumpe", "compound"},
	{"a German compound in capitals", "KÜHLWASSERPUMPE", "compound"},
	{"the head of a German compound", "Pumpe", "compound"},
	{"another German compound of the head", "Feuerlöschpumpen", "compound"},
	{"Turkish, a capital without a dot", "dış", "tr"},
	{"Turkish, a capital with a dot", "izmir", "tr"},
	{"Turkish, a small letter without a dot", "ısparta", "tr"},
	{"an identifier", "getUserById", "code"},
	{"an identifier in another case", "GETUSERBYID", "code"},
	{"a part of an identifier", "user", "code"},
	{"an identifier written in another way", "get_user_by_id", "code"},
	{"an error code", "E-505", "code"},
	{"a version", "v2.4.2", "code"},
}
