package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Evaluated is an item of an evaluation: a question, its answer and its judgement.
type Evaluated struct {
	Number  int             // 1 = first
	ItemID  string          // of the test set
	Repeat  int             // 1 = first
	Cell    int             // the configuration of an experiment, 1 = first
	Item    json.RawMessage // as the test set had it
	State   knowledge.ItemState
	Run     string          // that answered it, "" = not begun
	Result  json.RawMessage // nil = it is not judged; the store does not read it
	Error   *knowledge.Failure
	Reviews []Review // of people
}

type evaluatedRow struct {
	bun.BaseModel `bun:"table:evaluation_items,alias:i"`
	Evaluation    string              `bun:"evaluation,pk"`
	Number        int                 `bun:"number,pk"`
	ItemID        string              `bun:"item_id"`
	Repeat        int                 `bun:"repeat"`
	Cell          int                 `bun:"cell"`
	Item          string              `bun:"item"`
	State         knowledge.ItemState `bun:"state"`
	Run           string              `bun:"run_id"`
	Result        string              `bun:"result"`
	Error         string              `bun:"error"`
}

func (r *evaluatedRow) evaluated() (Evaluated, error) {
	e := Evaluated{Number: r.Number, ItemID: r.ItemID, Repeat: r.Repeat, Cell: r.Cell, Item: json.RawMessage(r.Item), State: r.State, Run: r.Run}
	if r.Result != "" {
		e.Result = json.RawMessage(r.Result)
	}
	if err := decode(field{r.Error, &e.Error}); err != nil {
		return e, fmt.Errorf("decode item %d of evaluation %s: %w", r.Number, r.Evaluation, err)
	}
	return e, nil
}

// BeginItems inserts items of an evaluation, some with the run that has answered them. Those that are
// there stay as they are.
func (s *evaluationStore) BeginItems(ctx context.Context, evaluation string, items []Evaluated) error {
	return s.write(ctx, "add items of evaluation "+evaluation, func(ctx context.Context, tx transaction) error {
		rows := make([]evaluatedRow, 0, len(items))
		for _, i := range items {
			rows = append(rows, evaluatedRow{Evaluation: evaluation, Number: i.Number, ItemID: i.ItemID, Repeat: i.Repeat, Cell: max(1, i.Cell), Item: string(i.Item), State: knowledge.ItemWaiting, Run: i.Run})
		}
		if len(rows) == 0 {
			return nil
		}
		_, err := tx.NewInsert().Model(&rows).On("CONFLICT (evaluation, number) DO NOTHING").Exec(ctx)
		return err
	})
}

// SetItem stores the state of an item of an evaluation, and its result or its error. An item
// that has a final state stays as it is.
func (s *evaluationStore) SetItem(ctx context.Context, evaluation string, i Evaluated) error {
	encoded := ""
	if i.Error != nil {
		var err error
		if encoded, err = encode(i.Error); err != nil {
			return err
		}
	}
	return s.write(ctx, fmt.Sprintf("store item %d of evaluation %s", i.Number, evaluation), func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `UPDATE evaluation_items SET state = ?, run_id = ?, result = ?, error = ? WHERE evaluation = ? AND number = ? AND state IN ('waiting', 'answered')`,
			string(i.State), i.Run, string(i.Result), encoded, evaluation, i.Number)
		return err
	})
}

// ItemsAfter lists the items of an evaluation behind a number that do not have a final state,
// by their number, without a check of permission: for workers.
func (s *evaluationStore) ItemsAfter(ctx context.Context, evaluation string, after, limit int) ([]Evaluated, error) {
	rows, err := evaluatedTable.all(ctx, s.reader, "i.evaluation = ? AND i.number > ? AND i.state IN ('waiting', 'answered') ORDER BY i.number LIMIT ?", evaluation, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list items of evaluation %s: %w", evaluation, failure(err))
	}
	return decodeRows(rows, (*evaluatedRow).evaluated)
}

