package evaluate_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/samples"
)

func fmtScore(x float64) string { return fmt.Sprintf("%g", x) }

// sampleQuestions returns the questions about the samples.
func sampleQuestions(t *testing.T) []evaluate.Item {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "samples", "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	items, err := evaluate.Read(file, evaluate.FormatJSONLines)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// TestSampleQuestions: the questions name documents that there are, of all kinds.
func TestSampleQuestions(t *testing.T) {
	t.Parallel()
	items := sampleQuestions(t)
	documents, err := samples.Documents()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[evaluate.Kind]int{}
	for _, item := range items {
		kinds[item.Kind]++
		if (item.Reference == "" || len(item.ExpectedDocuments) == 0) != (item.Kind == evaluate.KindUnanswerable) {
			t.Errorf("%s has the reference %q and documents %v", item.ID, item.Reference, item.ExpectedDocuments)
		}
		for _, name := range item.ExpectedDocuments {
			if _, err := fs.Stat(documents, name); err != nil {
				t.Errorf("%s: %v", item.ID, err)
			}
		}
		for _, page := range item.ExpectedPages {
			if !slices.Contains(item.ExpectedDocuments, page.Document) {
				t.Errorf("%s expects a page of %s, but not the document", item.ID, page.Document)
			}
		}
	}
	if len(items) != 60 || len(kinds) != 4 {
		t.Errorf("%d questions of the kinds %v", len(items), kinds)
	}
}

// scripted is a good and a bad answer to a question about the samples.
type scripted struct{ ID, Good, Bad string }

func scriptedAnswers(t *testing.T) map[string]scripted {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]scripted{}
	for line := range strings.Lines(string(data)) {
		var s scripted
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		answers[s.ID] = s
	}
	return answers
}

// TestOfflineJudgeSeparates: on the questions about the samples the offline judge tells an answerer
// whose answers are right from one whose answers are wrong. The grades are a golden file.
func TestOfflineJudgeSeparates(t *testing.T) {
	t.Parallel()
	answers := scriptedAnswers(t)
	var good, bad []evaluate.Outcome
	var list strings.Builder
	var pairs []evaluate.Pair
	for _, item := range sampleQuestions(t) {
		outcome := func(answer string, person float64) evaluate.Outcome {
			c := evaluate.Case{Item: item, Answer: answer}
			j := evaluate.Judge(c)
			pairs = append(pairs, evaluate.Pair{Judge: *j.Score, Person: person})
			fmt.Fprintf(&list, " %3s", fmtScore(*j.Score))
			return evaluate.NewOutcome(c, 0, j, 0, 0)
		}
		good = append(good, outcome(answers[item.ID].Good, evaluate.ScoreRight))
		bad = append(bad, outcome(answers[item.ID].Bad, evaluate.ScoreWrong))
		fmt.Fprintf(&list, "  %s\n", item.ID)
	}
	best, worst := evaluate.Summarize(good).Scores[evaluate.MeasureScore], evaluate.Summarize(bad).Scores[evaluate.MeasureScore]
	agreement := evaluate.Agree(pairs)
	report := fmt.Sprintf("good %.3f (%.3f to %.3f)\nbad  %.3f (%.3f to %.3f)\nkappa %.3f (%.3f to %.3f)\n\ngood bad\n%s",
		best.Mean, best.Low, best.High, worst.Mean, worst.Low, worst.High, agreement.Kappa.Mean, agreement.Kappa.Low, agreement.Kappa.High, list.String())
	golden(t, "separates.golden", report)
	if best.Low < 1.7 || worst.High > .4 || agreement.Kappa.Low < .8 {
		t.Errorf("the offline judge does not separate right from wrong answers:\n%s", report)
	}
	gate, err := evaluate.ParseGate("score=1.6")
	if err != nil {
		t.Fatal(err)
	}
	if d := gate.Decide(evaluate.Summarize(good), nil, nil); !d.Passed {
		t.Errorf("right answers do not pass: %+v", d)
	}
	if d := gate.Decide(evaluate.Summarize(bad), nil, nil); d.Exit != evaluate.ExitBelow {
		t.Errorf("wrong answers end with %+v", d)
	}
	if c := evaluate.Compare(good, bad); c.Verdict != evaluate.Worse {
		t.Errorf("wrong answers beside right ones are %s", c.Verdict)
	}
}

// TestOfflineJudgeOnParaphrases: on answers in other words, in English and German, which the judge was not
// made with, it may take a right answer for a partial one, but never for a wrong one, and no wrong one
// for right. The agreement with the grades that the answers were written for is a golden file.
func TestOfflineJudgeOnParaphrases(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "paraphrases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []evaluate.Pair
	for line := range strings.Lines(string(data)) {
		var x struct{ Question, Reference, Good, Partial, Bad string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		for want, answer := range map[float64]string{evaluate.ScoreRight: x.Good, evaluate.ScorePartial: x.Partial, evaluate.ScoreWrong: x.Bad} {
			j := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: x.Question, Reference: x.Reference}, Answer: answer})
			pairs = append(pairs, evaluate.Pair{Judge: *j.Score, Person: want})
			if want+*j.Score == evaluate.ScoreRight { // one is right and the other wrong
				t.Errorf("%q beside %q scores %v instead of %v", answer, x.Reference, *j.Score, want)
			}
		}
	}
	a := evaluate.Agree(pairs)
	golden(t, "paraphrases.golden", fmt.Sprintf("kappa %.3f (%.3f to %.3f)\nequal %.3f\nbias  %.3f\n", a.Kappa.Mean, a.Kappa.Low, a.Kappa.High, a.Raw, a.Bias.Mean))
	if a.N != 60 || a.Kappa.Low < .6 {
		t.Errorf("the agreement is %+v", a)
	}
}
