package evaluate_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// report returns a small report with every kind of result.
func report(t *testing.T) evaluate.Report {
	t.Helper()
	items := []evaluate.Item{
		{ID: "right", Question: "How many days of holiday are there?", Reference: "27 days.", Tags: []string{"hr"}},
		{ID: "wrong", Question: "How long is the week & <what>?", Reference: "37.5 hours."},
		{ID: "failed", Question: "Who?", Reference: "Somebody."},
		{ID: "unread", Question: "When?", Reference: "Then."},
		{ID: "free", Question: "Tell me about lamps."},
	}
	r := evaluate.Report{Name: "handbook", Project: "default", Judge: evaluate.OfflineJudge, Items: items}
	for i, answer := range []string{`27 days <citation id="c">[1]</citation>.`, "The week has 40 hours\x00.", "", "Then.", "Lamps are red."} {
		c := evaluate.Case{Item: items[i], Answer: answer}
		j := evaluate.Judge(c)
		if items[i].ID == "unread" {
			j = evaluate.Judgement{}
			j.Fail(evaluate.PartScore, "the reply has no JSON object")
		}
		o := evaluate.NewOutcome(c, 0, j, time.Duration(i+1)*250*time.Millisecond, 100)
		if items[i].ID == "failed" {
			o, j = evaluate.Outcome{Item: "failed", Error: "the model is not available"}, evaluate.Judgement{}
		}
		r.Results = append(r.Results, evaluate.Result{Outcome: o, Answer: answer, Judgement: j})
	}
	var outcomes []evaluate.Outcome
	for _, x := range r.Results {
		outcomes = append(outcomes, x.Outcome)
	}
	r.Summary = evaluate.Summarize(outcomes)
	compared := evaluate.Compare(outcomes, outcomes[:2])
	gate, err := evaluate.ParseGate("score=1.6")
	if err != nil {
		t.Fatal(err)
	}
	decided := gate.Decide(r.Summary, &compared, nil)
	r.Compared, r.Decided = &compared, &decided
	return r
}

func TestWriteTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := evaluate.WriteTable(&b, report(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.golden", b.String())
}

func TestWriteJUnitOfAnIncompleteEvaluation(t *testing.T) {
	t.Parallel()
	ended := report(t)
	ended.Incomplete = "budget_used: the budget of 100 tokens is used"
	var whole, early bytes.Buffer
	if err := errors.Join(evaluate.WriteJUnit(&whole, report(t)), evaluate.WriteJUnit(&early, ended)); err != nil {
		t.Fatal(err)
	}
	const lines = `
    <testcase classname="handbook" name="evaluation" time="0.000">
      <error message="not all questions were judged">budget_used: the budget of 100 tokens is used</error>
    </testcase>`
	if !strings.Contains(early.String(), lines) || strings.Contains(whole.String(), `name="evaluation"`) {
		t.Errorf("early:\n%s", &early)
	}
}

func TestWriteJUnit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := evaluate.WriteJUnit(&b, report(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "junit.golden", b.String())
	var read struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Tests != 6 || read.Failures != 2 || read.Errors != 2 || len(read.Suites) != 2 {
		t.Fatalf("the report is %+v", read)
	}
	cases := read.Suites[0].Cases
	if cases[0].Failure != nil || cases[0].Error != nil || cases[1].Failure == nil || cases[2].Error == nil || cases[3].Error == nil || cases[4].Skipped == nil {
		t.Errorf("the cases are %+v", cases)
	}
	if cases[1].Name != "wrong: How long is the week & <what>?" {
		t.Errorf("a name is %q", cases[1].Name)
	}
}

func TestTestResults(t *testing.T) {
	t.Parallel()
	data, err := json.MarshalIndent(evaluate.TestResults(report(t)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "tests_results.golden", string(data)+"\n")
	if empty, err := json.Marshal(evaluate.TestResults(evaluate.Report{})); err != nil || string(empty) != "[]" {
		t.Errorf("no results are %s, %v", empty, err)
	}
}
