package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// marksPerBatch is how many documents a transaction of MarkManyRemoving hides.
const marksPerBatch = 250

// RemovalMark asks for the removal of a document, in a run of this id.
type RemovalMark struct{ Document, RunID string }

// MarkManyRemoving is MarkRemoving for many documents, in a transaction for each batch.
// refused has the CodeNotFound or CodeConflict of the documents that stay, by document. If
// there is an error, the removals of earlier batches are returned with it.
func (s *removalStore) MarkManyRemoving(ctx context.Context, p knowledge.Principal, marks []RemovalMark, now time.Time) (removals []Removal, refused map[string]error, err error) {
	if err := requireWrite(p); err != nil {
		return nil, nil, err
	}
	now, refused = s.orNow(now), map[string]error{}
	for batch := range slices.Chunk(marks, marksPerBatch) {
		var marked []Removal
		doing := fmt.Sprintf("mark %d documents as removed", len(batch))
		err := s.write(ctx, doing, func(ctx context.Context, tx transaction) (err error) {
			marked, err = markBatch(ctx, tx, p, batch, now, refused)
			return err
		})
		if err != nil {
			return removals, refused, err
		}
		removals = append(removals, marked...)
	}
	return removals, refused, nil
}

func markBatch(ctx context.Context, tx transaction, p knowledge.Principal, batch []RemovalMark, now time.Time, refused map[string]error) ([]Removal, error) {
	batch, err := withoutUsedRuns(ctx, tx, batch, refused)
	if err != nil {
		return nil, err
	}
	var marked []Removal
	for _, m := range batch {
		delete(refused, m.Document) // of a try of this transaction that was not committed
		doc, err := markManaged(ctx, tx, p, m, now)
		switch {
		case err == nil:
			marked = append(marked, doc.removal())
		case knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeConflict):
			refused[m.Document] = err
		default:
			return nil, err
		}
	}
	return marked, nil
}

// withoutUsedRuns refuses the documents that have got a newer version since a run of the
// same id removed them. An insert of such a run would end the transaction.
func withoutUsedRuns(ctx context.Context, tx transaction, batch []RemovalMark, refused map[string]error) ([]RemovalMark, error) {
	var used []string
	ids := convert(batch, func(m RemovalMark) string { return m.RunID })
	err := tx.NewSelect().Model((*runRow)(nil)).Column("r.id").Where("r.id IN (?)", bun.List(ids)).
		Where("EXISTS (SELECT 1 FROM documents AS d WHERE d.id = r.subject AND d.removed = FALSE AND d.removing_upto < d.version)").Scan(ctx, &used)
	if err != nil || len(used) == 0 {
		return batch, err
	}
	return slices.DeleteFunc(slices.Clone(batch), func(m RemovalMark) bool {
		if !slices.Contains(used, m.RunID) {
			return false
		}
		refused[m.Document] = knowledge.Errorf(knowledge.CodeConflict, "there is a run %q already", m.RunID)
		return true
	}), nil
}
