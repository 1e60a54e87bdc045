package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// FileBatch is several files that were added to a project at once.
type FileBatch struct {
	ID            string     `json:"id"`
	Object        string     `json:"object" enum:"vector_store.files_batch"`
	CreatedAt     int64      `json:"created_at" doc:"Unix seconds"`
	VectorStoreID string     `json:"vector_store_id"`
	Status        string     `json:"status" enum:"in_progress,completed"`
	FileCounts    FileCounts `json:"file_counts"`
}

// fileBatchBody is the body with which several files are added.
type fileBatchBody struct {
	_          struct{}       `json:"-" additionalProperties:"true"`
	FileIDs    []string       `json:"file_ids,omitempty" maxItems:"500"`
	Files      []newStoreFile `json:"files,omitempty" maxItems:"500"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

// batch is what is stored of a batch: which files it has. Their states are the states of their
// documents.
type batch struct {
	ID      string    `json:"id"`
	Store   string    `json:"store"`
	Files   []string  `json:"files"`
	Created time.Time `json:"created"`
}

func batchKey(workspace, id string) string { return workspace + "/file-batches/" + id + ".json" }

func (s *Server) registerFileBatches() {
	id := pathParam("store", "The id of a project")
	const root = "/v1/vector_stores/{store}/file_batches"
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "create-file-batch", Method: http.MethodPost, Path: root, Summary: "Add several uploaded files to a vector store, as documents", Parameters: []*huma.Param{id},
		RequestBody: request[fileBatchBody](s), Responses: answers[FileBatch](s, "The batch; GET it until its status is completed"),
	}}, s.createFileBatch)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "get-file-batch", Method: http.MethodGet, Path: root + "/{batch}", Summary: "Read a batch of files", Parameters: []*huma.Param{id, pathParam("batch", "The id of the batch")},
		Responses: answers[FileBatch](s, "The batch"),
	}}, s.getFileBatch)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "list-file-batch-files", Method: http.MethodGet, Path: root + "/{batch}/files", Summary: "List the files of a batch (documents)",
		Parameters: append(pageParams(), id, pathParam("batch", "The id of the batch"), storeFileFilter()), Responses: answers[Page[StoreFile]](s, "The files that are still there"),
	}}, s.listFileBatchFiles)
}

func (s *Server) createFileBatch(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	var b fileBatchBody
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return err
	}
	if err := batchFields.check(r); err != nil {
		return err
	}
	project, err := s.vectorStore(r, p)
	if err != nil {
		return err
	}
	files := b.Files
	for _, id := range b.FileIDs {
		files = append(files, newStoreFile{ID: id, Attributes: b.Attributes})
	}
	if len(files) == 0 {
		return knowledge.Invalid("body.file_ids", "must have at least one file")
	}
	record := batch{ID: "vsfb_" + knowledge.NewID(), Store: project.ID, Created: time.Now().UTC()}
	for _, f := range files { // before anything is made
		if _, err := s.waitingFile(r.Context(), p, f.ID); err != nil {
			return err
		}
		record.Files = append(record.Files, f.ID)
	}
	for _, f := range files {
		if err := s.attach(r.Context(), p, project, f); err != nil {
			return err
		}
	}
	if _, err := s.deps.Blobs.PutJSON(r.Context(), batchKey(p.Workspace(), record.ID), record); err != nil {
		return fmt.Errorf("store batch %s: %w", record.ID, err)
	}
	return s.writeBatch(w, r, p, project, record)
}

func (s *Server) getFileBatch(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	project, b, err := s.storedBatch(r, p)
	if err != nil {
		return err
	}
	return s.writeBatch(w, r, p, project, b)
}

func (s *Server) listFileBatchFiles(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	project, b, err := s.storedBatch(r, p)
	if err != nil {
		return err
	}
	filter, files := r.URL.Query().Get("filter"), []StoreFile{}
	for _, id := range b.Files {
		d, err := s.documentOf(r.Context(), p, project, id)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if f := viewStoreFile(d); filter == "" || f.Status == filter {
			files = append(files, f)
		}
	}
	slices.Reverse(files) // newest first, as every list
	return writePage(w, r, files, func(f StoreFile) string { return f.ID })
}

// storedBatch returns the batch that a path names, and its project.
func (s *Server) storedBatch(r *http.Request, p knowledge.Principal) (knowledge.Project, batch, error) {
	project, err := s.vectorStore(r, p)
	if err != nil {
		return project, batch{}, err
	}
	id := r.PathValue("batch")
	var b batch
	err = knowledge.NotFound("file batch", id)
	if isBatchID(id) {
		err = s.deps.Blobs.GetJSON(r.Context(), batchKey(p.Workspace(), id), &b)
	}
	if errors.Is(err, blob.ErrNotFound) || err == nil && b.Store != project.ID {
		err = knowledge.NotFound("file batch", id)
	}
	return project, b, err
}

// isBatchID reports whether an id can name a batch, and so a part of a blob's key.
func isBatchID(id string) bool {
	for _, c := range id {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return len(id) > 0 && len(id) <= 100
}

// writeBatch answers with a batch and what became of its files.
func (s *Server) writeBatch(w http.ResponseWriter, r *http.Request, p knowledge.Principal, project knowledge.Project, b batch) error {
	counts, err := s.countFiles(r.Context(), p, project, b.Files)
	if err != nil {
		return err
	}
	view := FileBatch{
		ID: b.ID, Object: "vector_store.files_batch", CreatedAt: b.Created.Unix(), VectorStoreID: b.Store, Status: "completed", FileCounts: counts,
	}
	if counts.InProgress > 0 {
		view.Status = "in_progress"
	}
	edge.WriteJSON(w, http.StatusOK, view)
	return nil
}

// countFiles counts files by what became of them. One that was removed since counts as
// cancelled.
func (s *Server) countFiles(ctx context.Context, p knowledge.Principal, project knowledge.Project, files []string) (FileCounts, error) {
	counts := FileCounts{Total: len(files)}
	for _, id := range files {
		d, err := s.documentOf(ctx, p, project, id)
		switch {
		case knowledge.IsCode(err, knowledge.CodeNotFound):
			counts.Cancelled++
			continue
		case err != nil:
			return counts, err
		}
		switch viewStoreFile(d).Status {
		case "in_progress":
			counts.InProgress++
		case "failed":
			counts.Failed++
		default:
			counts.Completed++
		}
	}
	return counts, nil
}
