package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/runfile"
	"github.com/cairn-rag/cairn/internal/store"
)

// exportName is the name of the file that an export leaves.
const exportName = "export.zip"

// SubjectPath is the path of what a person left.
type SubjectPath struct {
	WorkspacePath
	User     string `path:"user" maxLength:"256" doc:"The person of the workspace: the sub of a JWT, or the name of a member"`
	External bool   `query:"external" doc:"The user of an application (externalUserId) of this name, and not the person of the workspace"`
}

func (in SubjectPath) person() (knowledge.Person, error) {
	return knowledge.Person{Name: in.User, External: in.External}, knowledge.InvalidFields(knowledge.UserFields("path.user", in.User))
}

// startedOutput is the run that a request has started.
type startedOutput struct {
	Run  string `header:"Cairn-Run-Id"`
	Body struct {
		RunID string `json:"run_id"`
	} `nameHint:"SubjectRunStarted"`
}

// subjectRoutes holds the routes that export and erase what a person left.
type subjectRoutes struct {
	store    Subjects
	dispatch Dispatcher
}

func (sr *subjectRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/subjects/{user}"
	route := taggedWithStatus("privacy")
	edge.Handle(e, route("export-subject", http.MethodPost, path+"/export", "Export what a person left",
		"The result of the run has a link to a zip, which needs no key for an hour; the zip is deleted after a day. It has the documents of the person with their originals, conversations, questions with their answers, "+
			"preferences, feedback, consents, the membership, keys without their secrets, and the entries of the audit about the person. The key must be for every project.", http.StatusAccepted), sr.export)
	edge.Handle(e, route("erase-subject", http.MethodPost, path+"/erase", "Erase what a person left",
		"Removes the documents of the person, conversations, questions with their answers, preferences, feedback, test sets, consents, grants, keys, sessions and the membership: from the database, the index, the blobs and the histories of workflows. "+
			"Quotations of the documents are cut out of the answers to others. The result of the run has what was removed, and what a legal hold keeps. The audit keeps ids. The key must be for every project.", http.StatusAccepted), sr.erase)
}

func (sr *subjectRoutes) export(ctx context.Context, p knowledge.Principal, in *SubjectPath) (*startedOutput, error) {
	return sr.start(ctx, p, knowledge.KindExport, *in, "", sr.dispatch.ExportSubject)
}

func (sr *subjectRoutes) erase(ctx context.Context, p knowledge.Principal, in *struct {
	SubjectPath
	Body struct {
		Reason string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why it is erased. It stays with the run"`
	} `nameHint:"SubjectErasure"`
}) (*startedOutput, error) {
	if strings.TrimSpace(in.Body.Reason) == "" {
		return nil, knowledge.Invalid("body.reason", "must not be empty")
	}
	return sr.start(ctx, p, knowledge.KindErase, in.SubjectPath, strings.TrimSpace(in.Body.Reason), sr.dispatch.EraseSubject)
}

func (sr *subjectRoutes) start(ctx context.Context, p knowledge.Principal, kind knowledge.RunKind, in SubjectPath, reason string, start func(context.Context, store.Run) error) (*startedOutput, error) {
	person, err := in.person()
	if err != nil {
		return nil, err
	}
	id, _ := edge.RunID(ctx)
	run, err := sr.store.BeginSubjectRun(ctx, p, kind, person, id, reason)
	if err != nil {
		return nil, fmt.Errorf("begin a run for a person: %w", err)
	}
	audit.Made(ctx, run.ID)
	if err := start(ctx, run); err != nil {
		// The run is on record; the sweep starts it.
		edge.RequestLog(ctx).WarnContext(ctx, "the run for a person starts later", "run", run.ID, "error", err)
	}
	out := &startedOutput{Run: run.ID}
	out.Body.RunID = run.ID
	return out, nil
}

// erasedSubject is the result of an erasure.
type erasedSubject struct {
	Person   string `json:"person"`
	External bool   `json:"external" doc:"A user of an application"`
	knowledge.ErasureProgress
}

// exportedSubject is the result of an export.
type exportedSubject struct {
	Person   string `json:"person"`
	External bool   `json:"external" doc:"A user of an application"`
	knowledge.ExportProgress
	File *runFile `json:"file" doc:"null: it was deleted, a day after the export"`
}

// endedSubject returns the result of a run that exports or erases what a person left, nil for
// those who must not read it.
func (r *results) endedSubject(ctx context.Context, p knowledge.Principal, run store.Run) (any, error) {
	if run.Owner != p.Owner() && !p.May(knowledge.RunsAdmin) {
		return nil, nil
	}
	run, err := r.store.Run(ctx, p, run.ID) // again: it was read before it ended
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	progress := run.Progress
	if len(progress) == 0 {
		progress = json.RawMessage("{}")
	}
	person, _ := knowledge.PersonOfOwner(run.Subject)
	if run.Kind == knowledge.KindErase {
		done := erasedSubject{person.Name, person.External, knowledge.ErasureProgress{KeptByHold: []knowledge.HeldDocument{}}}
		err := decodeInto(progress, &done.ErasureProgress, run)
		return done, err
	}
	done := exportedSubject{Person: person.Name, External: person.External}
	if err := decodeInto(progress, &done.ExportProgress, run); err != nil {
		return nil, err
	}
	file, content, err := runfile.Open(ctx, r.blobs, knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}, exportName)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		return done, nil
	case err != nil:
		return nil, err
	}
	if err := content.Close(); err != nil {
		return nil, fmt.Errorf("close the export of run %s: %w", run.ID, err)
	}
	done.File = &r.views.runFiles(p, run, []knowledge.RunFile{file})[0]
	return done, nil
}

func decodeInto(progress json.RawMessage, to any, run store.Run) error {
	if err := json.Unmarshal(progress, to); err != nil {
		return fmt.Errorf("decode the progress of run %s: %w", run.ID, err)
	}
	return nil
}
