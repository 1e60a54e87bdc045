package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Blobs holds the files that clients upload before they say to which project they belong.
type Blobs interface {
	Library

	// PutReader stores what r has left under key, durably when it returns.
	PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error)
	// PutJSON stores v under key, durably when it returns.
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	// GetJSON reads what is under key; a missing one is blob.ErrNotFound.
	GetJSON(ctx context.Context, key string, v any) error
	// Open reads what is under key, of which it returns the size in bytes too.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// Delete deletes what is under key; deleting nothing is fine.
	Delete(ctx context.Context, key string) error
}

// File is an uploaded file, or a document.
type File struct {
	ID            string  `json:"id"`
	Object        string  `json:"object" enum:"file"`
	Bytes         int64   `json:"bytes"`
	CreatedAt     int64   `json:"created_at" doc:"Unix seconds"`
	ExpiresAt     *int64  `json:"expires_at"`
	Filename      string  `json:"filename"`
	Purpose       string  `json:"purpose"`
	Status        string  `json:"status" enum:"uploaded,processed,error"`
	StatusDetails *string `json:"status_details"`
}

// Deleted is the answer to a removal.
type Deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// Page is a page of a list.
type Page[T any] struct {
	Object  string  `json:"object" enum:"list"`
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// upload is an uploaded file as it is stored, as JSON beside its bytes. It stays until
// it is deleted; a document that is made of it has a copy of the bytes.
type upload struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Purpose string    `json:"purpose"`
	Bytes   int64     `json:"bytes"`
	Project string    `json:"project,omitempty"` // that the key was held to
	Created time.Time `json:"created"`
}

func filesPrefix(workspace string) string   { return workspace + "/files/" }
func recordKey(workspace, id string) string { return filesPrefix(workspace) + id + "/file.json" }
func bytesKey(workspace, id string) string  { return filesPrefix(workspace) + id + "/bytes" }

func (f upload) view() File {
	return File{ID: f.ID, Object: "file", Bytes: f.Bytes, CreatedAt: f.Created.Unix(), Filename: f.Name, Purpose: f.Purpose, Status: "uploaded"}
}

func (s *Server) registerFiles() {
	id := pathParam("file", "The id of the file")
	s.handle(edge.Route{Streams: true, Operation: huma.Operation{
		OperationID: "create-file", Method: http.MethodPost, Path: "/v1/files", Summary: "Upload a file",
		Description: "The file belongs to no project until it is added to a vector store.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"file"}, Properties: map[string]*huma.Schema{
				"file": {Type: huma.TypeString, Format: "binary"}, "purpose": {Type: huma.TypeString},
			},
		}}}},
		Responses: answers[File](s, "The file"),
	}}, s.createFile)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "list-files", Method: http.MethodGet, Path: "/v1/files", Summary: "List the uploaded files, newest first",
		Parameters: append(pageParams(), &huma.Param{Name: "purpose", In: "query", Schema: &huma.Schema{Type: huma.TypeString}}), Responses: answers[Page[File]](s, "The files"),
	}}, s.listFiles)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "get-file", Method: http.MethodGet, Path: "/v1/files/{file}", Summary: "Read a file", Parameters: []*huma.Param{id}, Responses: answers[File](s, "The file, or the document that an answer cites"),
	}}, s.getFile)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "get-file-content", Method: http.MethodGet, Path: "/v1/files/{file}/content", Summary: "Download a file", Parameters: []*huma.Param{id},
		Responses: map[string]*huma.Response{"200": {Description: "The content of the file", Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}},
	}}, s.getFileContent)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "delete-file", Method: http.MethodDelete, Path: "/v1/files/{file}", Summary: "Delete an uploaded file",
		Description: "Documents that were created from it remain.", Parameters: []*huma.Param{id}, Responses: answers[Deleted](s, "Deleted"),
	}}, s.deleteFile)
}

// createFile stores the file of a form as it streams by.
func (s *Server) createFile(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || parameters["boundary"] == "" {
		return knowledge.Errorf(knowledge.CodeUnsupportedFormat, "a file is sent as multipart/form-data, in the field file")
	}
	body := edge.NewSteady(w, r, s.deps.FileBytes+edge.SmallBody)
	defer body.End()
	f := upload{ID: filePrefix + knowledge.NewID(), Project: p.Project(), Created: time.Now().UTC()}
	if err := s.takeForm(r.Context(), p, &f, multipart.NewReader(body, parameters["boundary"])); err != nil {
		_ = s.deps.Blobs.Delete(context.WithoutCancel(r.Context()), bytesKey(p.Workspace(), f.ID)) // nothing names it
		return err
	}
	if _, err := s.deps.Blobs.PutJSON(r.Context(), recordKey(p.Workspace(), f.ID), f); err != nil {
		return fmt.Errorf("store file %s: %w", f.ID, err)
	}
	edge.WriteJSON(w, http.StatusOK, f.view())
	return nil
}

