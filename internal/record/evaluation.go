package record

import (
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Judge scores the answers of an evaluation: a model, a program behind an address, or, with
// neither, the judge that needs no model.
type Judge struct {
	Model   string        `json:"model,omitempty"`
	Webhook *JudgeWebhook `json:"webhook,omitempty"`
	Times   int           `json:"times,omitempty"` // how often a model scores each of the first answers; 0 = once
}

// IsOffline reports whether the judge needs neither a model nor a program.
func (j Judge) IsOffline() bool { return j.Model == "" && j.Webhook == nil }

// JudgeWebhook is the address of a program that judges.
type JudgeWebhook struct {
	URL string `json:"url"`
}

// Name returns the name of the judge.
func (j Judge) Name() string {
	switch {
	case j.Webhook != nil:
		return "webhook"
	case j.Model != "":
		return j.Model
	}
	return evaluate.OfflineJudge
}

// EvaluationSettings is how an evaluation is done, as its row in SQL has it.
type EvaluationSettings struct {
	TestSetName string           `json:"test_set_name"`
	Of          string           `json:"of,omitempty"`       // the evaluation whose answers are judged again
	Override    string           `json:"override,omitempty"` // JSON of the projectConfigOverride
	Judge       Judge            `json:"judge"`
	Repeats     int              `json:"repeats"`
	Sample      int              `json:"sample,omitempty"`
	Seed        uint64           `json:"seed"`
	Budget      knowledge.Budget `json:"budget,omitzero"`
	// Cells are the configurations of an experiment, the saved one first; nil = it is none.
	Cells []Cell `json:"cells,omitempty"`
}

// Cell is a configuration of an experiment.
type Cell struct {
	Values   map[string]json.RawMessage `json:"values"`             // of the settings of the grid, by their dotted names
	Override string                     `json:"override,omitempty"` // JSON of the projectConfigOverride, "" = the saved settings
}

// CellCount returns the number of configurations that an evaluation asks, 1 if it is no experiment.
func (s EvaluationSettings) CellCount() int { return max(1, len(s.Cells)) }

// Evaluation is the snapshot with which an evaluation starts. Each of its questions is
// Question with the words of the item. It never enters a workflow's history.
type Evaluation struct {
	Principal knowledge.Principal `json:"principal"`
	Question  knowledge.Request   `json:"question"`
	Settings  EvaluationSettings  `json:"settings"`
	// Others are the questions of the second and further cells of an experiment, in place of
	// Question.
	Others []knowledge.Request `json:"others,omitempty"`
}

// QuestionOf returns the question of a cell, 1 = first.
func (e Evaluation) QuestionOf(cell int) knowledge.Request {
	if cell > 1 {
		return e.Others[cell-2]
	}
	return e.Question
}

// EvaluationItemsKey is the blob key of the items of an evaluation, as []evaluate.Item.
func EvaluationItemsKey(r knowledge.RunRef) string { return r.Prefix() + "items.json" }

// ItemResult is what came of an item of an evaluation, as its row in SQL has it.
type ItemResult struct {
	Outcome   evaluate.Outcome   `json:"outcome"`
	Judgement evaluate.Judgement `json:"judgement"`
	Usage     knowledge.Usage    `json:"usage"`            // of the answer and of the judge
	Grades    []int              `json:"grades,omitempty"` // of the score, where it was asked for several times
}

// EvaluationReport is what an evaluation came to.
type EvaluationReport struct {
	evaluate.Summary
	Judge  string          `json:"judge"`
	Rubric evaluate.Rubric `json:"rubric"`
	// Consistency is how often the judge contradicts itself, nil = it was asked once only.
	Consistency *evaluate.Consistency `json:"consistency,omitempty"`
	// Stopped is the part of the budget that was used up before the end, "" = none.
	Stopped string `json:"stopped,omitempty"`
	// Cells are what the configurations of an experiment came to; the first one is the Summary
	// too.
	Cells []CellReport `json:"cells,omitempty"`
}

// CellReport is what a configuration of an experiment came to.
type CellReport struct {
	evaluate.Summary
	Usage knowledge.Usage `json:"usage"`
	// Comparison is with the first cell, without the items that changed. That of the first cell is
	// empty.
	Comparison evaluate.Comparison `json:"comparison,omitzero"`
}

// EvaluationData is the inline data of an evaluationUpdate event.
type EvaluationData struct {
	knowledge.EvaluationProgress
}
