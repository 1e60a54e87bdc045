package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Library makes projects and documents, as the other routes of the API do.
type Library interface {
	// CreateProject makes a project.
	CreateProject(ctx context.Context, p knowledge.Principal, name string) (knowledge.Project, error)
	// RenameProject changes the name of a project.
	RenameProject(ctx context.Context, p knowledge.Principal, id, name string) (knowledge.Project, error)
	// RemoveProject hides a project, by its id or its name, and starts the run that removes
	// everything in it. A document under legal hold is CodeConflict. Doing it again while
	// the run is running returns that run.
	RemoveProject(ctx context.Context, p knowledge.Principal, idOrName string) (store.Run, error)
	// AddDocument takes a file in as a document. One with the same external id becomes its
	// next version.
	AddDocument(ctx context.Context, p knowledge.Principal, project knowledge.Project, f NewFile) error
	// ChangeAttributes replaces the metadata of a document.
	ChangeAttributes(ctx context.Context, p knowledge.Principal, id string, attributes map[string]any) error
	// RemoveDocument starts the removal of a document.
	RemoveDocument(ctx context.Context, p knowledge.Principal, id string) error
	// Original opens the original of a document.
	Original(ctx context.Context, p knowledge.Principal, document string) (io.ReadCloser, error)
	// Search returns the passages of a project that fit a question best.
	Search(ctx context.Context, p knowledge.Principal, project knowledge.Project, s Search) ([]Passage, error)
	// Keys returns the keys of the blobs below a prefix.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// NewFile is a file that is to become a document.
type NewFile struct {
	Name, ExternalID string
	Attributes       map[string]any // its metadata
	Content          io.Reader
}

// Search is a search in a project.
type Search struct {
	Text    string
	Filter  knowledge.Filter
	Most    int
	Rewrite bool // the chat model rewrites the text first
}

// Passage is what a search found.
type Passage struct {
	Document knowledge.Document
	ChunkID  string
	Text     string
	Score    float64
}

// VectorStore is a project.
type VectorStore struct {
	ID           string         `json:"id" doc:"The id of the project"`
	Object       string         `json:"object" enum:"vector_store"`
	CreatedAt    int64          `json:"created_at" doc:"Unix seconds"`
	Name         string         `json:"name"`
	UsageBytes   int64          `json:"usage_bytes" doc:"Always 0"`
	FileCounts   FileCounts     `json:"file_counts"`
	Status       string         `json:"status" enum:"in_progress,completed"`
	ExpiresAfter any            `json:"expires_after"`
	ExpiresAt    *int64         `json:"expires_at"`
	LastActiveAt *int64         `json:"last_active_at"`
	Metadata     map[string]any `json:"metadata"`
}

// FileCounts counts files by what became of them.
type FileCounts struct {
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
	Cancelled  int `json:"cancelled"`
	Total      int `json:"total"`
}

// VectorStoreBody is the body with which a vector store is made or changed.
type VectorStoreBody struct {
	_       struct{} `json:"-" additionalProperties:"true"`
	Name    string   `json:"name,omitempty" maxLength:"200"`
	FileIDs []string `json:"file_ids,omitempty" maxItems:"100"`
}

func (s *Server) registerVectorStores() {
	id, tag := pathParam("store", "The id of a project"), "/v1/vector_stores"
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "create-vector-store", Method: http.MethodPost, Path: tag, Summary: "Create a vector store (a project)",
		RequestBody: request[VectorStoreBody](s), Responses: answers[VectorStore](s, "The vector store"),
	}}, s.createVectorStore)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "list-vector-stores", Method: http.MethodGet, Path: tag, Summary: "List the vector stores (projects)", Parameters: pageParams(), Responses: answers[Page[VectorStore]](s, "The vector stores"),
	}}, s.listVectorStores)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "get-vector-store", Method: http.MethodGet, Path: tag + "/{store}", Summary: "Read a vector store (a project)", Parameters: []*huma.Param{id}, Responses: answers[VectorStore](s, "The vector store"),
	}}, s.getVectorStore)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "change-vector-store", Method: http.MethodPost, Path: tag + "/{store}", Summary: "Rename a vector store (a project)", Parameters: []*huma.Param{id},
		RequestBody: request[VectorStoreBody](s), Responses: answers[VectorStore](s, "The vector store"),
	}}, s.changeVectorStore)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "delete-vector-store", Method: http.MethodDelete, Path: tag + "/{store}", Summary: "Delete a vector store (a project) with all its data",
		Description: "Deletes its documents, conversations, runs, imports, webhooks and keys. The project is invisible at once; the run in the header Cairn-Run-Id ends when all data is deleted. " +
			"A project with a document under legal hold is answered with 409.", Parameters: []*huma.Param{id}, Responses: answers[Deleted](s, "The project is being removed"),
	}}, s.deleteVectorStore)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "search-vector-store", Method: http.MethodPost, Path: tag + "/{store}/search", Summary: "Search a vector store (a project)", Parameters: []*huma.Param{id},
		RequestBody: request[SearchBody](s), Responses: answers[SearchPage](s, "The passages found, best first"),
	}}, s.searchVectorStore)
}

