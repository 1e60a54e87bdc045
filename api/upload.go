package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// defaultProject is where a document goes whose request names no project and
// whose key is for all.
const defaultProject = "default"

// acceptedDocument is the answer to a document that was taken in.
type acceptedDocument struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Status      knowledge.Status `json:"status"`
	Version     int              `json:"version"`
	RunID       string           `json:"runId"`
	OperatorURL string           `json:"operatorUrl"`
	EventsURL   string           `json:"eventsUrl"`
}

func (s *Server) registerUpload() {
	registry := s.api.OpenAPI().Components.Schemas
	schema := func(t reflect.Type) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(t, true, t.Name())}}
	}
	// A file in base64 is a third longer; the rest of the body is small.
	limit := min(max(s.cfg.FileBytes/3*4, s.cfg.TextBytes*2)+smallBody, s.cfg.RequestBytes)
	handleRaw(s, route{scope: knowledge.ScopeWrite, limit: limit, anew: true, Operation: huma.Operation{
		OperationID: "add-document", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/webhooks/document",
		Summary: "Take a document in", Tags: []string{"documents"},
		Parameters: []*huma.Param{
			{Name: "workspaceId", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "projectId", In: "query", Schema: &huma.Schema{Type: huma.TypeString}, Description: "Default: the key's project, or default"},
			{Name: "wait", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean}, Description: "true: answer when the ingestion has ended"},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: schema(reflect.TypeFor[documentBody]())},
		Responses: map[string]*huma.Response{
			"202": {Description: "Taken in; its ingestion runs", Content: schema(reflect.TypeFor[acceptedDocument]())},
			"200": {Description: "With wait=true: the document when its ingestion has ended", Content: schema(reflect.TypeFor[Document]())},
		},
	}}, s.addDocument)
}

