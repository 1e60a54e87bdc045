package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// consentStore has the consents of the people whom documents are about.
type consentStore struct{ *database }

type consentRow struct {
	bun.BaseModel `bun:"table:consents,alias:c"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Subject       string `bun:"subject"`
	Purpose       string `bun:"purpose"`
	Evidence      string `bun:"evidence"`
	CreatedBy     string `bun:"created_by"`
	CreatedAt     int64  `bun:"created_at"`
	WithdrawnBy   string `bun:"withdrawn_by"`
	WithdrawnAt   int64  `bun:"withdrawn_at"`
}

func (r *consentRow) consent() knowledge.Consent {
	return knowledge.Consent{
		ID: r.ID, Subject: r.Subject, Purpose: r.Purpose, Evidence: r.Evidence, CreatedBy: r.CreatedBy, CreatedAt: fromMicros(r.CreatedAt),
		WithdrawnBy: r.WithdrawnBy, WithdrawnAt: fromMicros(r.WithdrawnAt),
	}
}

// AddConsent stores a consent of the principal's workspace; one with its id is returned as it
// is.
func (s *consentStore) AddConsent(ctx context.Context, p knowledge.Principal, c knowledge.Consent) (knowledge.Consent, error) {
	if err := requireWholeWorkspace(p, "consents"); err != nil {
		return c, err
	}
	row := consentRow{
		ID: c.ID, Workspace: p.Workspace(), Subject: c.Subject, Purpose: c.Purpose, Evidence: c.Evidence,
		CreatedBy: p.Owner(), CreatedAt: micros(s.orNow(c.CreatedAt)),
	}
	err := s.write(ctx, "store consent "+c.ID, func(ctx context.Context, tx transaction) error {
		there, err := consentTable.first(ctx, tx, &consentRow{}, "c.id = ? AND c.workspace = ?", row.ID, row.Workspace)
		if err != nil || there {
			return err
		}
		return consentTable.insert(ctx, tx, &row)
	})
	if err != nil {
		return c, err
	}
	return s.Consent(ctx, p, c.ID)
}

// Consent returns a consent of the principal's workspace.
func (s *consentStore) Consent(ctx context.Context, p knowledge.Principal, id string) (knowledge.Consent, error) {
	if err := requireWholeWorkspace(p, "consents"); err != nil {
		return knowledge.Consent{}, err
	}
	var row consentRow
	there, err := consentTable.first(ctx, s.reader, &row, "c.id = ? AND c.workspace = ?", id, p.Workspace())
	switch {
	case err != nil:
		return knowledge.Consent{}, fmt.Errorf("read consent %s: %w", id, failure(err))
	case !there:
		return knowledge.Consent{}, knowledge.NotFound("consent", id)
	}
	return row.consent(), nil
}

// ConsentQuery asks for consents: those of a person, and those alone that hold. The zero value
// asks for all.
type ConsentQuery struct {
	Subject string
	Active  bool
}

// Consents lists the consents of the principal's workspace, newest first.
func (s *consentStore) Consents(ctx context.Context, p knowledge.Principal, query ConsentQuery, page Page) ([]knowledge.Consent, string, error) {
	if err := requireWholeWorkspace(p, "consents"); err != nil {
		return nil, "", err
	}
	var rows []consentRow
	q := within(s.reader.NewSelect().Model(&rows), "c", p)
	if query.Subject != "" {
		q = q.Where("c.subject = ?", query.Subject)
	}
	if query.Active {
		q = q.Where("c.withdrawn_at = 0")
	}
	q, limit, err := newestFirst(q, "c", "consents", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list consents: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r consentRow) position { return position{List: "consents", Order: r.CreatedAt, ID: r.ID} })
	return convert(rows, func(r consentRow) knowledge.Consent { return r.consent() }), cursor, nil
}

// Withdrawal is what the withdrawal of a consent did.
type Withdrawal struct {
	Consent  knowledge.Consent
	Removals []Removal                // whose workflows the caller starts
	Kept     []knowledge.HeldDocument // hidden from readers, and removed when the holds are lifted
}

// WithdrawConsent ends a consent and hides all documents at once that name its subject, in one
// transaction. Documents that no hold keeps are removed. A consent that was withdrawn before is
// CodeConflict.
func (s *consentStore) WithdrawConsent(ctx context.Context, p knowledge.Principal, id string) (Withdrawal, error) {
	if err := requireWholeWorkspace(p, "consents"); err != nil {
		return Withdrawal{}, err
	}
	var w Withdrawal
	err := s.write(ctx, "withdraw consent "+id, func(ctx context.Context, tx transaction) error {
		w = Withdrawal{}
		var row consentRow
		there, err := consentTable.first(ctx, tx, &row, "c.id = ? AND c.workspace = ?", id, p.Workspace())
		switch {
		case err != nil:
			return err
		case !there:
			return knowledge.NotFound("consent", id)
		case row.WithdrawnAt != 0:
			return knowledge.Errorf(knowledge.CodeConflict, "this consent was withdrawn before")
		}
		row.WithdrawnBy, row.WithdrawnAt = p.Owner(), micros(s.now())
		if err := consentTable.update(ctx, tx, &row); err != nil {
			return err
		}
		w.Consent = row.consent()
		w.Removals, w.Kept, err = withdrawSubject(ctx, tx, row, s.now())
		return err
	})
	return w, err
}

// withdrawSubject starts the removal of the documents that name the subject of a consent. Those
// under hold are hidden.
func withdrawSubject(ctx context.Context, tx transaction, c consentRow, now time.Time) (removals []Removal, kept []knowledge.HeldDocument, err error) {
	ids, err := documentsAbout(ctx, tx, c.Workspace, c.Subject)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		var doc documentRow
		there, err := loadDocument(ctx, tx, id, &doc) // again: it may have gone with its parent
		if err != nil {
			return nil, nil, err
		}
		if !there || doc.Removed || doc.RemovingUpto == doc.Version {
			continue
		}
		if doc.held() {
			held, err := doc.hideHeld(ctx, tx, c.ID, now)
			if err != nil {
				return nil, nil, err
			}
			kept = append(kept, held)
			continue
		}
		if err := doc.retire(ctx, tx, now); err != nil {
			return nil, nil, err
		}
		removals = append(removals, doc.removal())
	}
	return removals, kept, nil
}

// hideHeld hides a document under hold whose subject has withdrawn a consent.
func (r *documentRow) hideHeld(ctx context.Context, tx transaction, consent string, now time.Time) (knowledge.HeldDocument, error) {
	r.Withdrawn = consent
	if _, err := tx.exec(ctx, "UPDATE documents SET withdrawn = ? WHERE id = ?", consent, r.ID); err != nil {
		return knowledge.HeldDocument{}, err
	}
	if !r.Inactive {
		if err := hide(ctx, tx, r, now); err != nil {
			return knowledge.HeldDocument{}, err
		}
	}
	return r.heldDocument(ctx, tx)
}

// heldDocument names the holds on a document.
func (r *documentRow) heldDocument(ctx context.Context, db querier) (knowledge.HeldDocument, error) {
	if r.Holds == 0 {
		return knowledge.HeldDocument{Document: r.ID, Holds: "legal_hold of the document"}, nil
	}
	names, err := holdNames(ctx, db, holdsOfDocument, r.ID)
	return knowledge.HeldDocument{Document: r.ID, Holds: names}, err
}

// RemoveWithdrawn starts the removal of documents whose consent was withdrawn while a hold kept
// them, and which no hold keeps any more; at most limit of them. The caller starts the
// workflows.
func (s *consentStore) RemoveWithdrawn(ctx context.Context, limit int) (removals []Removal, err error) {
	const where = "d.withdrawn <> '' AND d.removed = FALSE AND d.removing_upto < d.version AND " + unheld + " ORDER BY d.id LIMIT ?"
	waiting, err := documentTable.all(ctx, s.reader, where, limit)
	if err != nil || len(waiting) == 0 {
		return nil, failure(err)
	}
	err = s.write(ctx, "remove documents whose consent was withdrawn", func(ctx context.Context, tx transaction) error {
		removals = nil
		rows, err := loadDocuments(ctx, tx, where, limit)
		for i := range rows {
			if err == nil {
				err = rows[i].retire(ctx, tx, s.now())
			}
			removals = append(removals, rows[i].removal())
		}
		return err
	})
	return removals, err
}
