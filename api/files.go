package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// filesAnswer is the answer to an upload of files.
type filesAnswer struct {
	Documents []Document `json:"documents"`
	Import    any        `json:"import" doc:"null: these files are documents of their own"`
}

func (s *Server) registerFiles() {
	registry := s.api.OpenAPI().Components.Schemas
	text := &huma.Schema{Type: huma.TypeString}
	handleRaw(s, route{scope: knowledge.ScopeWrite, streams: true, Operation: huma.Operation{
		OperationID: "add-files", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/projects/{id}/files",
		Summary: "Take files in", Tags: []string{"documents"},
		Description: "Of several files, one of a kind that is not supported becomes a document with status error, and the others go on.",
		Parameters: []*huma.Param{
			{Name: "workspaceId", In: "path", Required: true, Schema: text},
			{Name: "id", In: "path", Required: true, Schema: text, Description: "The project's id, or its name"},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"files"}, Properties: map[string]*huma.Schema{
				"files":      {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
				"tags":       {Type: huma.TypeString, Description: "A JSON list; or repeat the field with a tag each"},
				"metadata":   {Type: huma.TypeString, Description: "A JSON object"},
				"externalId": {Type: huma.TypeString, Description: "For one file: your id of the document"},
			},
		}}}},
		Responses: map[string]*huma.Response{"202": {
			Description: "Taken in; their ingestion runs",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(reflect.TypeFor[filesAnswer](), true, "")}},
		}},
	}}, s.addFiles)
}

// addFiles takes files in as they stream by: each goes to the blob store, and
// when all of the request has arrived, they become documents.
func (s *Server) addFiles(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	project, err := s.deps.Store.Project(r.Context(), p, r.PathValue("id"))
	if err != nil {
		writeError(w, r, fmt.Errorf("read project %s: %w", r.PathValue("id"), err))
		return
	}
	boundary, err := s.boundary(r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	body := newSteady(w, r, s.cfg.RequestBytes)
	defer body.end()
	if r.Header.Get("Idempotency-Key") == "" {
		s.takeFiles(w, r, p, project, multipart.NewReader(body, boundary))
		return
	}
	spooled, hash, err := s.spool(body, boundary)
	if err != nil {
		writeError(w, r, err)
		return
	}
	defer spooled.remove()
	s.once(w, r, &route{anew: true}, hash, func(w http.ResponseWriter, r *http.Request) {
		s.takeFiles(w, r, p, project, multipart.NewReader(spooled.file, boundary))
	})
}

// boundary gives what separates the parts of the request.
func (s *Server) boundary(r *http.Request) (string, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "multipart/form-data":
		return "", knowledge.Errorf(knowledge.CodeUnsupportedFormat, "files are sent as multipart/form-data, in the field files")
	case parameters["boundary"] == "":
		return "", knowledge.Errorf(knowledge.CodeMalformed, "the Content-Type has no boundary")
	case r.ContentLength > s.cfg.RequestBytes:
		return "", tooLargeError(s.cfg.RequestBytes)
	}
	return parameters["boundary"], nil
}

func (s *Server) takeFiles(w http.ResponseWriter, r *http.Request, p knowledge.Principal, project knowledge.Project, parts *multipart.Reader) {
	ctx := r.Context()
	run, again := runID(ctx)
	f := &form{server: s, principal: p, project: project, run: run, again: again, begun: map[string]knowledge.Document{}}
	err := f.read(ctx, parts)
	if err == nil {
		err = f.complete(ctx)
	}
	var answer filesAnswer
	if err == nil {
		answer, err = f.accept(ctx)
	}
	if err != nil {
		keepKey(ctx, len(f.begun) > 0)
		f.drop(ctx, err)
		writeError(w, r, err)
		return
	}
	w.Header().Set(runHeader, run)
	writeJSON(w, http.StatusAccepted, answer)
}

// form is a request of files while it is read.
type form struct {
	server     *Server
	principal  knowledge.Principal
	project    knowledge.Project
	run        string
	again      bool                          // an earlier try may have taken some of the files in
	begun      map[string]knowledge.Document // those that are documents, by run
	tags       []string
	metadata   map[string]any
	externalID string
	files      []store.NewVersion
}

// read takes the parts as they come. Files are stored; what they are to be
// called and tagged may come behind them.
func (f *form) read(ctx context.Context, parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return bodyError(err)
		}
		if part.FormName() == "files" {
			err = f.file(ctx, part)
		} else {
			err = f.field(part)
		}
		if err != nil {
			return err
		}
	}
}

