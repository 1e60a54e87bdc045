package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// subjectStore finds and erases what a person left.
type subjectStore struct{ *database }

// SubjectScope is a run that exports or erases what a person left.
type SubjectScope struct {
	knowledge.RunRef
	Person knowledge.Person
}

func (s SubjectScope) owner() string { return s.Person.Owner() }

// BeginSubjectRun inserts a run of KindExport or KindErase for a person of the principal's
// workspace, which must cover all of it. A name that is not that of a member is looked up as
// MemberBySubject does. It returns the run that is under way for the person, if there is one.
// reason is that of an erasure.
func (s *subjectStore) BeginSubjectRun(ctx context.Context, p knowledge.Principal, kind knowledge.RunKind, person knowledge.Person, id, reason string) (Run, error) {
	if err := requireWholeWorkspace(p, "people"); err != nil {
		return Run{}, err
	}
	if !person.External {
		m, there, err := (&memberStore{s.database}).MemberBySubject(ctx, p.Workspace(), person.Name)
		if err != nil {
			return Run{}, err
		}
		if there {
			person.Name = m.Name
		}
	}
	var progress string
	if kind == knowledge.KindErase {
		var err error
		if progress, err = encode(knowledge.ErasureProgress{Reason: reason, KeptByHold: []knowledge.HeldDocument{}}); err != nil {
			return Run{}, err
		}
	}
	var run Run
	err := s.write(ctx, "begin a run of the kind "+string(kind), func(ctx context.Context, tx transaction) error {
		var row runRow
		there, err := runTable.first(ctx, tx, &row, "r.workspace = ? AND r.kind = ? AND r.subject = ? AND (r.status = 'running' OR r.id = ?) LIMIT 1",
			p.Workspace(), string(kind), person.Owner(), id)
		if err != nil {
			return err
		}
		if there {
			run, err = row.run()
			return err
		}
		run = Run{
			ID: id, Workspace: p.Workspace(), Kind: kind, Status: knowledge.RunRunning, Owner: p.Owner(),
			WorkflowID: kind.WorkflowID(p.Workspace(), id), Subject: person.Owner(), Progress: json.RawMessage(progress), CreatedAt: s.now(),
		}
		return insertRun(ctx, tx, run)
	})
	return run, err
}

// SubjectForSystem returns the person whom a run exports or erases.
func (s *subjectStore) SubjectForSystem(ctx context.Context, ref knowledge.RunRef) (SubjectScope, error) {
	var subject string
	there, err := first(ctx, s.reader, []any{&subject}, "SELECT subject FROM runs WHERE id = ? AND workspace = ?", ref.Run, ref.Workspace)
	if err != nil {
		return SubjectScope{}, fmt.Errorf("read run %s: %w", ref.Run, failure(err))
	}
	person, ok := knowledge.PersonOfOwner(subject)
	if !there || !ok {
		return SubjectScope{}, knowledge.NotFound("run", ref.Run)
	}
	return SubjectScope{ref, person}, nil
}

// noteErased changes the progress of an erasure, in the transaction of what it counts.
func (s SubjectScope) noteErased(ctx context.Context, tx transaction, change func(*knowledge.ErasureProgress)) error {
	var text string
	if _, err := first(ctx, tx, []any{&text}, "SELECT progress FROM runs WHERE id = ? AND workspace = ?", s.Run, s.Workspace); err != nil {
		return err
	}
	p := knowledge.ErasureProgress{KeptByHold: []knowledge.HeldDocument{}}
	if text != "" {
		if err := decode(field{text, &p}); err != nil {
			return err
		}
	}
	change(&p)
	text, err := encode(p)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "UPDATE runs SET progress = ? WHERE id = ? AND workspace = ?", text, s.Run, s.Workspace)
	return err
}

// NoteQuotations notes that no answer quotes these documents any more, and counts the answers to
// other people from which quotations were cut.
func (s *subjectStore) NoteQuotations(ctx context.Context, scope SubjectScope, documents []string, n int) error {
	return s.write(ctx, "note the progress of run "+scope.Run, func(ctx context.Context, tx transaction) error {
		_, err := tx.NewUpdate().TableExpr("erasure_documents").Set("quoted = FALSE").Where("run_id = ? AND document_id IN (?)", scope.Run, bun.List(documents)).Exec(ctx)
		if err != nil || n == 0 {
			return err
		}
		return scope.noteErased(ctx, tx, func(p *knowledge.ErasureProgress) { p.Removed.Quotations += n })
	})
}

// NoteExported stores what an export has written.
func (s *subjectStore) NoteExported(ctx context.Context, ref knowledge.RunRef, p knowledge.ExportProgress) error {
	progress, err := encode(p)
	if err != nil {
		return fmt.Errorf("encode the progress of run %s: %w", ref.Run, err)
	}
	return s.write(ctx, "note the progress of run "+ref.Run, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE runs SET progress = ? WHERE id = ? AND workspace = ?", progress, ref.Run, ref.Workspace)
		return err
	})
}
