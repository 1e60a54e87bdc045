package ingestion

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The sizes of the pages of an erasure.
const (
	erasedDocuments = 25 // whose quotations are looked for at once
	erasePage       = 100
)

// Subjects is the part of the store that finds and erases what a person left. Every method may be
// called again after an error or a crash: it counts nothing twice.
type Subjects interface {
	// SubjectForSystem returns the person whom a run exports or erases.
	SubjectForSystem(ctx context.Context, ref knowledge.RunRef) (store.SubjectScope, error)
	// EraseAccounts deletes what lets the person in, and what is kept for the person alone.
	EraseAccounts(ctx context.Context, scope store.SubjectScope) error
	// EraseDocuments hides the next documents that the person owns, but for those under hold.
	EraseDocuments(ctx context.Context, scope store.SubjectScope, after string, limit int) (removals []store.Removal, last string, err error)
	// QuotedDocuments lists hidden documents, and attachments of them, that answers may quote.
	QuotedDocuments(ctx context.Context, scope store.SubjectScope, limit int) ([]string, error)
	// NoteQuotations notes that no answer quotes these documents, and in how many one was cut.
	NoteQuotations(ctx context.Context, scope store.SubjectScope, documents []string, n int) error
	// EraseWords deletes what the person said of answers and in test sets.
	EraseWords(ctx context.Context, scope store.SubjectScope) error
	// EraseConversations deletes the next conversations of the person.
	EraseConversations(ctx context.Context, scope store.SubjectScope, limit int) (int, error)
	// SubjectRuns lists the runs whose words are the person's, and ItemRuns those that
	// evaluations made of such runs. EraseRuns deletes runs.
	SubjectRuns(ctx context.Context, scope store.SubjectScope, running bool, after string, limit int) ([]store.Run, error)
	ItemRuns(ctx context.Context, workspace string, items []string) ([]store.Run, error)
	EraseRuns(ctx context.Context, scope store.SubjectScope, ids []string) error
	// EraseImport deletes an import that has ended, with the keys of its objects.
	EraseImport(ctx context.Context, scope store.SubjectScope, id string) error
	// ErasedDocuments lists the documents that the erasure removes, and DocumentRuns the runs of
	// documents. DropRuns deletes runs.
	ErasedDocuments(ctx context.Context, scope store.SubjectScope, after string, limit int) ([]store.ErasedDocument, error)
	DocumentRuns(ctx context.Context, workspace string, documents []string) ([]store.Run, error)
	DropRuns(ctx context.Context, workspace string, ids []string) error
	// EndErasure stores what legal holds keep.
	EndErasure(ctx context.Context, scope store.SubjectScope) error
	// EraseDeleted returns once the bytes of deleted rows stand in no file.
	EraseDeleted(ctx context.Context) error
	exports
}

// SubjectWorkflows reaches the workflows of what a person left.
type SubjectWorkflows interface {
	// Remove starts a removal. Doing it twice changes nothing.
	Remove(ctx context.Context, r store.Removal) error
	// CancelRun asks a run to stop. known is false if it has no workflow that could.
	CancelRun(ctx context.Context, r store.Run) (known bool, err error)
	// EraseRun and EraseIngests delete histories, and block until they are gone.
	EraseRun(ctx context.Context, r store.Run) error
	EraseIngests(ctx context.Context, workspace, document string) error
	// EraseHistories blocks until the bytes of deleted histories stand in no file of this
	// program.
	EraseHistories(ctx context.Context) error
}

// Quotations cuts the words of documents out of the answers of a workspace.
type Quotations interface {
	// Documents cuts them out, and returns the number of messages that quoted them.
	Documents(ctx context.Context, workspace string, documents []string) (messages int, err error)
}

// SubjectStep names a run that exports or erases what a person left, and the place where the last
// page ended, "" = the begin.
type SubjectStep struct {
	knowledge.RunRef
	After string `json:"after,omitempty"`
}

// SubjectResult is what a page of such a run has done. More says that there are further pages
// after After, and Running that something has to end first: the workflow then repeats the page.
type SubjectResult struct {
	After   string `json:"after,omitempty"`
	More    bool   `json:"more,omitempty"`
	Running bool   `json:"running,omitempty"`
}

// Erasing holds the activities of EraseSubject.
type Erasing struct {
	Subjects   Subjects
	Workflows  SubjectWorkflows
	Quotations Quotations
	Blobs      step.Blobs
	Metrics    Metrics
	Log        *slog.Logger
	ender      step.RunEnder
	stopping   *stopping
}

// subjectPage runs a page of a run for its person.
func (a *Erasing) subjectPage(ctx context.Context, in SubjectStep, page func(store.SubjectScope) (SubjectResult, error)) (SubjectResult, error) {
	defer step.Heartbeat(ctx)()
	scope, err := a.Subjects.SubjectForSystem(ctx, in.RunRef)
	var result SubjectResult
	if err == nil {
		result, err = page(scope)
	}
	return result, a.failSubject(ctx, in.RunRef, err)
}