// takeForm reads the fields of a form, and stores its file.
func (s *Server) takeForm(ctx context.Context, p knowledge.Principal, f *upload, parts *multipart.Reader) error {
	hasFile := false
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return edge.BodyError(err)
		}
		switch {
		case part.FormName() == "file" && !hasFile:
			hasFile = true
			if f.Name = path.Base(strings.ReplaceAll(part.FileName(), `\`, "/")); f.Name == "." || f.Name == "/" {
				f.Name = "untitled"
			}
			ref, err := s.deps.Blobs.PutReader(ctx, bytesKey(p.Workspace(), f.ID), edge.BodyReader{Reader: io.LimitReader(part, s.deps.FileBytes+1)})
			if err != nil {
				return err
			}
			f.Bytes = ref.Bytes
		case part.FormName() == "purpose":
			purpose, err := io.ReadAll(io.LimitReader(part, 200))
			if err != nil {
				return edge.BodyError(err)
			}
			f.Purpose = string(purpose)
		default:
			return knowledge.Invalid("body."+part.FormName(), "is not a field of this form; it has file and purpose")
		}
	}
	f.Purpose = cmp.Or(f.Purpose, "assistants")
	switch {
	case !hasFile:
		return knowledge.Invalid("body.file", "is required")
	case f.Bytes == 0:
		return knowledge.Errorf(knowledge.CodeEmpty, "the file is empty")
	case f.Bytes > s.deps.FileBytes:
		return knowledge.TooLarge("file", s.deps.FileBytes)
	}
	return nil
}

// waitingFile returns an uploaded file, for principals that may add documents where it
// may go.
func (s *Server) waitingFile(ctx context.Context, p knowledge.Principal, id string) (f upload, err error) {
	notFound := knowledge.NotFound("file", id)
	if !strings.HasPrefix(id, filePrefix) || strings.ContainsAny(id, "/\\.") || len(id) > 100 {
		return f, notFound
	}
	err = s.deps.Blobs.GetJSON(ctx, recordKey(p.Workspace(), id), &f)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return f, notFound
	case err != nil:
		return f, fmt.Errorf("read file %s: %w", id, err)
	case !p.Can(knowledge.ScopeWrite) || p.Project() != "" && p.Project() != f.Project:
		return f, notFound
	}
	return f, nil
}

// fileView returns an uploaded file, or the document of that id.
func (s *Server) fileView(ctx context.Context, p knowledge.Principal, id string) (File, error) {
	f, err := s.waitingFile(ctx, p, id)
	if !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return f.view(), err
	}
	d, err := s.deps.Store.Document(ctx, p, documentID(id))
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return File{}, knowledge.NotFound("file", id)
	}
	view := File{ID: fileID(d.ID), Object: "file", Bytes: d.Bytes, CreatedAt: d.CreatedAt.Unix(), Filename: d.Name, Purpose: "assistants", Status: "processed"}
	if d.Status == knowledge.StatusError {
		view.Status = "error"
	}
	return view, err
}

func (s *Server) getFile(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	view, err := s.fileView(r.Context(), p, r.PathValue("file"))
	if err == nil {
		edge.WriteJSON(w, http.StatusOK, view)
	}
	return err
}

func (s *Server) getFileContent(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	id := r.PathValue("file")
	f, err := s.waitingFile(r.Context(), p, id)
	var content io.ReadCloser
	switch {
	case err == nil:
		content, _, err = s.deps.Blobs.Open(r.Context(), bytesKey(p.Workspace(), f.ID))
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		if content, err = s.deps.Blobs.Original(r.Context(), p, documentID(id)); knowledge.IsCode(err, knowledge.CodeNotFound) {
			err = knowledge.NotFound("file", id)
		}
	}
	if err != nil {
		return err
	}
	defer content.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	_, _ = io.Copy(w, content) // an error here cuts the answer off
	return nil
}

func (s *Server) deleteFile(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	f, err := s.waitingFile(r.Context(), p, r.PathValue("file"))
	if err != nil {
		return err
	}
	for _, key := range []string{recordKey(p.Workspace(), f.ID), bytesKey(p.Workspace(), f.ID)} {
		if err := s.deps.Blobs.Delete(r.Context(), key); err != nil {
			return fmt.Errorf("delete file %s: %w", f.ID, err)
		}
	}
	edge.WriteJSON(w, http.StatusOK, Deleted{ID: f.ID, Object: "file", Deleted: true})
	return nil
}

func (s *Server) listFiles(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	keys, err := s.deps.Blobs.Keys(r.Context(), filesPrefix(p.Workspace()))
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	files := []File{}
	for _, key := range keys {
		id := path.Base(path.Dir(key))
		if path.Base(key) != "file.json" {
			continue
		}
		f, err := s.waitingFile(r.Context(), p, id)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue // of another project, or deleted meanwhile
		}
		if err != nil {
			return err
		}
		if purpose := r.URL.Query().Get("purpose"); purpose == "" || purpose == f.Purpose {
			files = append(files, f.view())
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return writePage(w, r, files, func(f File) string { return f.ID })
}
