package answering

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// Evaluations is the part of the store that has the items of evaluations. Every method is
// idempotent.
type Evaluations interface {
	// BeginItems inserts items. Those that are there stay as they are.
	BeginItems(ctx context.Context, evaluation string, items []store.Evaluated) error
	// ItemsAfter lists the items behind a number that do not have a final state.
	ItemsAfter(ctx context.Context, evaluation string, after, limit int) ([]store.Evaluated, error)
	// ItemForSystem returns an item.
	ItemForSystem(ctx context.Context, evaluation string, number int) (store.Evaluated, error)
	// ItemsForSystem returns all items, in their order.
	ItemsForSystem(ctx context.Context, evaluation string) ([]store.Evaluated, error)
	// SetItem stores the state and the result of an item, unless its state is final.
	SetItem(ctx context.Context, evaluation string, i store.Evaluated) error
	// NoteEvaluation stores what an evaluation has used, and returns how far it is.
	NoteEvaluation(ctx context.Context, workspace, id string, paused bool, used knowledge.Usage) (knowledge.EvaluationProgress, error)
	// SetReport stores what an evaluation came to and, with tell, tells the webhooks of its
	// project once.
	SetReport(ctx context.Context, workspace, id string, report json.RawMessage, tell bool) error
}

// Evaluating holds the activities of EvaluateProject.
type Evaluating struct {
	stepLog

	Evaluations Evaluations
	Blobs       step.Blobs
	Runs        step.RunEnds
	Passages    retrieve.PassageReader
	Judges      JudgeWebhooks
	Hub         Hub
	Metrics     Metrics
	chats       *chats
}

// beginAtATime is how many items one transaction inserts.
const beginAtATime = 200

// BeginEvaluation puts the items of an evaluation on record, each in all cells of an experiment
// and as often as it is repeated. All items are asked once before one is asked again, and an item
// in one cell after the other, so that an experiment that ends early has asked the same items in
// all cells.
func (a *Evaluating) BeginEvaluation(ctx context.Context, in knowledge.RunRef) error {
	defer step.Heartbeat(ctx)()
	if err := a.beginEvaluation(ctx, in); err != nil {
		return a.fail(ctx, in, fmt.Errorf("begin evaluation %s: %w", in.Run, err))
	}
	return nil
}

func (a *Evaluating) beginEvaluation(ctx context.Context, in knowledge.RunRef) error {
	var snapshot record.Evaluation
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &snapshot); err != nil {
		return err
	}
	if snapshot.Settings.Of != "" {
		return a.beginAgain(ctx, in, snapshot.Settings.Of)
	}
	var items []evaluate.Item
	if err := a.Blobs.GetJSON(ctx, record.EvaluationItemsKey(in), &items); err != nil {
		return err
	}
	cells := snapshot.Settings.CellCount()
	var rows []store.Evaluated
	for repeat := range snapshot.Settings.Repeats {
		for i, item := range items {
			encoded, err := json.Marshal(item)
			if err != nil {
				return fmt.Errorf("encode item %s: %w", item.ID, err)
			}
			for cell := range cells {
				number := (repeat*len(items)+i)*cells + cell + 1
				rows = append(rows, store.Evaluated{Number: number, ItemID: item.ID, Repeat: repeat + 1, Cell: cell + 1, Item: encoded})
			}
			if len(rows) >= beginAtATime {
				if err := a.Evaluations.BeginItems(ctx, in.Run, rows); err != nil {
					return err
				}
				rows = rows[:0]
			}
		}
	}
	return a.Evaluations.BeginItems(ctx, in.Run, rows)
}

// beginAgain puts the items of an evaluation on record that were answered for another one.
func (a *Evaluating) beginAgain(ctx context.Context, in knowledge.RunRef, of string) error {
	answered, err := a.Evaluations.ItemsForSystem(ctx, of)
	if err != nil {
		return err
	}
	var rows []store.Evaluated
	for _, row := range answered {
		if row.State == knowledge.ItemJudged {
			rows = append(rows, store.Evaluated{Number: len(rows) + 1, ItemID: row.ItemID, Repeat: row.Repeat, Cell: row.Cell, Item: row.Item, Run: row.Run})
		}
	}
	for page := range slices.Chunk(rows, beginAtATime) {
		if err := a.Evaluations.BeginItems(ctx, in.Run, page); err != nil {
			return err
		}
	}
	return nil
}

// NextItemsInput asks for items behind a number.
type NextItemsInput struct {
	knowledge.RunRef
	After int `json:"after"`
	Limit int `json:"limit"`
}

// NextItems returns the numbers of items without a final state.
func (a *Evaluating) NextItems(ctx context.Context, in NextItemsInput) ([]int, error) {
	list, err := a.Evaluations.ItemsAfter(ctx, in.Run, in.After, in.Limit)
	if err != nil {
		return nil, a.fail(ctx, in.RunRef, err)
	}
	numbers := make([]int, 0, len(list))
	for _, i := range list {
		numbers = append(numbers, i.Number)
	}
	return numbers, nil
}

// EvaluatedInput names an item of an evaluation, and which time it is asked because the model
// limited requests.
type EvaluatedInput struct {
	knowledge.RunRef
	Number int `json:"number"`
	Try    int `json:"try,omitempty"`
}

// answer returns the run that answers the item.
func (in EvaluatedInput) answer() knowledge.RunRef { return in.EvaluatedRun(in.Number, in.Try) }

// answeredBy returns the run that answered the item, as its row has it.
func (in EvaluatedInput) answeredBy(row store.Evaluated) knowledge.RunRef {
	run := in.answer()
	if row.Run != "" {
		run.Run = row.Run
	}
	return run
}