// EraseAccounts deletes what lets the person in, and what is kept for the person alone.
func (a *Erasing) EraseAccounts(ctx context.Context, in SubjectStep) (SubjectResult, error) {
	return a.subjectPage(ctx, in, func(scope store.SubjectScope) (SubjectResult, error) {
		return SubjectResult{}, a.Subjects.EraseAccounts(ctx, scope)
	})
}

// StopSubjectRuns cancels the questions and evaluations of the person that run, and reports
// whether one of them still runs.
func (a *Erasing) StopSubjectRuns(ctx context.Context, in SubjectStep) (SubjectResult, error) {
	return a.subjectPage(ctx, in, func(scope store.SubjectScope) (result SubjectResult, err error) {
		runs, err := a.Subjects.SubjectRuns(ctx, scope, true, "", erasePage)
		for _, run := range runs {
			if err != nil {
				return result, err
			}
			known := false
			if known, err = a.Workflows.CancelRun(ctx, run); err == nil && !known {
				err = a.stopping.endLost(ctx, run, "the person was erased")
			}
			result.Running = true
		}
		return result, err
	})
}

// EraseDocuments hides a page of the documents of the person, cuts their quotations out of the
// answers to others, and starts their removals.
func (a *Erasing) EraseDocuments(ctx context.Context, in SubjectStep) (SubjectResult, error) {
	return a.subjectPage(ctx, in, func(scope store.SubjectScope) (SubjectResult, error) {
		removals, last, err := a.Subjects.EraseDocuments(ctx, scope, in.After, erasedDocuments)
		if err != nil || last == "" {
			return SubjectResult{}, err
		}
		if err := a.cutQuotations(ctx, scope); err != nil {
			return SubjectResult{}, fmt.Errorf("cut quotations: %w", err)
		}
		for _, r := range removals {
			if err := a.Workflows.Remove(ctx, r); err != nil {
				return SubjectResult{}, fmt.Errorf("remove document %s: %w", r.Document, err)
			}
		}
		return SubjectResult{After: last, More: true}, nil
	})
}

// cutQuotations cuts what answers quote of the documents that are hidden. It needs their words, so
// their removal waits for it, after a crash too.
func (a *Erasing) cutQuotations(ctx context.Context, scope store.SubjectScope) error {
	for {
		documents, err := a.Subjects.QuotedDocuments(ctx, scope, erasedDocuments)
		if err != nil || len(documents) == 0 {
			return err
		}
		messages, err := a.Quotations.Documents(ctx, scope.Workspace, documents)
		if err != nil {
			return err
		}
		if err := a.Subjects.NoteQuotations(ctx, scope, documents, messages); err != nil {
			return err
		}
	}
}

// EraseConversations deletes a page of the conversations of the person, and what the person said
// of answers.
func (a *Erasing) EraseConversations(ctx context.Context, in SubjectStep) (SubjectResult, error) {
	return a.subjectPage(ctx, in, func(scope store.SubjectScope) (SubjectResult, error) {
		if err := a.Subjects.EraseWords(ctx, scope); err != nil {
			return SubjectResult{}, err
		}
		n, err := a.Subjects.EraseConversations(ctx, scope, erasePage)
		return SubjectResult{More: n > 0}, err
	})
}

// EraseRuns deletes a page of the runs of the person, each after its blobs and its histories.
func (a *Erasing) EraseRuns(ctx context.Context, in SubjectStep) (SubjectResult, error) {
	return a.subjectPage(ctx, in, func(scope store.SubjectScope) (SubjectResult, error) {
		runs, err := a.Subjects.SubjectRuns(ctx, scope, false, in.After, erasePage)
		if err != nil || len(runs) == 0 {
			return SubjectResult{}, err
		}
		ids := runIDs(runs)
		made, err := a.Subjects.ItemRuns(ctx, scope.Workspace, ids)
		if err != nil {
			return SubjectResult{}, err
		}
		ids = append(ids, runIDs(made)...)
		if err := a.eraseRuns(ctx, append(runs, made...)); err != nil {
			return SubjectResult{}, err
		}
		if err := a.eraseImports(ctx, scope, runs); err != nil {
			return SubjectResult{}, err
		}
		return SubjectResult{More: true}, a.Subjects.EraseRuns(ctx, scope, ids)
	})
}

func runIDs(runs []store.Run) []string {
	ids := make([]string, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
	}
	return ids
}

