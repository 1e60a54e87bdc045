package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// runReaders decides who may read what came of a run.
type runReaders struct {
	edge     *edge.Edge
	store    Runs
	followed FollowedRuns
	blobs    Blobs
	access   Access
	now      func() time.Time
}

// readingOf returns what a request asks for of a run's events.
func (rr *runReaders) readingOf(r *http.Request, id string) (*reading, error) {
	after, part, err := lastEventID(r)
	if err != nil {
		return nil, err
	}
	principal, run, err := rr.readableRun(r, id)
	if err != nil {
		return nil, err
	}
	return &reading{run: run, principal: principal, after: after, part: part, compact: edge.IsSet(r, "compact")}, nil
}

// readableRun finds the run for the caller: by the token of an eventsUrl, which
// is good for that run alone, or by key or JWT, which also decide where the token
// opens nothing.
func (rr *runReaders) readableRun(r *http.Request, id string) (knowledge.Principal, store.Run, error) {
	if token := r.URL.Query().Get("token"); token != "" {
		principal, run, err := rr.runByLink(r, token, id)
		if c := edge.Credentials(r); !knowledge.IsCode(err, knowledge.CodeUnauthorized) || c.None() {
			return principal, run, err
		}
	}
	return rr.runByKey(r, id)
}

// runByKey finds the run for a caller with a key or a JWT who may read what it came to.
func (rr *runReaders) runByKey(r *http.Request, id string) (knowledge.Principal, store.Run, error) {
	principal, err := rr.edge.PrincipalFromQuery(r, r.PathValue("workspaceId"))
	if err != nil {
		return principal, store.Run{}, err
	}
	principal = edge.AsReader(r, principal)
	run, err := rr.store.Run(r.Context(), principal, id)
	if err != nil {
		return principal, run, err
	}
	principal, err = rr.asReader(r.Context(), principal, run)
	return principal, run, err
}

// runByLink finds the run that a token is for.
func (rr *runReaders) runByLink(r *http.Request, token, id string) (knowledge.Principal, store.Run, error) {
	link, err := rr.access.VerifyRun(r.Context(), token, id, rr.now())
	if err != nil {
		return knowledge.Principal{}, store.Run{}, err
	}
	if named := r.PathValue("workspaceId"); named != "" && named != link.Workspace {
		return knowledge.Principal{}, store.Run{}, knowledge.NotFound("run", id)
	}
	run, err := rr.followed.RunForSystem(r.Context(), link.Workspace, id)
	if err != nil {
		return knowledge.Principal{}, run, err
	}
	edge.ByLink(r.Context(), link)
	principal, err := rr.runPrincipal(r.Context(), run, link)
	return principal, run, err
}

// asReader returns the principal as it reads the result of a run: in the run's
// conversation, if it is the principal's. Only an administrator may read the answer
// to somebody else's question.
func (rr *runReaders) asReader(ctx context.Context, p knowledge.Principal, run store.Run) (knowledge.Principal, error) {
	switch {
	case !run.Kind.Traits().Answers && !run.Kind.Traits().Personal:
		return p, nil
	case run.Owner == p.Owner():
		return rr.inConversation(ctx, p, run.ConversationID)
	case p.May(knowledge.RunsAdmin):
		return p, nil
	}
	if run.Kind.Traits().Personal {
		return p, knowledge.Errorf(knowledge.CodeForbidden, "only who started it, and administrators, may read what came of this run")
	}
	return p, knowledge.Errorf(knowledge.CodeForbidden, "only the user who asked a question, or a key with the admin scope, may read its answer: name the user whose question it is")
}

// runPrincipal is who started a run: from its snapshot, or, for a document's
// runs, whoever manages the document's project.
func (rr *runReaders) runPrincipal(ctx context.Context, run store.Run, link access.Link) (knowledge.Principal, error) {
	if !run.Kind.Traits().Answers {
		return access.ForDocumentRun(run.Workspace, run.Project, link), nil
	}
	var request struct {
		Principal knowledge.Principal `json:"principal"`
	}
	if err := rr.blobs.GetJSON(ctx, requestKey(run), &request); err != nil {
		return knowledge.Principal{}, fmt.Errorf("read the request of run %s: %w", run.ID, err)
	}
	return request.Principal.Reader(), nil
}

// inConversation returns the principal as it sees the attachments of a
// conversation, if the conversation is its own.
func (rr *runReaders) inConversation(ctx context.Context, p knowledge.Principal, id string) (knowledge.Principal, error) {
	if id == "" {
		return p, nil
	}
	there, err := rr.access.As(ctx, p, access.Acting{User: p.User(), ExternalUser: p.ExternalUser(), Session: id})
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return p, nil
	}
	return there, err
}

// runOfFile finds the run whose file a request may read: by the token of a link, which
// is good for that file alone, or by key or JWT, which also decide where the token
// opens nothing.
func (rr *runReaders) runOfFile(r *http.Request, name string) (store.Run, error) {
	id := r.PathValue("run_id")
	if token := r.URL.Query().Get("token"); token != "" {
		run, err := rr.runByFileLink(r, token, id, name)
		if c := edge.Credentials(r); !knowledge.IsCode(err, knowledge.CodeUnauthorized) || c.None() {
			return run, err
		}
	}
	_, run, err := rr.runByKey(r, r.PathValue("run_id"))
	return run, err
}

// runByFileLink finds the run of the file that a token is for.
func (rr *runReaders) runByFileLink(r *http.Request, token, id, name string) (store.Run, error) {
	link, err := rr.access.VerifyRunFile(r.Context(), token, id, name, rr.now())
	if err != nil {
		return store.Run{}, err
	}
	if named := r.PathValue("workspaceId"); named != "" && named != link.Workspace {
		return store.Run{}, knowledge.NotFound("run", id)
	}
	edge.ByLink(r.Context(), link)
	return rr.followed.RunForSystem(r.Context(), link.Workspace, id)
}