// PrepareEvaluated stores the request of the run that answers an item, and returns the input of
// its workflow. An input without a run means that the item has its answer. It is a local activity.
func (a *Evaluating) PrepareEvaluated(ctx context.Context, in EvaluatedInput) (record.AnswerInput, error) {
	prepared, err := a.prepareEvaluated(ctx, in)
	if err != nil {
		return prepared, a.fail(ctx, in.RunRef, fmt.Errorf("prepare item %d of evaluation %s: %w", in.Number, in.Run, err))
	}
	return prepared, nil
}

func (a *Evaluating) prepareEvaluated(ctx context.Context, in EvaluatedInput) (record.AnswerInput, error) {
	var snapshot record.Evaluation
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &snapshot); err != nil {
		return record.AnswerInput{}, err
	}
	row, item, err := a.item(ctx, in)
	if err != nil {
		return record.AnswerInput{}, err
	}
	if snapshot.Settings.Of != "" {
		return record.AnswerInput{}, nil
	}
	run := in.answer()
	request := snapshot.QuestionOf(row.Cell)
	request.Question, request.Date = item.Question, time.Now().UTC()
	request.ExecutionID = "call_" + strings.ReplaceAll(run.Run, "-", "")
	if _, err := a.Blobs.PutJSON(ctx, run.RequestKey(), request); err != nil {
		return record.AnswerInput{}, err
	}
	row.Run = run.Run
	prepared := record.NewAnswerInput(run, request)
	prepared.Caller = &record.Caller{Run: in.Run, Quiet: true}
	return prepared, a.Evaluations.SetItem(ctx, in.Run, row)
}

// item reads an item of an evaluation.
func (a *Evaluating) item(ctx context.Context, in EvaluatedInput) (row store.Evaluated, item evaluate.Item, err error) {
	if row, err = a.Evaluations.ItemForSystem(ctx, in.Run, in.Number); err != nil {
		return row, item, err
	}
	if err := json.Unmarshal(row.Item, &item); err != nil {
		return row, item, fmt.Errorf("decode item %d: %w", in.Number, err)
	}
	return row, item, nil
}

// FailEvaluatedInput is why an item has no judgement.
type FailEvaluatedInput struct {
	EvaluatedInput
	Failure knowledge.Failure `json:"failure"`
}

// FailEvaluated stores that an item failed after its answer. It is a local activity.
func (a *Evaluating) FailEvaluated(ctx context.Context, in FailEvaluatedInput) (Judged, error) {
	judged := Judged{State: knowledge.ItemFailed}
	row, item, err := a.item(ctx, in.EvaluatedInput)
	if err != nil {
		return judged, a.fail(ctx, in.RunRef, err)
	}
	var snapshot record.Evaluation
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &snapshot); err != nil {
		return judged, a.fail(ctx, in.RunRef, err)
	}
	answered, err := a.answered(ctx, in.answeredBy(row))
	if err == nil {
		if snapshot.Settings.Of == "" {
			judged.Usage = answered.used.Usage
		}
		err = a.failItem(ctx, in.EvaluatedInput, row, item, in.Failure, judged.Usage)
	}
	if err != nil {
		return judged, a.fail(ctx, in.RunRef, err)
	}
	return judged, nil
}

// answeredItem is the run that answered an item, with what it used.
type answeredItem struct {
	store.Run
	used knowledge.RunUsage
}

func (a *Evaluating) answered(ctx context.Context, run knowledge.RunRef) (answeredItem, error) {
	row, err := a.Runs.RunForSystem(ctx, run.Workspace, run.Run)
	if knowledge.IsCode(err, knowledge.CodeNotFound) { // it was ended before its first step
		return answeredItem{Run: store.Run{Status: knowledge.RunFailed}}, nil
	}
	if err != nil {
		return answeredItem{}, err
	}
	answered := answeredItem{Run: row}
	if len(row.Usage) > 0 {
		if err := json.Unmarshal(row.Usage, &answered.used); err != nil {
			return answered, fmt.Errorf("decode the usage of run %s: %w", run.Run, err)
		}
	}
	return answered, nil
}

// failItem stores that an item failed, and what it has used all the same.
func (a *Evaluating) failItem(ctx context.Context, in EvaluatedInput, row store.Evaluated, item evaluate.Item, f knowledge.Failure, used knowledge.Usage) error {
	result := record.ItemResult{Outcome: evaluate.Outcome{Item: item.ID, Repeat: row.Repeat - 1, Error: f.Message}, Usage: used}
	encoded, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("encode the result of item %s: %w", item.ID, err)
	}
	row.State, row.Error, row.Result = knowledge.ItemFailed, &f, encoded
	return a.Evaluations.SetItem(ctx, in.Run, row)
}

// EvaluationState is the part of the progress of an evaluation that its workflow knows.
type EvaluationState struct {
	knowledge.RunRef
	Paused bool            `json:"paused,omitempty"`
	Usage  knowledge.Usage `json:"usage,omitzero"`
}

// NoteEvaluation stores and returns how far an evaluation is. It is a local activity.
func (a *Evaluating) NoteEvaluation(ctx context.Context, in EvaluationState) (knowledge.EvaluationProgress, error) {
	p, err := a.Evaluations.NoteEvaluation(ctx, in.Workspace, in.Run, in.Paused, in.Usage)
	if err != nil {
		return p, a.fail(ctx, in.RunRef, err)
	}
	p.Usage = in.Usage
	return p, nil
}
