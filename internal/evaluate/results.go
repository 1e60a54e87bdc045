package evaluate

import "strings"

// TestResult is an element of the payload of the webhook tests_results. Score and Context are on
// the scale 0, 1.5, 2, and null if they were not judged.
type TestResult struct {
	ID           string   `json:"id"`
	Question     string   `json:"question"`
	Reference    string   `json:"reference"`
	Answer       string   `json:"answer"` // without its citations
	Score        *float64 `json:"score"`
	Context      *float64 `json:"context"`
	Faithfulness *float64 `json:"faithfulness"`
	Reason       string   `json:"reason,omitempty"`
	Repeat       int      `json:"repeat"`
	Tags         []string `json:"tags,omitempty"`
	Error        string   `json:"error,omitempty"` // the question or its judgement failed
}

// TestResults returns the payload of the webhook tests_results for a report, in the order of its
// results. It is never nil.
func TestResults(r Report) []TestResult {
	items := itemsByID(r.Items)
	list := []TestResult{}
	for _, x := range r.Results {
		item := items[x.Outcome.Item]
		result := TestResult{
			ID: x.Outcome.Item, Question: item.Question, Reference: item.Reference, Tags: item.Tags,
			Answer: strings.TrimSpace(PlainAnswer(x.Answer)), Repeat: x.Outcome.Repeat,
			Score: x.Judgement.Score, Context: x.Judgement.Context, Faithfulness: x.Judgement.Faithfulness, Reason: x.Judgement.Reason,
			Error: x.Outcome.Error,
		}
		if result.Error == "" {
			result.Error = failuresText(x.Judgement)
		}
		list = append(list, result)
	}
	return list
}
