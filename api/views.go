package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/view"
)

// eventsLife is how long the token in an eventsUrl is good.
const eventsLife = time.Hour

// views makes what clients see of documents, imports and runs, with links that the
// principal can follow.
type views struct {
	publicURL string // "" = the request's
	access    Access
	links     Links
	now       func() time.Time
}

// document returns a document as clients see it.
func (v *views) document(d knowledge.Document) view.Document {
	return view.NewDocument(d, v.links.OperatorURL)
}

// startedDocument is document with the run that was started.
func (v *views) startedDocument(p knowledge.Principal, d knowledge.Document, run string) view.Document {
	started := v.document(d)
	started.RunID, started.EventsURL = run, v.eventsURL(p, run)
	return started
}

// acceptedDocument is document with the run that ingests the document.
func (v *views) acceptedDocument(p knowledge.Principal, t intake.Taken) view.Document {
	shown := v.startedDocument(p, t.Document, t.Run)
	shown.Unchanged, shown.VisibleTo = t.Unchanged, visibleTo(t)
	return shown
}

// visibleTo returns for whom a document is that was taken in.
func visibleTo(t intake.Taken) *view.Readers {
	readers := view.NewReaders(t.Readers)
	return &readers
}

// eventsURL is where a run's events are, with a token for a reader that can
// send no header. The link is good as long as the principal's key or JWT is, and as the
// principal may read the document.
func (v *views) eventsURL(p knowledge.Principal, run string) string {
	return v.link("/runs/" + run + "/events?token=" + url.QueryEscape(v.runToken(p, run)))
}

// runToken returns a token with which its holder may follow one run.
func (v *views) runToken(p knowledge.Principal, run string) string {
	// To the minute, so that a request which is repeated is given the same link.
	expires := v.now().Add(eventsLife + time.Minute).Truncate(time.Minute)
	return v.access.SignRun(p, run, expires)
}

// link returns the address of a path of the API as answers show it.
func (v *views) link(path string) string { return strings.TrimRight(v.publicURL, "/") + path }

// webSocketURL is where a run's events are for a WebSocket client, with a token for a
// reader that can send no header. Clients need an absolute address: without a
// configured one it is the address of the request.
func (v *views) webSocketURL(r *http.Request, p knowledge.Principal, run store.Run) string {
	query := url.Values{"runId": {run.ID}, "token": {v.runToken(p, run.ID)}}
	return "ws" + strings.TrimPrefix(v.address(r), "http") + "/workspaces/" + url.PathEscape(run.Workspace) + "/websocket?" + query.Encode()
}

// address returns the address at which the sender of a request reaches the API.
func (v *views) address(r *http.Request) string {
	return edge.AddressOf(v.publicURL, r)
}

// originalURL returns the address of an original, with a token for a reader that can
// send no header. The link is good as long as the principal's key or JWT is, and as the
// principal may read the document.
// Visitors of agents have neither, and get none.
func (v *views) originalURL(p knowledge.Principal, d knowledge.Document) string {
	if p.KeyID() == "" && p.User() == "" {
		return ""
	}
	expires := v.now().Add(originalLife + originalStep).Truncate(originalStep)
	token := v.access.SignOriginal(p, d.ID, d.ConversationID, expires)
	return v.link("/workspaces/" + p.Workspace() + "/documents/" + d.ID + "/content?token=" + url.QueryEscape(token))
}

func (v *views) run(r store.Run) runView {
	view := runView{
		ID: r.ID, Kind: r.Kind, Status: r.Status, WorkflowID: r.WorkflowID, ProjectID: orNull(r.Project), DocumentID: orNull(r.Subject), Conversation: orNull(r.ConversationID),
		CreatedAt: r.CreatedAt, EndedAt: orNull(r.EndedAt), Usage: r.Usage, OperatorURL: v.links.OperatorURL(r.WorkflowID),
	}
	if r.Kind == knowledge.KindImport {
		view.DocumentID, view.ImportID = nil, orNull(r.Subject)
	}
	if r.Kind == knowledge.KindEvaluate {
		view.DocumentID, view.EvaluationID = nil, orNull(r.Subject)
	}
	if r.Kind == knowledge.KindGenerate {
		view.DocumentID, view.TestSetID, view.Progress = nil, orNull(r.Subject), r.Progress
	}
	if r.Kind == knowledge.KindReindex || r.Kind == knowledge.KindRemoveProject || r.Kind == knowledge.KindRetention {
		view.DocumentID, view.Progress = nil, r.Progress
	}
	if r.Kind.Traits().Personal {
		view.DocumentID = nil
	}
	if r.Error != nil {
		view.Error = &runError{Code: r.Error.Code, Message: r.Error.Message, RetryAt: orNull(r.Error.RetryAt)}
	}
	if len(view.Usage) == 0 {
		view.Usage = json.RawMessage("null")
	}
	return view
}

// startedRun shows a run with the person who started it, to that person and to principals with
// the write scope.
func (v *views) startedRun(p knowledge.Principal, r store.Run) runView {
	view := v.run(r)
	if r.Owner == p.Owner() || p.Can(knowledge.ScopeWrite) {
		view.Person = knowledge.PersonOf(r.Owner)
	}
	return view
}

// runFiles returns the files of a run with links that need no key.
func (v *views) runFiles(p knowledge.Principal, run store.Run, files []knowledge.RunFile) []runFile {
	list := make([]runFile, 0, len(files))
	for _, f := range files {
		token := v.runFileToken(p, run, f.Name)
		list = append(list, runFile{Name: f.Name, MediaType: f.MediaType, Bytes: f.Bytes, URL: v.link(tool.FilePath(run.ID, f.Name) + "?token=" + url.QueryEscape(token))})
	}
	return list
}

// runFileToken returns a token that opens a file of a run. It changes every originalStep, as
// links to originals do.
func (v *views) runFileToken(p knowledge.Principal, run store.Run, name string) string {
	return v.access.SignRunFile(p, run.ID, name, v.now().Add(originalLife+originalStep).Truncate(originalStep))
}
