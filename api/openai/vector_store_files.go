package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// StoreFile is a document of a project.
type StoreFile struct {
	ID            string         `json:"id"`
	Object        string         `json:"object" enum:"vector_store.file"`
	CreatedAt     int64          `json:"created_at" doc:"Unix seconds"`
	VectorStoreID string         `json:"vector_store_id"`
	Status        string         `json:"status" enum:"in_progress,completed,failed"`
	LastError     *FileError     `json:"last_error"`
	UsageBytes    int64          `json:"usage_bytes"`
	Attributes    map[string]any `json:"attributes" doc:"The metadata of the document"`
}

// FileError is why a document could not be ingested.
type FileError struct {
	Code    string `json:"code" enum:"server_error,unsupported_file,invalid_file"`
	Message string `json:"message"`
}

// newStoreFile is the body with which a file is added to a vector store.
type newStoreFile struct {
	_          struct{}       `json:"-" additionalProperties:"true"`
	ID         string         `json:"file_id" minLength:"1"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

func (s *Server) registerStoreFiles() {
	id, file := pathParam("store", "The id of a project"), pathParam("file", "The id of a file")
	const root = "/v1/vector_stores/{store}/files"
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "add-vector-store-file", Method: http.MethodPost, Path: root, Summary: "Add an uploaded file to a vector store, as a document", Parameters: []*huma.Param{id},
		RequestBody: request[newStoreFile](s), Responses: answers[StoreFile](s, "The file; GET it until its status is completed or failed"),
	}}, s.addStoreFile)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "list-vector-store-files", Method: http.MethodGet, Path: root, Summary: "List the files of a vector store (documents)",
		Parameters: append(pageParams(), id, storeFileFilter()),
		Responses:  answers[Page[StoreFile]](s, "The files, at most the newest 10,000"),
	}}, s.listStoreFiles)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "get-vector-store-file", Method: http.MethodGet, Path: root + "/{file}", Summary: "Read a file of a vector store (a document)", Parameters: []*huma.Param{id, file}, Responses: answers[StoreFile](s, "The file"),
	}}, s.getStoreFile)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "change-vector-store-file", Method: http.MethodPost, Path: root + "/{file}", Summary: "Change the attributes of a file of a vector store (a document)", Parameters: []*huma.Param{id, file},
		RequestBody: request[storeFileChange](s), Responses: answers[StoreFile](s, "The file"),
	}}, s.changeStoreFile)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "remove-vector-store-file", Method: http.MethodDelete, Path: root + "/{file}", Summary: "Remove a file from a vector store (a document)", Parameters: []*huma.Param{id, file}, Responses: answers[Deleted](s, "The document is being removed"),
	}}, s.removeStoreFile)
}

// storeFileFilter describes the parameter that selects files by their status.
func storeFileFilter() *huma.Param {
	return &huma.Param{Name: "filter", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"in_progress", "completed", "failed", "cancelled"}}}
}

// fileOf returns the id of the file that a document is: the file that it was made of, or
// a file of its own.
func fileOf(document, externalID string) string {
	if strings.HasPrefix(externalID, filePrefix) {
		return externalID
	}
	return fileID(document)
}

func viewStoreFile(d knowledge.Document) StoreFile {
	f := StoreFile{
		ID: fileOf(d.ID, d.ExternalID), Object: "vector_store.file", CreatedAt: d.CreatedAt.Unix(), VectorStoreID: d.Project, Status: "completed",
		UsageBytes: d.Bytes, Attributes: d.Metadata,
	}
	if f.Attributes == nil {
		f.Attributes = map[string]any{}
	}
	switch {
	case d.Status == knowledge.StatusPending:
		f.Status = "in_progress"
	case d.Status == knowledge.StatusError && d.Error != nil:
		f.Status, f.LastError = "failed", &FileError{Code: fileErrorCode(d.Error.Code), Message: d.Error.Message}
	}
	return f
}

func fileErrorCode(code knowledge.Code) string {
	switch code {
	case knowledge.CodeUnsupportedFormat, knowledge.CodeNeedsComponent:
		return "unsupported_file"
	case knowledge.CodeInternal, knowledge.CodeProviderFailed, knowledge.CodeUnavailable:
		return "server_error"
	}
	return "invalid_file"
}

// attach makes a document of an uploaded file.
func (s *Server) attach(ctx context.Context, p knowledge.Principal, project knowledge.Project, in newStoreFile) error {
	f, err := s.waitingFile(ctx, p, in.ID)
	if err != nil {
		return err
	}
	content, _, err := s.deps.Blobs.Open(ctx, bytesKey(p.Workspace(), f.ID))
	if err != nil {
		return fmt.Errorf("open file %s: %w", f.ID, err)
	}
	defer content.Close()
	return s.deps.Blobs.AddDocument(ctx, p, project, NewFile{Name: f.Name, ExternalID: f.ID, Attributes: in.Attributes, Content: content})
}

func (s *Server) addStoreFile(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	var b newStoreFile
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return err
	}
	if err := storeFileFields.check(r); err != nil {
		return err
	}
	project, err := s.vectorStore(r, p)
	if err != nil {
		return err
	}
	if err := s.attach(r.Context(), p, project, b); err != nil {
		return err
	}
	d, err := s.documentOf(r.Context(), p, project, b.ID)
	if err != nil {
		return err
	}
	edge.WriteJSON(w, http.StatusOK, viewStoreFile(d))
	return nil
}

// documentOf returns the document of a project that a file is.
func (s *Server) documentOf(ctx context.Context, p knowledge.Principal, project knowledge.Project, file string) (knowledge.Document, error) {
	list, _, err := s.deps.Store.Documents(ctx, p, store.DocumentQuery{Project: project.ID, ExternalID: file, Page: store.Page{Limit: 1}})
	if err != nil {
		return knowledge.Document{}, fmt.Errorf("look for file %s: %w", file, err)
	}
	d := knowledge.Document{}
	if len(list) > 0 {
		d = list[0]
	} else if d, err = s.deps.Store.Document(ctx, p, documentID(file)); err == nil && d.Project != project.ID {
		err = errNoFile
	}
	if err == nil && d.Status == knowledge.StatusDeleting {
		err = errNoFile
	}
	if errors.Is(err, errNoFile) || knowledge.IsCode(err, knowledge.CodeNotFound) {
		return d, knowledge.NotFound("file", file)
	}
	return d, err
}

// storeDocument returns the project and the document that a path names.
func (s *Server) storeDocument(r *http.Request, p knowledge.Principal) (knowledge.Document, error) {
	project, err := s.vectorStore(r, p)
	if err != nil {
		return knowledge.Document{}, err
	}
	return s.documentOf(r.Context(), p, project, r.PathValue("file"))
}

func (s *Server) getStoreFile(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	d, err := s.storeDocument(r, p)
	if err == nil {
		edge.WriteJSON(w, http.StatusOK, viewStoreFile(d))
	}
	return err
}

// storeFileChange is the body that changes the attributes of a file.
type storeFileChange struct {
	_          struct{}       `json:"-" additionalProperties:"true"`
	Attributes map[string]any `json:"attributes" doc:"Attributes that replace the document's"`
}

func (s *Server) changeStoreFile(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	var b storeFileChange
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return err
	}
	if err := attributesFields.check(r); err != nil {
		return err
	}
	d, err := s.storeDocument(r, p)
	if err == nil {
		err = s.deps.Blobs.ChangeAttributes(r.Context(), p, d.ID, b.Attributes)
	}
	if err == nil {
		d, err = s.storeDocument(r, p)
	}
	if err != nil {
		return err
	}
	edge.WriteJSON(w, http.StatusOK, viewStoreFile(d))
	return nil
}

func (s *Server) removeStoreFile(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	d, err := s.storeDocument(r, p)
	if err != nil {
		return err
	}
	if err := s.deps.Blobs.RemoveDocument(r.Context(), p, d.ID); err != nil {
		return err
	}
	edge.WriteJSON(w, http.StatusOK, Deleted{ID: fileOf(d.ID, d.ExternalID), Object: "vector_store.file.deleted", Deleted: true})
	return nil
}

// maxListFiles bounds the documents of a project that a list reaches.
const maxListFiles = 10_000

func (s *Server) listStoreFiles(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	project, err := s.vectorStore(r, p)
	if err != nil {
		return err
	}
	query := store.DocumentQuery{Project: project.ID, Page: store.Page{Limit: projectsPage}}
	switch filter := r.URL.Query().Get("filter"); filter {
	case "":
	case "in_progress":
		query.Status = knowledge.StatusPending
	case "completed":
		query.Status = knowledge.StatusPublished
	case "failed":
		query.Status = knowledge.StatusError
	case "cancelled":
		return writePage(w, r, []StoreFile{}, func(f StoreFile) string { return f.ID })
	default:
		return knowledge.Invalid("query.filter", "must be in_progress, completed, failed or cancelled")
	}
	var files []StoreFile
	for len(files) < maxListFiles {
		documents, next, err := s.deps.Store.Documents(r.Context(), p, query)
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		for _, d := range documents {
			if d.Status != knowledge.StatusDeleting {
				files = append(files, viewStoreFile(d))
			}
		}
		if query.Cursor = next; next == "" {
			break
		}
	}
	return writePage(w, r, files, func(f StoreFile) string { return f.ID })
}