// ItemForSystem returns an item of an evaluation without a check of permission: for workers.
func (s *evaluationStore) ItemForSystem(ctx context.Context, evaluation string, number int) (Evaluated, error) {
	var row evaluatedRow
	there, err := evaluatedTable.first(ctx, s.reader, &row, "i.evaluation = ? AND i.number = ?", evaluation, number)
	if err == nil && !there {
		err = knowledge.NotFound("item", fmt.Sprint(number))
	}
	if err != nil {
		return Evaluated{}, fmt.Errorf("read item %d of evaluation %s: %w", number, evaluation, failure(err))
	}
	return row.evaluated()
}

// ItemsForSystem returns all items of an evaluation by their number, without a check of
// permission and without reviews: for workers.
func (s *evaluationStore) ItemsForSystem(ctx context.Context, evaluation string) ([]Evaluated, error) {
	rows, err := evaluatedTable.all(ctx, s.reader, "i.evaluation = ? ORDER BY i.number", evaluation)
	if err != nil {
		return nil, fmt.Errorf("list items of evaluation %s: %w", evaluation, failure(err))
	}
	return decodeRows(rows, (*evaluatedRow).evaluated)
}

// ItemQuery asks for items of an evaluation. Empty fields ask for all.
type ItemQuery struct {
	State knowledge.ItemState
	Item  string // its id in the test set
	Cell  int
	Page
}

// EvaluationItems lists the items of an evaluation that the principal may read, in their
// order, with their reviews.
func (s *evaluationStore) EvaluationItems(ctx context.Context, p knowledge.Principal, id string, query ItemQuery) ([]Evaluated, string, error) {
	if _, err := s.Evaluation(ctx, p, id); err != nil {
		return nil, "", err
	}
	var rows []evaluatedRow
	q := s.reader.NewSelect().Model(&rows).Where("i.evaluation = ?", id)
	if query.State != "" {
		q = q.Where("i.state = ?", query.State)
	}
	if query.Item != "" {
		q = q.Where("i.item_id = ?", query.Item)
	}
	if query.Cell > 0 {
		q = q.Where("i.cell = ?", query.Cell)
	}
	q, limit, err := inOrder(q, "i.number", "ASC", "evaluation_items", query.Page)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list items of evaluation %s: %w", id, failure(err))
	}
	rows, cursor := next(rows, limit, func(r evaluatedRow) position { return position{List: "evaluation_items", Order: int64(r.Number)} })
	list, err := decodeRows(rows, (*evaluatedRow).evaluated)
	if err != nil || len(list) == 0 {
		return list, cursor, err
	}
	return list, cursor, s.addReviews(ctx, id, list)
}

// AllEvaluated returns all items of an evaluation that the principal may read, in their order,
// with their reviews.
func (s *evaluationStore) AllEvaluated(ctx context.Context, p knowledge.Principal, id string) ([]Evaluated, error) {
	if _, err := s.Evaluation(ctx, p, id); err != nil {
		return nil, err
	}
	list, err := s.ItemsForSystem(ctx, id)
	if err != nil || len(list) == 0 {
		return list, err
	}
	return list, s.addReviews(ctx, id, list)
}

// ItemRef names an item of an evaluation by its id in the test set.
type ItemRef struct {
	Item   string
	Repeat int // 1 = first
	Cell   int // 1 = first
}

// EvaluatedItem returns an item of an evaluation that the principal may read, with its reviews.
func (s *evaluationStore) EvaluatedItem(ctx context.Context, p knowledge.Principal, id string, item ItemRef) (Evaluated, error) {
	if _, err := s.Evaluation(ctx, p, id); err != nil {
		return Evaluated{}, err
	}
	var row evaluatedRow
	there, err := evaluatedTable.first(ctx, s.reader, &row, "i.evaluation = ? AND i.item_id = ? AND i.repeat = ? AND i.cell = ?", id, item.Item, item.Repeat, item.Cell)
	if err == nil && !there {
		err = knowledge.NotFound("item", item.Item)
	}
	if err != nil {
		return Evaluated{}, fmt.Errorf("read item %s of evaluation %s: %w", item.Item, id, failure(err))
	}
	e, err := row.evaluated()
	if err != nil {
		return e, err
	}
	list := []Evaluated{e}
	err = s.addReviews(ctx, id, list)
	return list[0], err
}