// viewStore returns a project as a vector store.
func (s *Server) viewStore(ctx context.Context, p knowledge.Principal, project knowledge.Project) (VectorStore, error) {
	v := VectorStore{
		ID: project.ID, Object: "vector_store", CreatedAt: project.CreatedAt.Unix(), Name: project.Name, Status: "completed", Metadata: map[string]any{},
	}
	for status, n := range map[knowledge.Status]*int{
		knowledge.StatusPending: &v.FileCounts.InProgress, knowledge.StatusPublished: &v.FileCounts.Completed, knowledge.StatusError: &v.FileCounts.Failed,
	} {
		var err error
		if *n, err = s.deps.Store.CountDocuments(ctx, p, store.DocumentQuery{Project: project.ID, Status: status}); err != nil {
			return v, fmt.Errorf("count the documents of project %s: %w", project.ID, err)
		}
		v.FileCounts.Total += *n
	}
	if v.FileCounts.InProgress > 0 {
		v.Status = "in_progress"
	}
	return v, nil
}

// writeStore answers with a project as a vector store.
func (s *Server) writeStore(w http.ResponseWriter, r *http.Request, p knowledge.Principal, project knowledge.Project) error {
	view, err := s.viewStore(r.Context(), p, project)
	if err == nil {
		edge.WriteJSON(w, http.StatusOK, view)
	}
	return err
}

// vectorStore returns the project that a path names.
func (s *Server) vectorStore(r *http.Request, p knowledge.Principal) (knowledge.Project, error) {
	id := r.PathValue("store")
	project, err := s.deps.Store.Project(r.Context(), p, id)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = knowledge.NotFound("vector store", id)
	}
	return project, err
}

func (s *Server) createVectorStore(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	var b VectorStoreBody
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return err
	}
	if err := storeFields.check(r); err != nil {
		return err
	}
	for _, id := range b.FileIDs { // before anything is made
		if _, err := s.waitingFile(r.Context(), p, id); err != nil {
			return err
		}
	}
	project, err := s.deps.Blobs.CreateProject(r.Context(), p, cmp.Or(b.Name, "vector store"))
	if err != nil {
		return err
	}
	for _, id := range b.FileIDs {
		if err := s.attach(r.Context(), p, project, newStoreFile{ID: id}); err != nil {
			return err
		}
	}
	return s.writeStore(w, r, p, project)
}

func (s *Server) changeVectorStore(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	var b VectorStoreBody
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return err
	}
	if err := storeFields.check(r); err != nil {
		return err
	}
	project, err := s.vectorStore(r, p)
	if err == nil && b.Name != "" {
		project, err = s.deps.Blobs.RenameProject(r.Context(), p, project.ID, b.Name)
	}
	if err != nil {
		return err
	}
	return s.writeStore(w, r, p, project)
}

func (s *Server) getVectorStore(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	project, err := s.vectorStore(r, p)
	if err != nil {
		return err
	}
	return s.writeStore(w, r, p, project)
}

func (s *Server) listVectorStores(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	list := []VectorStore{}
	for page := (store.Page{Limit: projectsPage}); ; {
		projects, next, err := s.deps.Store.Projects(r.Context(), p, page)
		if err != nil {
			return fmt.Errorf("list projects: %w", err)
		}
		for _, project := range projects {
			view, err := s.viewStore(r.Context(), p, project)
			if err != nil {
				return err
			}
			list = append(list, view)
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	return writePage(w, r, list, func(v VectorStore) string { return v.ID })
}

func (s *Server) deleteVectorStore(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	id := r.PathValue("store")
	run, err := s.deps.Blobs.RemoveProject(r.Context(), p, id)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return knowledge.NotFound("vector store", id)
	}
	if err != nil {
		return err
	}
	w.Header().Set(runHeader, run.ID)
	edge.WriteJSON(w, http.StatusOK, Deleted{ID: run.Project, Object: "vector_store.deleted", Deleted: true})
	return nil
}

// errNoFile ends the search for a file in a project.
var errNoFile = errors.New("the project does not have the file")