func (s *Server) addDocument(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	ctx := r.Context()
	var b documentBody
	if err := s.decodeBody(r, &b); err != nil {
		writeError(w, r, err)
		return
	}
	d, run, err := s.takeDocument(ctx, p, r.URL.Query().Get("projectId"), b)
	if err != nil {
		writeError(w, r, err)
		return
	}
	w.Header().Set(runHeader, run)
	if isSet(r, "wait") {
		dropBody(r)
		w.Header().Set(eventsHeader, s.eventsURL(d.Workspace, run))
		if d, err = s.settled(ctx, p, run); err != nil {
			writeError(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, s.documentView(d))
		return
	}
	view := s.startedView(d, run)
	if d.Status != knowledge.StatusDeleting {
		view.Status = knowledge.StatusPending // as it was when it was taken in
	}
	writeJSON(w, http.StatusAccepted, acceptedDocument{
		ID: view.ID, Name: view.Name, Status: view.Status, Version: view.Version, RunID: run,
		OperatorURL: view.OperatorURL, EventsURL: view.EventsURL,
	})
}

// settled waits for the run of a version to end and gives the document as that
// run left it.
func (s *Server) settled(ctx context.Context, p knowledge.Principal, run string) (knowledge.Document, error) {
	row, err := s.deps.Store.Run(ctx, p, run)
	if err != nil {
		return knowledge.Document{}, fmt.Errorf("read run %s: %w", run, err)
	}
	ref, err := s.awaitTurn(ctx, row, nil)
	if err != nil {
		return knowledge.Document{}, fmt.Errorf("wait for run %s: %w", run, err)
	}
	last, err := s.lastItem(ctx, ref)
	if err != nil {
		return knowledge.Document{}, err
	}
	return s.endedDocument(ctx, p, row, last)
}

// takeDocument checks a document, stores its bytes, puts its version on record
// and starts its ingestion, in this order: what a crash leaves in between is
// either unreachable bytes or a version that is started later.
func (s *Server) takeDocument(ctx context.Context, p knowledge.Principal, projectName string, b documentBody) (knowledge.Document, string, error) {
	project, err := s.uploadProject(ctx, p, projectName)
	if err != nil {
		return knowledge.Document{}, "", err
	}
	splitter, err := b.splitter(project.Config)
	if err != nil {
		return knowledge.Document{}, "", err
	}
	run, again := runID(ctx)
	if d, begun, err := s.begunBefore(ctx, p, run, again); begun || err != nil {
		return d, run, err
	}
	nv := store.NewVersion{
		Workspace: project.Workspace, Project: project.ID, ExternalID: b.ExternalID, Tags: b.Tags, ReplaceTags: b.ReplaceTags,
		Metadata: b.Metadata, Splitter: splitter, RunID: run, Now: s.now(),
	}
	b.audience(&nv)
	if err := b.check(&nv); err != nil {
		return knowledge.Document{}, "", err
	}
	if b.ConversationID != "" { // it must be the caller's own
		if _, err := s.deps.Access.As(ctx, p, s.actingIn(p, b.ConversationID)); err != nil {
			return knowledge.Document{}, "", err
		}
	}
	s.identify(&nv, 0)
	if err := s.checkRoom(ctx, p, project, nv); err != nil {
		return knowledge.Document{}, "", err
	}
	if err := s.storeContent(ctx, project, b.Content, &nv); err != nil {
		return knowledge.Document{}, "", err
	}
	d, err := s.accept(ctx, nv)
	if err != nil {
		s.dropOriginal(ctx, nv, err)
	}
	return d, run, err
}

// actingIn is for whom p acts already, in another conversation.
func (s *Server) actingIn(p knowledge.Principal, conversation string) access.Acting {
	return access.Acting{User: p.User(), ExternalUser: p.ExternalUser(), Session: conversation}
}

// uploadProject gives the project that a document goes to.
func (s *Server) uploadProject(ctx context.Context, p knowledge.Principal, name string) (knowledge.Project, error) {
	id := name
	if id == "" {
		id = p.Project()
	}
	if id == "" {
		id = defaultProject
	}
	project, err := s.deps.Store.Project(ctx, p, id)
	if name == "" && knowledge.IsCode(err, knowledge.CodeNotFound) {
		return project, invalid("query.projectId", "must name a project: there is none named %q", id)
	}
	if err != nil {
		return project, fmt.Errorf("read project %s: %w", id, err)
	}
	return project, nil
}

// storeContent puts the bytes into the blob store, and finds out what they are.
func (s *Server) storeContent(ctx context.Context, project knowledge.Project, c documentContent, nv *store.NewVersion) error {
	nv.SourceKey = blob.UploadKey(nv.Workspace, nv.Project, nv.DocumentID, knowledge.NewID())
	switch {
	case c.URL != nil:
		nv.SourceURL, nv.MediaType = *c.URL, extract.Declared(c.MediaType)
		return checkAddress(*c.URL)
	case c.Text != nil:
		limit := min(s.cfg.TextBytes, s.fileLimit(project))
		if int64(len(*c.Text)) > limit {
			return knowledge.Errorf(knowledge.CodeTooLarge, "content.text is above the limit of %s", bytesText(limit))
		}
		return s.putOriginal(ctx, strings.NewReader(*c.Text), c.MediaType, nv)
	}
	decoded := func() io.Reader { return base64.NewDecoder(base64.StdEncoding, strings.NewReader(*c.Base64)) }
	n, err := io.Copy(io.Discard, decoded())
	switch limit := s.fileLimit(project); {
	case err != nil:
		return invalid("body.content.base64", "is not base64")
	case n > limit:
		return knowledge.Errorf(knowledge.CodeTooLarge, "content.base64 is above the limit of %s", bytesText(limit))
	}
	return s.putOriginal(ctx, decoded(), c.MediaType, nv)
}

func (s *Server) fileLimit(project knowledge.Project) int64 {
	if limit := project.Config.Limits.FileBytes; limit > 0 {
		return min(limit, s.cfg.FileBytes)
	}
	return s.cfg.FileBytes
}
