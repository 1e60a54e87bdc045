package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// FinishInput ends the run of a version. Items is its whole log, the last item
// among them.
type FinishInput struct {
	StepInput
	Status knowledge.RunStatus      `json:"status"` // completed, failed or canceled
	Error  *knowledge.DocumentError `json:"error,omitempty"`
	Items  []stream.Item            `json:"items"`
}

// EndedData is the inline data of the last event of a document's run.
type EndedData struct {
	Error     *knowledge.DocumentError `json:"error,omitempty"`
	Published bool                     `json:"published,omitempty"`
	Status    knowledge.RunStatus      `json:"status"`
}

// EndOf says how the run of a version ended, by what became of the version.
func EndOf(v store.Version) EndedData {
	if v.Status == knowledge.StatusError {
		return EndedData{Status: knowledge.RunFailed, Error: v.Error}
	}
	return EndedData{Status: knowledge.RunCompleted, Published: v.Status == knowledge.StatusPublished}
}

// FinishVersion notes how a version ended and stores the log of its run. It is
// a local activity, so its input never enters history.
func (a *Ingestion) FinishVersion(ctx context.Context, in FinishInput) error {
	end := store.RunEnd{Status: in.Status, At: time.Now().UTC()}
	if in.Error != nil {
		err := a.Versions.FailVersion(ctx, in.VersionRef, in.Run, *in.Error)
		if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
			return a.fail(ctx, in.StepInput, fmt.Errorf("note the failure: %w", err))
		}
		end.Error = &knowledge.Failure{Code: in.Error.Code, Message: in.Error.Message}
	}
	run := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}
	if err := storeLog(ctx, a.Blobs, a.Runs, a.Hub, run, in.Items, end); err != nil {
		return a.fail(ctx, in.StepInput, err)
	}
	a.Metrics.DocumentDone(string(in.Status))
	a.Metrics.WorkflowDone("IngestDocument", string(in.Status))
	logger(a.Log, in.VersionRef, in.Run).InfoContext(ctx, "ingest ended", "status", in.Status)
	return nil
}

// storeLog stores a run's whole log, ends the run in SQL, and only then tells
// the readers in this process. The log of a run that has ended stays as it is:
// it says what SQL says.
func storeLog(ctx context.Context, blobs Blobs, runs Runs, hub Hub, run knowledge.RunRef, items []stream.Item, end store.RunEnd) error {
	before, err := runs.RunForSystem(ctx, run.Workspace, run.Run)
	if err != nil {
		return fmt.Errorf("read run %s: %w", run.Run, err)
	}
	if before.Status != knowledge.RunRunning {
		return nil
	}
	end.LogKey = run.LogKey()
	if _, err := blobs.PutJSON(ctx, end.LogKey, stream.StoredLog{Items: items}); err != nil {
		return fmt.Errorf("store the log of run %s: %w", run.Run, err)
	}
	if err := runs.EndRun(ctx, run.Workspace, run.Run, end); err != nil {
		return fmt.Errorf("end run %s: %w", run.Run, err)
	}
	hub.Finish(run.Run, items)
	return nil
}
