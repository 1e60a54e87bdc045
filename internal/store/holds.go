package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// holdStore has the legal holds of workspaces.
type holdStore struct{ *database }

type holdRow struct {
	bun.BaseModel `bun:"table:holds,alias:h"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Project       string `bun:"project"`
	Name          string `bun:"name"`
	Reason        string `bun:"reason"`
	Filter        string `bun:"filter"`
	CreatedBy     string `bun:"created_by"`
	CreatedAt     int64  `bun:"created_at"`
	LiftedBy      string `bun:"lifted_by"`
	LiftedAt      int64  `bun:"lifted_at"`
	LiftReason    string `bun:"lift_reason"`

	Documents int `bun:"documents,scanonly"`
}

func (r *holdRow) hold() (knowledge.Hold, error) {
	h := knowledge.Hold{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Name: r.Name, Reason: r.Reason, Documents: r.Documents, CreatedBy: r.CreatedBy,
		CreatedAt: fromMicros(r.CreatedAt), LiftedBy: r.LiftedBy, LiftedAt: fromMicros(r.LiftedAt), LiftReason: r.LiftReason,
	}
	if r.Filter == "" {
		return h, nil
	}
	h.Filter = &knowledge.HoldFilter{}
	if err := decode(field{r.Filter, h.Filter}); err != nil {
		return h, fmt.Errorf("decode hold %s: %w", r.ID, err)
	}
	return h, nil
}

// AddHold places a hold on documents of the principal's workspace: those of these ids, or those
// that meet the filter of the hold, now or later. A hold with its id is returned as it is. A
// document that is not there is CodeNotFound, and one that is being removed CodeConflict; then
// there is no hold.
func (s *holdStore) AddHold(ctx context.Context, p knowledge.Principal, h knowledge.Hold, documents []string) (knowledge.Hold, error) {
	if err := requireWorkspace(p); err != nil {
		return h, err
	}
	row, err := s.rowOf(p, h)
	if err != nil {
		return h, err
	}
	err = s.write(ctx, "place hold "+h.ID, func(ctx context.Context, tx transaction) error {
		var earlier holdRow
		there, err := holdTable.first(ctx, tx, &earlier, "h.id = ? AND h.workspace = ?", row.ID, row.Workspace)
		if err != nil || there {
			return err
		}
		if err := holdTable.insert(ctx, tx, &row); err != nil {
			return err
		}
		m, err := marksIn(ctx, tx, p, micros(tx.now()))
		if err != nil {
			return err
		}
		return row.taken(ctx, tx, p, m, documents, func(d *documentRow) error { return d.putUnder(ctx, tx, row.ID) })
	})
	if err != nil {
		return h, err
	}
	return s.Hold(ctx, p, h.ID)
}

// rowOf returns the row of a hold that a principal places.
func (s *holdStore) rowOf(p knowledge.Principal, h knowledge.Hold) (holdRow, error) {
	row := holdRow{
		ID: h.ID, Workspace: p.Workspace(), Project: p.Project(), Name: h.Name, Reason: h.Reason,
		CreatedBy: p.Owner(), CreatedAt: micros(s.orNow(h.CreatedAt)),
	}
	if h.Filter == nil {
		return row, nil
	}
	var err error
	if row.Filter, err = encode(h.Filter); err != nil {
		return row, fmt.Errorf("encode the filter of a hold: %w", err)
	}
	return row, nil
}

// CountHold returns how many documents AddHold would put under a hold, and places none. It
// refuses what AddHold refuses.
func (s *holdStore) CountHold(ctx context.Context, p knowledge.Principal, h knowledge.Hold, documents []string) (int, error) {
	if err := requireWorkspace(p); err != nil {
		return 0, err
	}
	row, err := s.rowOf(p, h)
	if err != nil {
		return 0, err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return 0, err
	}
	count := 0
	err = row.taken(ctx, s.reader, p, m, documents, func(*documentRow) error {
		count++
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count the documents of a hold: %w", failure(err))
	}
	return count, nil
}

// taken calls a function with each document that a hold takes: those of these ids, or those that
// meet its filter.
func (r *holdRow) taken(ctx context.Context, db querier, p knowledge.Principal, m marks, documents []string, take func(*documentRow) error) error {
	if r.Filter != "" {
		return r.matching(ctx, db, take)
	}
	for _, id := range unique(documents) {
		var doc documentRow
		there, err := documentTable.first(ctx, db, &doc, anyDocument, p.Workspace(), p.Project(), m.list(), id)
		switch {
		case err != nil:
			return err
		case !there:
			return knowledge.NotFound("document", id)
		case doc.RemovingUpto > 0:
			return knowledge.Errorf(knowledge.CodeConflict, "the document %q is being removed", id)
		}
		if err := take(&doc); err != nil {
			return err
		}
	}
	return nil
}

// matching calls a function with each document that meets the filter of a hold, whoever sees
// it.
func (r *holdRow) matching(ctx context.Context, db querier, take func(*documentRow) error) error {
	h, err := r.hold()
	if err != nil {
		return err
	}
	project := r.Project
	if h.Filter.Project != "" {
		project = h.Filter.Project
	}
	where := "d.workspace = ? AND (? = '' OR d.project = ?) AND (? = '' OR d.project = ?) AND d.removed = FALSE AND d.removing_upto = 0 AND d.id > ? ORDER BY d.id LIMIT 1000"
	for last := ""; ; {
		rows, err := documentTable.all(ctx, db, where, r.Workspace, r.Project, r.Project, project, project, last)
		if err != nil || len(rows) == 0 {
			return err
		}
		last = rows[len(rows)-1].ID
		for i := range rows {
			d, err := rows[i].document()
			if err == nil && h.Filter.Matches(d) {
				err = take(&rows[i])
			}
			if err != nil {
				return err
			}
		}
	}
}

// putUnder puts a document under a hold, unless it is already.
func (r *documentRow) putUnder(ctx context.Context, tx transaction, hold string) error {
	added, err := changed(tx.exec(ctx, "INSERT INTO hold_documents (hold, document_id) VALUES (?, ?) ON CONFLICT DO NOTHING", hold, r.ID))
	if err != nil || !added {
		return err
	}
	r.Holds++
	_, err = tx.exec(ctx, "UPDATE documents SET holds = holds + 1 WHERE id = ?", r.ID)
	return err
}

// capture puts a document under the holds whose filters it has come to meet. It is called by all
// that changes what filters look at, so that a hold by filter needs no sweep.
func (r *documentRow) capture(ctx context.Context, tx transaction) error {
	if r.Removed || r.RemovingUpto > 0 && r.RemovingUpto == r.Version {
		return nil
	}
	rows, err := holdTable.all(ctx, tx, "h.workspace = ? AND h.lifted_at = 0 AND h.filter <> '' AND (h.project = '' OR h.project = ?)", r.Workspace, r.Project)
	if err != nil || len(rows) == 0 {
		return err
	}
	d, err := r.document()
	if err != nil {
		return err
	}
	for i := range rows {
		h, err := rows[i].hold()
		if err == nil && h.Filter.Matches(d) {
			err = r.putUnder(ctx, tx, h.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recapture is capture for a document whose row has changed since it was read.
func recapture(ctx context.Context, tx transaction, before *documentRow) error {
	const filters = "SELECT COUNT(*) FROM holds AS h WHERE h.workspace = ? AND h.lifted_at = 0 AND h.filter <> ''"
	var n int64
	if _, err := first(ctx, tx, []any{&n}, filters, before.Workspace); err != nil || n == 0 {
		return err
	}
	var doc documentRow
	if _, err := loadDocument(ctx, tx, before.ID, &doc); err != nil {
		return err
	}
	return doc.capture(ctx, tx)
}

// LiftHold lifts a hold. Its documents can be removed again, unless another one holds them. A
// hold that was lifted before is CodeConflict.
func (s *holdStore) LiftHold(ctx context.Context, p knowledge.Principal, id, reason string) (knowledge.Hold, error) {
	if _, err := s.Hold(ctx, p, id); err != nil {
		return knowledge.Hold{}, err
	}
	err := s.write(ctx, "lift hold "+id, func(ctx context.Context, tx transaction) error {
		lifted, err := changed(tx.exec(ctx, "UPDATE holds SET lifted_by = ?, lifted_at = ?, lift_reason = ? WHERE id = ? AND workspace = ? AND lifted_at = 0",
			p.Owner(), micros(s.now()), reason, id, p.Workspace()))
		if err == nil && !lifted {
			err = knowledge.Errorf(knowledge.CodeConflict, "this hold was lifted before")
		}
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE documents SET holds = holds - 1 WHERE id IN (SELECT document_id FROM hold_documents WHERE hold = ?)", id)
		return err
	})
	if err != nil {
		return knowledge.Hold{}, err
	}
	return s.Hold(ctx, p, id)
}
