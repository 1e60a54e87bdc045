package retrieve_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// lexical is an embedder that compares words alone, or not at all.
type lexical struct {
	counting
	words bool
}

func (l *lexical) Lexical() float64 {
	if l.words {
		return 1
	}
	return 0
}

func TestDefaultWeights(t *testing.T) {
	t.Parallel()
	const english = "what are the limits of the pressure in the pump of the second line"
	for name, test := range map[string]struct {
		embedder retrieve.Embedder
		question string
		weights  *knowledge.Weights
		want     []string // the best of words has the share of BM25, the best of dense the other
	}{
		"a model that compares meanings":      {&counting{}, english, nil, []string{"dense 0.950", "words 0.050"}},
		"a model that says so":                {&lexical{}, english, nil, []string{"dense 0.950", "words 0.050"}},
		"a question with a number":            {&counting{}, english + " P-17", nil, []string{"words 0.700", "dense 0.300"}},
		"a lexical model, in English":         {&lexical{words: true}, english, nil, []string{"words 0.650", "dense 0.350"}},
		"a lexical model, in German":          {&lexical{words: true}, "Welche Grenzen gelten für den Druck in der Pumpe der zweiten Linie?", nil, []string{"words 0.950", "dense 0.050"}},
		"a lexical model, in Chinese":         {&lexical{words: true}, "第二条生产线的泵的压力限制是多少？", nil, []string{"words 0.950", "dense 0.050"}},
		"a lexical model, uncertain":          {&lexical{words: true}, "pump P-17", nil, []string{"words 0.950", "dense 0.050"}},
		"the project's weights before any":    {&lexical{words: true}, english, &knowledge.Weights{Dense: .7, BM25: .3}, []string{"dense 0.700", "words 0.300"}},
		"the project's weights for any model": {&counting{}, english, &knowledge.Weights{Dense: .7, BM25: .3}, []string{"dense 0.700", "words 0.300"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &scripted{dense: hits("dense", .9), words: hits("words", 9.0)}
			found, err := retrieve.New(x, showing("dense", "words"), test.embedder).Retrieve(t.Context(), retrieve.Request{
				Principal: asker, Query: test.question, Config: knowledge.RetrievalConfig{Weights: test.weights}})
			if err != nil {
				t.Fatal(err)
			}
			if got := scored(found); !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v", got, test.want)
			}
		})
	}
}

// TestWeightsByScores fuses legs whose best hits differ, with scores that fall
// by a part of the first.
func TestWeightsByScores(t *testing.T) {
	t.Parallel()
	leg := func(best string, hits int, fall float64) (list []knowledge.Hit) {
		for i := range hits {
			id := best
			if i > 0 {
				id = fmt.Sprintf("%s%03d", best, i)
			}
			list = append(list, knowledge.Hit{ChunkID: id, Score: 1 - fall*float64(i)/float64(hits-1)})
		}
		return list
	}
	for name, test := range map[string]struct {
		dense, words []knowledge.Hit
		want         string // share of the dense leg
	}{
		"both fall alike":                             {leg("dense", 50, .5), leg("words", 50, .5), "0.600"},
		"the model finds all equally near":            {leg("dense", 50, .05), leg("words", 50, .9), "0.300"},
		"the words occur everywhere":                  {leg("dense", 50, .6), leg("words", 50, .1), "0.700"},
		"few passages have a word of the question":    {leg("dense", 50, .5), leg("words", 3, .1), "0.400"},
		"few passages are searched":                   {leg("dense", 49, .5), leg("words", 49, .5), "0.950"},
		"no passage has a word of the question":       {leg("dense", 50, .5), nil, "0.700"},
		"hits beyond the fiftieth are not considered": {append(leg("dense", 50, .5), leg("x", 50, 1)...), leg("words", 50, .5), "0.600"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &scripted{dense: test.dense, words: test.words}
			found, err := retrieve.New(x, showing("dense", "words"), &counting{}).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "question"})
			if err != nil {
				t.Fatal(err)
			}
			if got := scored(found); !slices.Contains(got, "dense "+test.want) {
				t.Errorf("found %v, want dense with %s", got, test.want)
			}
		})
	}
}

// TestWeightsAcrossLanguages asks about texts of a language with a model that compares
// meanings.
func TestWeightsAcrossLanguages(t *testing.T) {
	t.Parallel()
	const english, german = "Where can you get a fishing permit?", "Wo kann man eine Angelkarte bekommen?"
	const foreign, known, numbered = "0.800", "0.950", "0.300" // two passages are few
	for name, test := range map[string]struct {
		question, texts string
		embedder        retrieve.Embedder
		want            string // share of the dense leg
	}{
		"English_on_German":          {english, "deu", &counting{}, foreign},
		"German_on_German":           {german, "deu", &counting{}, known},
		"English_on_English":         {english, "eng", &counting{}, known},
		"a_longer_German_on_English": {"Welche Gebäude der Stadt wurden durch die Überschwemmung im Frühling beschädigt, und welche wurden zerstört?", "eng", &counting{}, foreign},
		"words_alone_on_German":      {"fishing permit", "deu", &counting{}, known},
		"a_number_on_German":         {"What does the error E-505 mean here?", "deu", &counting{}, numbered},
		"texts_of_no_language":       {english, "", &counting{}, known},
		"uncertain_texts":            {english, "und", &counting{}, known},
		"a_lexical_model":            {english + " Is a boat needed for that, or a card?", "deu", &lexical{words: true}, "0.350"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &scripted{dense: hits("dense", .9), words: hits("words", 9.0)}
			shown := showing("dense", "words")
			for id, v := range shown {
				v.Language = test.texts
				shown[id] = v
			}
			found, err := retrieve.New(x, shown, test.embedder).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: test.question})
			if err != nil {
				t.Fatal(err)
			}
			if got := scored(found); !slices.Contains(got, "dense "+test.want) {
				t.Errorf("found %v, want dense with %s", got, test.want)
			}
		})
	}
}