// file stores one file. One of a kind that is not supported is remembered with
// what is wrong with it.
func (f *form) file(ctx context.Context, part *multipart.Part) error {
	place := len(f.files)
	if place >= f.server.cfg.RequestFiles {
		return invalid("body.files", "must have at most %d files in one request", f.server.cfg.RequestFiles)
	}
	name, err := fileName(part, fmt.Sprintf("body.files[%d]", place))
	if err != nil {
		return err
	}
	nv := store.NewVersion{
		Workspace: f.project.Workspace, Project: f.project.ID, ExternalID: f.externalID, Name: name, RunID: f.run,
		Splitter: f.project.Config.WithDefaults().AI.Splitter, Now: f.server.now(),
	}
	if place > 0 {
		nv.RunID = knowledge.DerivedID("run", f.run, strconv.Itoa(place))
	}
	f.server.identify(&nv, place)
	d, begun, err := f.server.begunBefore(ctx, f.principal, nv.RunID, f.again)
	if err != nil {
		return err
	}
	if begun {
		f.begun[nv.RunID] = d
		f.files = append(f.files, nv)
		return nil
	}
	nv.SourceKey = blob.UploadKey(nv.Workspace, nv.Project, nv.DocumentID, knowledge.NewID())
	limit := f.server.fileLimit(f.project)
	err = f.server.putOriginal(ctx, &limited{what: "file", r: incoming{part}, left: limit, limit: limit}, "", &nv)
	refused := knowledge.AsError(err)
	switch {
	case err == nil:
	case refused.Code == knowledge.CodeUnsupportedFormat || refused.Code == knowledge.CodeEmpty:
		nv.SourceKey = ""
		nv.Error = &knowledge.DocumentError{Code: refused.Code, Stage: knowledge.StageCheck, Message: refused.Message}
	default:
		return err
	}
	f.files = append(f.files, nv)
	return nil
}

// fileName gives the name under which a file was sent.
func fileName(part *multipart.Part, location string) (string, error) {
	_, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil || parameters["filename"] == "" {
		return "", invalid(location, "must be a file with a name")
	}
	return cleanName(parameters["filename"], location+".name")
}

// complete gives the files what the fields said, once all have come, and sees
// to it that there is room for them.
func (f *form) complete(ctx context.Context) error {
	wrong := tagFields(f.tags)
	wrong = append(wrong, metadataFields("body.metadata", f.metadata)...)
	wrong = append(wrong, externalIDFields("body.externalId", f.externalID)...)
	switch {
	case len(f.files) == 0:
		wrong = append(wrong, knowledge.Field{Location: "body.files", Message: "must have at least one file"})
	case len(f.files) > 1 && f.externalID != "":
		wrong = append(wrong, knowledge.Field{Location: "body.externalId", Message: "can name one file only; send several files without it"})
	}
	if err := invalidFields(wrong); err != nil {
		return err
	}
	if e := f.files[0].Error; e != nil && len(f.files) == 1 {
		return knowledge.Errorf(e.Code, "%s", e.Message)
	}
	for i := range f.files {
		nv := &f.files[i]
		if _, begun := f.begun[nv.RunID]; begun {
			continue
		}
		nv.Tags, nv.Metadata = f.tags, f.metadata
		if nv.ExternalID != f.externalID {
			if err := f.rename(ctx, nv); err != nil {
				return err
			}
		}
	}
	more := slices.DeleteFunc(slices.Clone(f.files), func(nv store.NewVersion) bool { _, begun := f.begun[nv.RunID]; return begun })
	return f.server.checkRoom(ctx, f.principal, f.project, more...)
}

// accept makes the files documents.
func (f *form) accept(ctx context.Context) (filesAnswer, error) {
	answer := filesAnswer{Documents: make([]Document, 0, len(f.files))}
	for _, nv := range f.files {
		d, begun := f.begun[nv.RunID]
		if !begun {
			var err error
			if d, err = f.server.accept(ctx, nv); err != nil {
				return answer, err
			}
			f.begun[nv.RunID] = d
		}
		answer.Documents = append(answer.Documents, f.server.startedView(d, nv.RunID))
	}
	return answer, nil
}

// rename moves a file to the document that an externalId behind it names.
func (f *form) rename(ctx context.Context, nv *store.NewVersion) error {
	old := nv.SourceKey
	nv.ExternalID = f.externalID
	f.server.identify(nv, 0)
	nv.SourceKey = blob.UploadKey(nv.Workspace, nv.Project, nv.DocumentID, knowledge.NewID())
	reader, _, err := f.server.deps.Blobs.Open(ctx, old)
	if err != nil {
		return fmt.Errorf("open a file: %w", err)
	}
	defer reader.Close()
	if _, err := f.server.deps.Blobs.PutReader(ctx, nv.SourceKey, reader); err != nil {
		return fmt.Errorf("move a file: %w", err)
	}
	if err := f.server.deps.Blobs.Delete(ctx, old); err != nil {
		return fmt.Errorf("move a file: %w", err)
	}
	return nil
}

// drop deletes the files that no document refers to.
func (f *form) drop(ctx context.Context, refusal error) {
	for _, nv := range f.files {
		if _, begun := f.begun[nv.RunID]; !begun {
			f.server.dropOriginal(ctx, nv, refusal)
		}
	}
}

// incoming is part of a body that is read elsewhere: what goes wrong with the
// body is the client's, whatever else does.
type incoming struct{ r io.Reader }

// Read implements io.Reader.
func (b incoming) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyError(err)
	}
	return n, err
}
