package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// unheld is the condition that nothing keeps a document d from removal.
const unheld = "d.legal_hold = FALSE AND d.holds = 0"

// held reports whether something keeps the document from removal.
func (r *documentRow) held() bool { return r.LegalHold || r.Holds > 0 }

// holdsOfDocument selects the holds on the document ?1 that nobody has lifted.
const holdsOfDocument = `SELECT h.id, h.name FROM hold_documents AS u JOIN holds AS h ON h.id = u.hold
WHERE u.document_id = ?1 AND h.lifted_at = 0 ORDER BY h.created_at, h.id`

// refusal is the conflict of a document that is held. It names the holds.
func (r *documentRow) refusal(ctx context.Context, db querier) error {
	if r.Holds == 0 {
		return knowledge.Errorf(knowledge.CodeConflict, "this document is under legal hold: lift the hold before you remove it")
	}
	names, err := holdNames(ctx, db, holdsOfDocument, r.ID)
	if err != nil {
		return err
	}
	return knowledge.Errorf(knowledge.CodeConflict, "this document is under the legal hold %s: it stays until the hold is lifted", names)
}

// holdNames returns the names and ids of the holds that a query selects, at most three.
func holdNames(ctx context.Context, db querier, query string, args ...any) (string, error) {
	rows, err := db.query(ctx, query, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return "", err
		}
		if len(names) < 3 {
			names = append(names, fmt.Sprintf("%q (%s)", name, id))
		}
	}
	return strings.Join(names, " and "), rows.Err()
}

// withCount selects holds with the number of their documents.
func (s *holdStore) withCount(rows any, p knowledge.Principal) *bun.SelectQuery {
	return within(s.reader.NewSelect().Model(rows), "h", p).
		ColumnExpr("h.*, (SELECT COUNT(*) FROM hold_documents AS u WHERE u.hold = h.id) AS documents")
}

// Hold returns a hold that Holds lists.
func (s *holdStore) Hold(ctx context.Context, p knowledge.Principal, id string) (knowledge.Hold, error) {
	if err := requireWorkspace(p); err != nil {
		return knowledge.Hold{}, err
	}
	var row holdRow
	there, err := found(s.withCount(&row, p).Where("h.id = ?", id).Scan(ctx))
	switch {
	case err != nil:
		return knowledge.Hold{}, fmt.Errorf("read hold %s: %w", id, failure(err))
	case !there:
		return knowledge.Hold{}, knowledge.NotFound("hold", id)
	}
	return row.hold()
}

// HoldQuery asks for holds.
type HoldQuery struct {
	Active   bool   // those alone that nobody has lifted
	Document string // those that hold this document, or have held it; "" = all
	Page
}

// Holds lists the holds of the principal's workspace, newest first. A principal of one project
// sees those that such a one has placed.
func (s *holdStore) Holds(ctx context.Context, p knowledge.Principal, query HoldQuery) ([]knowledge.Hold, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []holdRow
	q := s.withCount(&rows, p)
	if query.Active {
		q = q.Where("h.lifted_at = 0")
	}
	if query.Document != "" {
		q = q.Where("h.id IN (SELECT u.hold FROM hold_documents AS u WHERE u.document_id = ?)", query.Document)
	}
	q, limit, err := newestFirst(q, "h", "holds", query.Page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list holds: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r holdRow) position { return position{List: "holds", Order: r.CreatedAt, ID: r.ID} })
	list, err := decodeRows(rows, (*holdRow).hold)
	return list, cursor, err
}

// HeldDocuments lists the ids of the documents of a hold, in their order.
func (s *holdStore) HeldDocuments(ctx context.Context, p knowledge.Principal, hold string, page Page) ([]string, string, error) {
	if _, err := s.Hold(ctx, p, hold); err != nil {
		return nil, "", err
	}
	limit, err := page.limit(defaultLimit)
	if err != nil {
		return nil, "", err
	}
	at, _, err := page.after("held documents")
	if err != nil {
		return nil, "", err
	}
	var ids []string
	err = s.reader.NewSelect().TableExpr("hold_documents AS u").Column("u.document_id").
		Where("u.hold = ? AND u.document_id > ?", hold, at.Text).OrderExpr("u.document_id").Limit(int64(limit)+1).Scan(ctx, &ids)
	if err != nil {
		return nil, "", fmt.Errorf("list the documents of hold %s: %w", hold, failure(err))
	}
	ids, cursor := next(ids, limit, func(id string) position { return position{List: "held documents", Text: id} })
	return ids, cursor, nil
}