// eraseRuns deletes the blobs and the histories of runs.
func (a *Erasing) eraseRuns(ctx context.Context, runs []store.Run) error {
	for _, run := range runs {
		of := knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}
		if _, err := a.Blobs.DeletePrefix(ctx, of.Prefix(), nil); err != nil {
			return fmt.Errorf("remove the blobs of run %s: %w", run.ID, err)
		}
		if run.Kind == knowledge.KindIngest { // its workflow is shared
			continue
		}
		if err := a.Workflows.EraseRun(ctx, run); err != nil {
			return fmt.Errorf("delete the history of run %s: %w", run.ID, err)
		}
	}
	return nil
}

// eraseImports deletes the imports of these runs, with their blobs.
func (a *Erasing) eraseImports(ctx context.Context, scope store.SubjectScope, runs []store.Run) error {
	for _, run := range runs {
		if run.Kind != knowledge.KindImport {
			continue
		}
		of := knowledge.ImportRef{Workspace: run.Workspace, Project: run.Project, Import: run.Subject}
		if _, err := a.Blobs.DeletePrefix(ctx, of.Prefix(), nil); err != nil {
			return fmt.Errorf("remove the blobs of import %s: %w", of.Import, err)
		}
		if err := a.Subjects.EraseImport(ctx, scope, of.Import); err != nil {
			return err
		}
	}
	return nil
}

// EraseDocumentRuns waits for the removals of the documents of the person, and deletes their runs
// and histories, page by page.
func (a *Erasing) EraseDocumentRuns(ctx context.Context, in SubjectStep) (SubjectResult, error) {
	return a.subjectPage(ctx, in, func(scope store.SubjectScope) (SubjectResult, error) {
		page, err := a.Subjects.ErasedDocuments(ctx, scope, in.After, erasePage)
		if err != nil || len(page) == 0 {
			return SubjectResult{}, err
		}
		documents := make([]string, len(page))
		for i, d := range page {
			if documents[i] = d.ID; !d.Gone {
				return SubjectResult{Running: true, After: in.After}, nil
			}
		}
		for _, document := range documents {
			if err := a.Workflows.EraseIngests(ctx, scope.Workspace, document); err != nil {
				return SubjectResult{}, fmt.Errorf("delete the histories of document %s: %w", document, err)
			}
		}
		runs, err := a.Subjects.DocumentRuns(ctx, scope.Workspace, documents)
		if err == nil {
			err = a.eraseRuns(ctx, runs)
		}
		if err == nil {
			err = a.Subjects.DropRuns(ctx, scope.Workspace, runIDs(runs))
		}
		return SubjectResult{After: documents[len(documents)-1], More: true}, err
	})
}

// EraseFiles overwrites what was deleted, in every file that this program writes.
func (a *Erasing) EraseFiles(ctx context.Context, in SubjectStep) (SubjectResult, error) {
	return a.subjectPage(ctx, in, func(scope store.SubjectScope) (SubjectResult, error) {
		if err := a.Subjects.EndErasure(ctx, scope); err != nil {
			return SubjectResult{}, err
		}
		if err := a.Subjects.EraseDeleted(ctx); err != nil {
			return SubjectResult{}, err
		}
		// Deleting a blob that is there empties the write-ahead log of the blobs.
		marker := in.Prefix() + "erased/"
		if _, err := a.Blobs.Put(ctx, marker+"marker", []byte{0}); err != nil {
			return SubjectResult{}, fmt.Errorf("overwrite deleted blobs: %w", err)
		}
		if _, err := a.Blobs.DeletePrefix(ctx, marker, nil); err != nil {
			return SubjectResult{}, fmt.Errorf("overwrite deleted blobs: %w", err)
		}
		return SubjectResult{}, a.Workflows.EraseHistories(ctx)
	})
}

// FinishSubjectInput ends a run that exports or erases what a person left. Items are its whole log.
type FinishSubjectInput struct {
	knowledge.RunRef
	Kind  knowledge.RunKind        `json:"kind"`
	Error *knowledge.DocumentError `json:"error,omitempty"`
	Items []stream.Item            `json:"items"`
}

// FinishSubject ends the run. It is a local activity.
func (a *Erasing) FinishSubject(ctx context.Context, in FinishSubjectInput) error {
	end := record.Ending{Kind: in.Kind, Error: in.Error}
	if err := a.ender.End(ctx, in.RunRef, in.Items, end); err != nil {
		return a.failSubject(ctx, in.RunRef, err)
	}
	a.Metrics.WorkflowDone(in.Kind.Traits().Workflow, string(end.Status()))
	a.Log.InfoContext(ctx, "run for a person ended", "workspace", in.Workspace, "run", in.Run, "kind", in.Kind, "status", end.Status())
	return nil
}

func (a *Erasing) failSubject(ctx context.Context, in knowledge.RunRef, err error) error {
	if err == nil {
		return nil
	}
	return step.Failure(ctx, a.Log.With("workspace", in.Workspace, "run", in.Run), err)
}
