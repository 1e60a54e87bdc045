package api

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/runfile"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
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

func (s *Server) registerRunFiles() {
	responses := map[string]*huma.Response{"200": {
		Description: "The file. A browser shows pictures and saves anything else",
		Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
	for id, path := range map[string]string{"get-run-file": "/runs", "workspace-get-run-file": "/workspaces/{workspaceId}/runs"} {
		edge.Handle(s.edge, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path + "/{run_id}/files/{name}", Summary: "Read a file that a tool produced",
			Description: "Everybody who may read the answer of the run may read its files.", Tags: []string{"runs"}, Responses: responses,
		}}, func(context.Context, knowledge.Principal, *runFilePath) (*huma.StreamResponse, error) {
			return raw(s.serveRunFile), nil
		})
	}
}

// runFiles returns the files of a run with links that need no key.
func (s *Server) runFiles(p knowledge.Principal, run store.Run, files []knowledge.RunFile) []runFile {
	list := make([]runFile, 0, len(files))
	for _, f := range files {
		// A link changes every originalStep, as those of originals do.
		expires := s.now().Add(originalLife + originalStep).Truncate(originalStep)
		token := s.deps.Access.SignRunFile(p, run.ID, f.Name, expires)
		list = append(list, runFile{Name: f.Name, MediaType: f.MediaType, Bytes: f.Bytes, URL: s.link(tool.FilePath(run.ID, f.Name) + "?token=" + url.QueryEscape(token))})
	}
	return list
}

// serveRunFile serves a file so that a browser never runs what is in it.
func (s *Server) serveRunFile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	run, err := s.runOfFile(r, name)
	var file knowledge.RunFile
	var content io.ReadCloser
	if err == nil {
		file, content, err = runfile.Open(r.Context(), s.deps.Blobs, knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}, name)
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

// runOfFile finds the run whose file a request may read: by the token of a link, which
// is good for that file alone, or by key or JWT, which also decide where the token
// opens nothing.
func (s *Server) runOfFile(r *http.Request, name string) (store.Run, error) {
	id := r.PathValue("run_id")
	if token := r.URL.Query().Get("token"); token != "" {
		run, err := s.linkedFile(r, token, id, name)
		if c := edge.Credentials(r); !knowledge.IsCode(err, knowledge.CodeUnauthorized) || c.Key == "" && c.Bearer == "" {
			return run, err
		}
	}
	_, run, err := s.keyedRun(r, r.PathValue("run_id"))
	return run, err
}

// linkedFile finds the run of the file that a token is for.
func (s *Server) linkedFile(r *http.Request, token, id, name string) (store.Run, error) {
	link, err := s.deps.Access.VerifyRunFile(r.Context(), token, id, name, s.now())
	if err != nil {
		return store.Run{}, err
	}
	if named := r.PathValue("workspaceId"); named != "" && named != link.Workspace {
		return store.Run{}, knowledge.NotFound("run", id)
	}
	return s.deps.Followed.RunForSystem(r.Context(), link.Workspace, id)
}
