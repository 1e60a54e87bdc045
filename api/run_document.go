package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// readEnd returns the end that the last item of a document's run holds: the end of an
// ingest or a removal, or the error of one that was canceled.
func readEnd(run store.Run, item stream.Item) (record.EndedData, error) {
	var end record.EndedData
	e, err := stream.DecodeEvent(item.Data)
	if err == nil && item.Topic == stream.TopicError {
		end.Error = &knowledge.DocumentError{}
		err = json.Unmarshal(e.Data, end.Error)
	} else if err == nil {
		err = json.Unmarshal(e.Data, &end)
	}
	if err != nil {
		return end, fmt.Errorf("last event of run %s: %w", run.ID, err)
	}
	return end, nil
}

// versionOfRun returns a document with the name, the facts and the attributes of the
// version that the run is about, although newer ones may have been uploaded. The access
// is the present one of the document. A version that was removed, or that the principal
// may not see, is CodeNotFound.
func (r *results) versionOfRun(ctx context.Context, p knowledge.Principal, run store.Run) (knowledge.Document, error) {
	d, err := r.store.Document(ctx, p, run.Subject)
	if err != nil {
		return d, fmt.Errorf("read document %s: %w", run.Subject, err)
	}
	v, err := r.store.VersionFor(ctx, p, d.ID, run.Version)
	if err != nil {
		return d, fmt.Errorf("read document %s: %w", run.Subject, err)
	}
	d.Version, d.Name, d.Stage = v.Version, v.Name, v.Stage
	d.Tags, d.Metadata, d.Classification = v.Tags, v.Metadata, v.Classification
	d.MediaType, d.Bytes, d.Language, d.ChunkCount, d.PageCount = v.MediaType, v.Bytes, v.Language, v.ChunkCount, v.PageCount
	return d, nil
}

// endedDocument returns a document as an ended run left its version.
func (r *results) endedDocument(ctx context.Context, p knowledge.Principal, run store.Run, last stream.Item) (knowledge.Document, error) {
	end, err := readEnd(run, last)
	if err != nil {
		return knowledge.Document{}, err
	}
	d, err := r.versionOfRun(ctx, p, run)
	if err != nil {
		return d, err
	}
	status := knowledge.StatusInactive // a newer version was published before it
	switch {
	case end.Error != nil:
		status = knowledge.StatusError
		if end.Error.Stage == "" {
			end.Error.Stage = d.Stage
		}
		d.Stage = end.Error.Stage
	case end.Published:
		status, d.Stage = knowledge.StatusPublished, knowledge.StagePublish
	}
	d.Error, d.Waiting, d.Progress = end.Error, nil, record.Progress(d.Stage, 0)
	if end.Published {
		d.Progress = 1
	}
	if d.Status != knowledge.StatusDeleting {
		d.Status = status
	}
	return d, nil
}
