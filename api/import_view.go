package api

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	objects "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// shownFailures is how many failures an import shows by itself.
const shownFailures = 20

// Import is an import as clients see it.
type Import struct {
	ID                 string                 `json:"id"`
	RunID              string                 `json:"run_id" doc:"The id of the newest run"`
	ProjectID          string                 `json:"project_id"`
	Status             knowledge.ImportStatus `json:"status" enum:"running,paused,completed,failed,canceled"`
	Source             ImportSource           `json:"source"`
	SyncID             *string                `json:"sync_id" doc:"The sync whose run it is; null: none"`
	DryRun             bool                   `json:"dry_run"`
	Discovered         int64                  `json:"discovered" doc:"Objects listed so far"`
	Published          int64                  `json:"published"`
	Skipped            int64                  `json:"skipped" doc:"Unchanged since an earlier import"`
	Failed             int64                  `json:"failed"`
	Remaining          int64                  `json:"remaining" doc:"Discovered objects without an outcome yet; in a dry run, objects that would be imported"`
	Vanished           int64                  `json:"vanished" doc:"Objects of an earlier import that are no longer in the source"`
	Deleted            int64                  `json:"deleted" doc:"Vanished objects whose documents were removed"`
	Bytes              int64                  `json:"bytes" doc:"Bytes of the published objects; in a dry run, of the objects that would be imported"`
	DocumentsPerSecond float64                `json:"documents_per_second" doc:"0 while documents wait for a model's endpoint"`
	ETASeconds         *float64               `json:"eta_seconds" doc:"null: not known, because the source is not listed completely, or because documents wait for a model's endpoint"`

	Waiting     *knowledge.ImportWaiting `json:"waiting,omitempty" doc:"Documents that wait until a model's endpoint takes requests again, since when, why, and when the next of them is tried. POST …/retry_failed or …/resume tries at once"`
	Error       *importError             `json:"error" doc:"Why the source could not be listed completely"`
	Failures    []ImportFailure          `json:"failures" doc:"The first 20 failures; not in lists"`
	FailuresURL string                   `json:"failures_url"`
	CreatedAt   time.Time                `json:"created_at"`
	EndedAt     *time.Time               `json:"ended_at"`
	OperatorURL string                   `json:"operator_url"`
	EventsURL   string                   `json:"events_url" doc:"The URL of the events of the newest run; needs no key for an hour"`
}

// importError is why an import failed.
type importError struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
}

// ImportFailure is an object that was not imported.
type ImportFailure struct {
	Key        string                  `json:"key"`
	Name       string                  `json:"name" doc:"The path of the object where its key is an id, else the key"`
	DocumentID string                  `json:"document_id"`
	Error      knowledge.DocumentError `json:"error"`
	At         time.Time               `json:"at"`
}

func viewFailure(f store.ImportFailure) ImportFailure {
	o := objects.Object{Key: f.Key}
	if json.Unmarshal(f.Object, &o) != nil { // a name is not worth the list
		o = objects.Object{Key: f.Key}
	}
	return ImportFailure{Key: f.Key, Name: o.Path(), DocumentID: f.DocumentID, Error: f.Error, At: f.At}
}

// importView returns an import as clients see it, with these failures.
func (v *views) importView(p knowledge.Principal, i store.Import, failures []store.ImportFailure) Import {
	view := Import{
		ID: i.Import, RunID: i.RunID, ProjectID: i.Project, Source: viewSource(i.Request.Source), DryRun: i.Request.DryRun, SyncID: orNull(i.Request.Sync),
		Failures: convert(failures, viewFailure), FailuresURL: v.link("/workspaces/" + i.Workspace + "/imports/" + i.Import + "/failures"),
		CreatedAt: i.CreatedAt, EndedAt: orNull(i.EndedAt), OperatorURL: v.links.OperatorURL(i.WorkflowID(i.RunID)), EventsURL: v.eventsURL(p, i.RunID),
	}
	if i.Error != nil {
		view.Error = &importError{Code: i.Error.Code, Message: i.Error.Message}
	}
	view.progress(record.ProgressOf(i))
	return view
}

// progress sets what changes while the import runs.
func (v *Import) progress(p record.ImportProgress) {
	v.Status, v.DocumentsPerSecond, v.ETASeconds, v.Waiting = p.Status, p.DocumentsPerSecond, p.ETASeconds, p.Waiting
	v.Discovered, v.Published, v.Skipped, v.Failed = p.Discovered, p.Published, p.Skipped, p.Failed
	v.Vanished, v.Deleted, v.Bytes, v.Remaining = p.Vanished, p.Deleted, p.Bytes, p.Remaining()
}

// withFailures returns an import with its first failures.
func (r *results) withFailures(ctx context.Context, p knowledge.Principal, i store.Import) (Import, error) {
	failures, _, err := r.store.ImportFailures(ctx, p, i.Import, store.Page{Limit: shownFailures})
	if err != nil {
		return Import{}, fmt.Errorf("list failures of import %s: %w", i.Import, err)
	}
	return r.views.importView(p, i, failures), nil
}

// importUpdate returns the import of a run with the state that an event has for it.
func (r *renderer) importUpdate(ctx context.Context, e stream.Event) (Import, error) {
	var p record.ImportProgress
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return Import{}, fmt.Errorf("import event of run %s: %w", r.run.ID, err)
	}
	i, err := r.results.store.Import(ctx, r.principal, r.run.Subject)
	if err != nil {
		return Import{}, fmt.Errorf("read import %s: %w", r.run.Subject, err)
	}
	i.RunID, i.Error, i.EndedAt = r.run.ID, nil, time.Time{} // a later run may have changed them
	view := r.results.views.importView(r.principal, i, nil)
	view.progress(p)
	return view, nil
}

// endedImport returns the import of a run that has ended, as it is now.
func (r *results) endedImport(ctx context.Context, p knowledge.Principal, run store.Run) (Import, error) {
	i, err := r.store.Import(ctx, p, run.Subject)
	if err != nil {
		return Import{}, fmt.Errorf("read import %s: %w", run.Subject, err)
	}
	return r.withFailures(ctx, p, i)
}
