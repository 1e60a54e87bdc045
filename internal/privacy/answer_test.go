package privacy_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// streamed returns a text that streamed through an answer in pieces.
func streamed(t *testing.T, all privacy.Recognisers, rules knowledge.PIIRules, pieces []string) string {
	t.Helper()
	a := all.NewAnswer(rules)
	var out strings.Builder
	for _, piece := range append(pieces, "") {
		text, err := a.Write(t.Context(), piece)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(text)
	}
	text, err := a.Close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out.String() + text
}

// TestStreamedAnswersAreRedactedAsWholeOnes compares the redaction of the generated and the hard
// texts, cut in random places, with that of the whole texts.
func TestStreamedAnswersAreRedactedAsWholeOnes(t *testing.T) {
	t.Parallel()
	m := rand.New(rand.NewPCG(1, 2))
	samples := append(generate(1000), readHard(t)...)
	for i := 0; i+2 < len(samples); i++ {
		text := samples[i].text + "\n\n" + samples[i+1].text + " " + samples[i+2].text
		want := privacy.NewFinder(nil).NewRedactor().Text(text)
		var pieces []string
		for rest := text; rest != ""; {
			n := min(1+m.IntN(12), len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := streamed(t, nil, knowledge.PIIRules{}, pieces); got != want {
			t.Fatalf("the text\n%s\nstreams as\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestWordsOfAnswersAreNotHeldBack checks that words without numbers come while they stream.
func TestWordsOfAnswersAreNotHeldBack(t *testing.T) {
	t.Parallel()
	a := privacy.Recognisers(nil).NewAnswer(knowledge.PIIRules{})
	held, longest := 0, 0
	for _, word := range strings.SplitAfter("The tenant pays the rent by the third working day of each month, as the lease of the flat says in the paragraph on payments and deposits.", " ") {
		text, err := a.Write(t.Context(), word)
		if err != nil {
			t.Fatal(err)
		}
		held += len(word) - len(text)
		longest = max(longest, held)
	}
	if longest > 24 {
		t.Errorf("%d bytes were held back", longest)
	}
}

// TestNamesInStreamedAnswers redacts names that a recogniser finds, sentence by sentence.
func TestNamesInStreamedAnswers(t *testing.T) {
	t.Parallel()
	text := "The lease was signed by Zoë Müller yesterday. Her mail is zoe@example.org today.\n\nLater Zoë Müller left the company for good."
	want := "The lease was signed by <PERSON_1> yesterday. Her mail is <EMAIL_ADDRESS_1> today.\n\nLater <PERSON_1> left the company for good."
	for n := 1; n < 40; n++ {
		names := &namer{names: []string{"Zoë Müller"}, score: .9}
		if got := streamed(t, privacy.Recognisers{knowledge.RecogniserAnalyzer: names}, persons(), cutInto(text, n)); got != want {
			t.Fatalf("in pieces of %d: %q", n, got)
		}
		if n == 1 && len(names.asked) < 2 {
			t.Errorf("all was held back until the end")
		}
	}
}
