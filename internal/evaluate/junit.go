package evaluate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Report is what the reports of an evaluation show.
type Report struct {
	Name     string // of the test set
	Project  string
	Judge    string
	Rubric   *Rubric // of the prompts of a model that judges
	Items    []Item
	Results  []Result
	Summary  Summary
	Compared *Comparison
	Decided  *Decision

	Agreement   *Agreement   // with people on the score, nil = not known
	OnContext   *Agreement   // with people on the context, nil = not known
	Consistency *Consistency // nil = the judge was asked once only

	Incomplete string  // why not all questions were judged, "" = they were
	Threshold  float64 // score below which an item is a failure in JUnit; 0 = ScorePartial
}

// Result is a judged answer with what reports show of it.
type Result struct {
	Outcome   Outcome
	Answer    string
	Judgement Judgement
}

// The elements of JUnit XML.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Time     string   `xml:"time,attr"`
		Suites   []*junitSuite
	}
	junitSuite struct {
		XMLName    xml.Name `xml:"testsuite"`
		Name       string   `xml:"name,attr"`
		Tests      int      `xml:"tests,attr"`
		Failures   int      `xml:"failures,attr"`
		Errors     int      `xml:"errors,attr"`
		Skipped    int      `xml:"skipped,attr"`
		Time       string   `xml:"time,attr"`
		Properties *junitProperties
		Cases      []junitCase
		seconds    float64
	}
	junitProperties struct { // never empty, as the schema of Jenkins wants it
		XMLName xml.Name        `xml:"properties"`
		List    []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		XMLName xml.Name      `xml:"testcase"`
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes a report as JUnit XML: a test case for each answer, which fails below the threshold,
// errs if the question or a judgement failed, and is skipped without a score; a test case that errs
// for an evaluation that did not complete; and one for the gate, if there is one.
func WriteJUnit(w io.Writer, r Report) error {
	items := itemsByID(r.Items)
	suite := &junitSuite{Name: r.Name, Properties: &junitProperties{List: r.properties()}}
	for _, result := range r.Results {
		suite.add(r.junitCase(items[result.Outcome.Item], result), result.Outcome.Values[MeasureLatency])
	}
	if r.Incomplete != "" {
		suite.add(junitCase{Class: r.Name, Name: "evaluation", Time: "0.000", Error: &junitMessage{"not all questions were judged", r.Incomplete}}, 0)
	}
	suites := junitSuites{Name: r.Name, Suites: []*junitSuite{suite}}
	if r.Decided != nil {
		gate := &junitSuite{Name: r.Name + ": gate"}
		x := junitCase{Class: r.Name, Name: "gate", Time: "0.000"}
		if !r.Decided.Passed {
			x.Failure = &junitMessage{fmt.Sprintf("exit code %d", r.Decided.Exit), strings.Join(r.Decided.Reasons, "\n")}
		}
		gate.add(x, 0)
		suites.Suites = append(suites.Suites, gate)
	}
	seconds := 0.0
	for _, s := range suites.Suites {
		s.Time = fmt.Sprintf("%.3f", s.seconds)
		suites.Tests, suites.Failures, suites.Errors = suites.Tests+s.Tests, suites.Failures+s.Failures, suites.Errors+s.Errors
		seconds += s.seconds
	}
	suites.Time = fmt.Sprintf("%.3f", seconds)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(x junitCase, seconds float64) {
	s.Cases = append(s.Cases, x)
	s.Tests++
	s.seconds += seconds
	switch {
	case x.Error != nil:
		s.Errors++
	case x.Failure != nil:
		s.Failures++
	case x.Skipped != nil:
		s.Skipped++
	}
}

// properties are the judge, and the means with their intervals.
func (r Report) properties() []junitProperty {
	list := []junitProperty{{"project", r.Project}, {"judge", r.by()}}
	for i, text := range r.calibration() {
		list = append(list, junitProperty{[]string{"calibration", "consistency"}[i], text})
	}
	for _, m := range Measures() {
		if e, ok := r.Summary.Scores[m]; ok {
			list = append(list, junitProperty{string(m), fmt.Sprintf("%.4f (%.4f to %.4f, n=%d)", e.Mean, e.Low, e.High, e.N)})
		}
	}
	return list
}

func (r Report) junitCase(item Item, result Result) junitCase {
	o := result.Outcome
	x := junitCase{Class: r.Name, Name: o.Item + ": " + clip(item.Question, 200), Time: fmt.Sprintf("%.3f", o.Values[MeasureLatency])}
	if o.Repeat > 0 {
		x.Name += fmt.Sprintf(" (repeat %d)", o.Repeat+1)
	}
	threshold := r.Threshold
	if threshold == 0 {
		threshold = ScorePartial
	}
	score, scored := o.Values[MeasureScore]
	about := "question: " + item.Question + "\nreference: " + item.Reference + "\nanswer: " + strings.TrimSpace(PlainAnswer(result.Answer))
	switch {
	case o.Error != "":
		x.Error = &junitMessage{"the question failed", o.Error}
	case len(o.Failed) > 0:
		x.Error = &junitMessage{"the judge failed", failuresText(result.Judgement)}
	case !scored:
		x.Skipped = &junitMessage{Message: "there is no reference to score the answer by"}
	case score < threshold:
		x.Failure = &junitMessage{fmt.Sprintf("score %g, below %g: %s", score, threshold, result.Judgement.Reason), about}
	}
	return x
}

func failuresText(j Judgement) string {
	var lines []string
	for _, f := range j.Failures {
		lines = append(lines, string(f.Part)+": "+f.Reason)
	}
	return strings.Join(lines, "\n")
}

func itemsByID(items []Item) map[string]Item {
	byID := make(map[string]Item, len(items))
	for _, item := range items {
		byID[item.ID] = item
	}
	return byID
}
