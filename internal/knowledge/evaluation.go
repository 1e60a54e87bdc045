package knowledge

import (
	"fmt"
	"strconv"
)

// ItemState says how far an item of an evaluation is.
type ItemState string

// The states of an item of an evaluation.
const (
	ItemWaiting  ItemState = "waiting"  // nobody has asked it yet, or its answer is under way
	ItemAnswered ItemState = "answered" // it waits for its judge
	ItemJudged   ItemState = "judged"
	ItemFailed   ItemState = "failed" // it has no answer, or no judgement
)

// Final reports whether an item in this state stays as it is.
func (s ItemState) Final() bool { return s == ItemJudged || s == ItemFailed }

// EvaluationProgress is how far an evaluation is.
type EvaluationProgress struct {
	Total    int   `json:"total"` // items, each as often as it is repeated
	Answered int   `json:"answered"`
	Judged   int   `json:"judged"`
	Failed   int   `json:"failed"`
	Paused   bool  `json:"paused,omitempty"`
	Usage    Usage `json:"usage"` // of the answers and of the judge
}

// Ended returns the number of items that stay as they are.
func (p EvaluationProgress) Ended() int { return p.Judged + p.Failed }

// Budget bounds what an evaluation may use. Zero means no bound.
type Budget struct {
	Tokens int     `json:"tokens,omitempty" minimum:"1" doc:"Prompt and completion tokens of answers and judge"`
	Cost   float64 `json:"cost,omitempty" doc:"In the currency of models.prices"`
}

// Exceeded returns which part of the budget is used up, "" = none.
func (b Budget) Exceeded(u Usage) string {
	switch {
	case b.Tokens > 0 && u.PromptTokens+u.CompletionTokens >= b.Tokens:
		return fmt.Sprintf("%d tokens", b.Tokens)
	case b.Cost > 0 && u.Cost >= b.Cost:
		return strconv.FormatFloat(b.Cost, 'f', -1, 64) + " " + u.Currency
	}
	return ""
}

// EvaluatedRun returns the run that answers an item of the evaluation r, 1 = first, at a try,
// 0 = first. Every attempt of a try has the same.
func (r RunRef) EvaluatedRun(number, try int) RunRef {
	return RunRef{Workspace: r.Workspace, Project: r.Project, Run: DerivedID("evaluated", r.Run, strconv.Itoa(number), strconv.Itoa(try))}
}

// JudgedPrefix is the prefix of the blobs of a judge of the evaluation r who judges an answer that
// another evaluation asked for. It does not end in "/".
func (r RunRef) JudgedPrefix(number int) string { return r.key(fmt.Sprintf("item-%06d-", number)) }

// JudgementKey is the blob key of what a judge said of the answer of the run.
func (r RunRef) JudgementKey() string { return r.key("judgement.json") }
