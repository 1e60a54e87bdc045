package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of a retry: how many failed objects are read at a time, and how many of
// their documents are ingested at the same time.
const (
	retriesPerStep = 50
	retriesAhead   = 200
)

// RetryInput names the run that retries the failed objects of an import.
type RetryInput struct {
	knowledge.ImportRef
	Run string `json:"run"`
}

// RetryFailed makes each failed object of an import an upload: it stores its bytes, adds
// a version with a run, and starts its ingestion. An object that the source still does
// not deliver keeps its failure. It blocks while many of them are being ingested.
func (a *Importing) RetryFailed(ctx context.Context, in RetryInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.retryFailed(ctx, in); err != nil {
		return a.fail(ctx, in.ImportRef, err)
	}
	return nil
}

func (a *Importing) retryFailed(ctx context.Context, in RetryInput) error {
	i, err := a.open(ctx, in.ImportRef)
	if err != nil {
		return err
	}
	defer i.release()
	b := &importBatch{opened: i, a: a, runID: in.Run, chosen: selection.New(i.Request), lastTry: true}
	for after := ""; ; {
		failed, err := a.Imports.FailedObjects(ctx, i.Import, after, retriesPerStep)
		if err != nil || len(failed) == 0 {
			return err
		}
		for _, f := range failed {
			if err := b.retry(ctx, f); err != nil {
				return err
			}
			after = f.Key
		}
		if err := a.awaitRetries(ctx, i.Import); err != nil {
			return err
		}
	}
}

// awaitRetries blocks while more than retriesAhead documents are being ingested.
func (a *Importing) awaitRetries(ctx context.Context, i store.Import) error {
	for {
		left, err := a.Imports.SettleRetried(ctx, i)
		if err != nil || left <= retriesAhead {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// retry makes one failed object an upload.
func (b *importBatch) retry(ctx context.Context, f store.ImportFailure) error {
	var object source.Object
	if err := json.Unmarshal(f.Object, &object); err != nil {
		return fmt.Errorf("read a failed object: %w", err)
	}
	it := newImportItem(object)
	sidecars, err := b.a.Imports.ImportSidecars(ctx, b.Import, []string{f.Key})
	if err != nil {
		return err
	}
	if c, described := sidecars[f.Key]; described {
		it.sidecar = &c
	}
	it.fingerprint = fingerprint(b.Import, b.chosen, it.object, sidecars[f.Key].ETag)
	room, err := b.a.Imports.HasRoom(ctx, b.Import, documentOf(b.Import, it.object), b.Request.Limits.Documents)
	if err != nil || !room {
		return err
	}
	nv, err := b.fetchLarge(ctx, it)
	if _, refused := errors.AsType[*knowledge.Error](err); refused && ctx.Err() == nil {
		b.a.Log.InfoContext(ctx, "the source still does not deliver an object", "import", b.ImportRef.Import, "error", err)
		return nil // it keeps its failure
	}
	if err != nil {
		return err
	}
	nv.RunID, nv.Limits = knowledge.DerivedID("run", b.runID, f.Key), b.Request.Limits
	v, err := b.addRetried(ctx, nv)
	if knowledge.IsCode(err, knowledge.CodeLimitReached) { // others took the room meanwhile
		return b.a.documents.Blobs.Delete(ctx, nv.SourceKey)
	}
	if err != nil {
		return err
	}
	err = b.a.Imports.MarkRetried(ctx, b.Import, store.RetriedObject{Key: f.Key, ETag: it.object.ETag, Fingerprint: it.fingerprint, Version: v.Version})
	if err != nil {
		return err
	}
	// The sweep starts an ingestion that cannot be started now.
	if err := b.a.Workflows.Ingest(ctx, v); err != nil {
		b.a.Log.WarnContext(ctx, "ingestion starts later", "document", v.Document, "error", err)
	}
	return nil
}

// addRetried adds the version of a retried object, or returns the one that an earlier
// try of the same run has added.
func (b *importBatch) addRetried(ctx context.Context, nv store.NewVersion) (store.Version, error) {
	_, v, err := b.a.Imports.AddVersion(ctx, nv)
	if err == nil || !knowledge.IsCode(err, knowledge.CodeConflict) {
		return v, err
	}
	run, err := b.a.documents.Runs.RunForSystem(ctx, b.Workspace, nv.RunID)
	if err != nil {
		return v, fmt.Errorf("read run %s: %w", nv.RunID, err)
	}
	ref := knowledge.VersionRef{Workspace: b.Workspace, Project: b.Project, Document: run.Subject, Version: run.Version}
	return b.a.documents.Versions.Version(ctx, ref)
}

// SettleRetried stores what became of the retried objects, and returns how many are
// still being ingested.
func (a *Importing) SettleRetried(ctx context.Context, ref knowledge.ImportRef) (int, error) {
	i, err := a.Imports.ImportForSystem(ctx, ref)
	if err == nil {
		var left int
		if left, err = a.Imports.SettleRetried(ctx, i); err == nil {
			return left, nil
		}
	}
	return 0, a.fail(ctx, ref, err)
}
