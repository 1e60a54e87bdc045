package privacy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// namer recognises names that it knows, as persons with a score.
type namer struct {
	names []string
	score float64
	err   error

	mu    sync.Mutex
	asked []string
}

func (n *namer) Recognise(_ context.Context, texts, entities []string) ([][]privacy.Finding, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, texts...)
	found := make([][]privacy.Finding, len(texts))
	for i, text := range texts {
		for _, name := range n.names {
			if at := strings.Index(text, name); at >= 0 && slices.Contains(entities, "PERSON") {
				start := utf8.RuneCountInString(text[:at])
				found[i] = append(found[i], privacy.Finding{Entity: "PERSON", Span: knowledge.Span{Start: start, End: start + utf8.RuneCountInString(name)}, Score: n.score, Recogniser: "analyzer"})
			}
		}
	}
	return found, n.err
}

func persons() knowledge.PIIRules {
	return knowledge.PIIRules{Recognisers: map[string]knowledge.PIIRecogniser{"PERSON": knowledge.RecogniserAnalyzer}}
}

// shieldOf returns a shield whose first person has a name.
func shieldOf(t *testing.T, name string) *privacy.Shield {
	t.Helper()
	all := privacy.Recognisers{knowledge.RecogniserAnalyzer: &namer{names: []string{name}, score: .9}}
	finder, err := all.Finder(t.Context(), persons(), func(f *privacy.Finder) { f.Find(name) })
	if err != nil {
		t.Fatal(err)
	}
	s := finder.NewShield()
	if got := s.Redact(name); got != "<PERSON_1>" {
		t.Fatalf("the name is %q", got)
	}
	return s
}

func TestNamesOfAnotherRecogniser(t *testing.T) {
	t.Parallel()
	n := &namer{names: []string{"Zoë Müller"}, score: .7}
	all := privacy.Recognisers{knowledge.RecogniserAnalyzer: n}
	layout := knowledge.Layout{Title: "Lease", Blocks: []knowledge.Block{{Text: "Grüße von Zoë Müller, zoe@example.org."}, {Text: "Nobody."}}}
	finder, err := all.Finder(t.Context(), persons(), func(f *privacy.Finder) { f.NewRedactor().Layout(layout) })
	if err != nil {
		t.Fatal(err)
	}
	redacted, report, _ := finder.NewRedactor().Layout(layout)
	if got := redacted.Blocks[0].Text; got != "Grüße von <PERSON_1>, <EMAIL_ADDRESS_1>." {
		t.Errorf("the text is %q", got)
	}
	if len(report.Findings) != 2 || report.Findings[0].Recogniser != "analyzer" || report.Findings[0].Score != .7 {
		t.Errorf("findings %+v", report.Findings)
	}
	slices.Sort(n.asked)
	if len(n.asked) != 3 { // each text once
		t.Errorf("the recogniser was asked for %q", n.asked)
	}
}

func TestThresholdsOfKinds(t *testing.T) {
	t.Parallel()
	all := privacy.Recognisers{knowledge.RecogniserAnalyzer: &namer{names: []string{"Ann"}, score: .7}}
	rules := persons()
	rules.Thresholds = map[string]float64{"PERSON": .8, "IP_ADDRESS": .8}
	got, err := all.Redact(t.Context(), rules, "Ann at IP 10.1.2.3 wrote ann@example.org, and phone 10.200.3.4.")
	if err != nil || !strings.HasPrefix(got, "Ann at IP <IP_ADDRESS_1> wrote <EMAIL_ADDRESS_1>") || strings.HasSuffix(got, "<IP_ADDRESS_2>.") {
		t.Errorf("%q, %v", got, err)
	}
	rules.Thresholds = nil
	if got, err := all.Redact(t.Context(), rules, "Ann at home"); err != nil || got != "<PERSON_1> at home" {
		t.Errorf("the control: %q, %v", got, err)
	}
}

// TestChosenRecognisers checks that a kind is found by the one that the rules name alone.
func TestChosenRecognisers(t *testing.T) {
	t.Parallel()
	all := privacy.Recognisers{knowledge.RecogniserAnalyzer: &namer{}}
	rules := knowledge.PIIRules{Entities: []string{"EMAIL_ADDRESS", "IBAN_CODE"}, Recognisers: map[string]knowledge.PIIRecogniser{"EMAIL_ADDRESS": knowledge.RecogniserAnalyzer}}
	got, err := all.Redact(t.Context(), rules, "ann@example.org pays DE89370400440532013000 from 203.0.113.195")
	if err != nil || got != "ann@example.org pays <IBAN_CODE_1> from 203.0.113.195" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestRecogniserThatDoesNotAnswer checks that nothing passes, and that it can be told from other
// errors.
func TestRecogniserThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]privacy.Recognisers{
		"is down":           {knowledge.RecogniserAnalyzer: &namer{err: privacy.NoAnswer(knowledge.RecogniserAnalyzer, errors.New("refused"))}},
		"is not configured": {},
	} {
		got, err := all.Redact(t.Context(), persons(), "Ann, ann@example.org")
		known := knowledge.AsError(err)
		if got != "" || !errors.Is(err, privacy.ErrNoAnswer) || known.Code != knowledge.CodeUnavailable || !known.Retryable || known.RetryAfter == 0 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
