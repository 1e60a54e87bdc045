package api

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/runfile"
)

// runFile is a file that a tool produced, as an answer shows it.
type runFile struct {
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Bytes     int64  `json:"bytes"`
	URL       string `json:"url" doc:"The URL of the file; needs no key for an hour"`
}

// runFilePath describes the parameters of the file routes; serveRunFile reads them
// itself.
type runFilePath struct {
	edge.ActingQuery
	Run   string `path:"run_id" maxLength:"200"`
	Name  string `path:"name" maxLength:"400"`
	Token string `query:"token" doc:"The token of the url of a file; replaces a key"`
}

// runFileRoutes holds the routes of the files that runs make.
type runFileRoutes struct {
	readers *runReaders
	blobs   Blobs
}

func (rfr *runFileRoutes) mount(e *edge.Edge) {
	responses := map[string]*huma.Response{"200": {
		Description: "The file. A browser shows pictures and saves anything else",
		Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
	for id, path := range map[string]string{"get-run-file": "/runs", "workspace-get-run-file": "/workspaces/{workspaceId}/runs"} {
		edge.Handle(e, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path + "/{run_id}/files/{name}", Summary: "Read a file that a tool produced",
			Description: "Everybody who may read the answer of the run may read its files.", Tags: []string{"runs"}, Responses: responses,
		}}, func(context.Context, knowledge.Principal, *runFilePath) (*huma.StreamResponse, error) {
			return rawResponse(rfr.serveRunFile), nil
		})
	}
}

// serveRunFile serves a file so that a browser never runs what is in it.
func (rfr *runFileRoutes) serveRunFile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	run, err := rfr.readers.runOfFile(r, name)
	var file knowledge.RunFile
	var content io.ReadCloser
	if err == nil {
		file, content, err = runfile.Open(r.Context(), rfr.blobs, knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}, name)
	}
	if err != nil {
		edge.WriteError(w, r, fmt.Errorf("read a file of run %s: %w", r.PathValue("run_id"), err))
		return
	}
	defer content.Close()
	disposition, mediaType := "attachment", file.MediaType
	if runfile.IsPlainImage(mediaType) {
		disposition = "inline"
	}
	if strings.HasPrefix(mediaType, "text/") {
		mediaType += "; charset=utf-8"
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.FormatInt(file.Bytes, 10))
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": file.Name}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Referrer-Policy", "no-referrer")
	if _, err := io.Copy(w, content); err != nil {
		edge.RequestLog(r.Context()).InfoContext(r.Context(), "file was cut off", "run", run.ID, "error", err)
		panic(http.ErrAbortHandler) // so that what came does not look whole
	}
}
