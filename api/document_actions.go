package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// actionsAtATime is how many documents a request starts at the same time.
const actionsAtATime = 4

// documentSelection is the body of a route that does the same to many documents.
type documentSelection struct {
	IDs    []string        `json:"ids,omitempty" maxItems:"1000" doc:"The ids of the documents"`
	Filter *documentFilter `json:"filter,omitempty" doc:"Selects documents, instead of ids"`
	DryRun bool            `json:"dry_run,omitempty" doc:"Only count the documents"`
}

// documentFilter chooses documents; a field that is left out chooses all.
type documentFilter struct {
	ProjectID string           `json:"projectId,omitempty" maxLength:"200" doc:"The id of a project, or its name. Default: every project that the key covers"`
	Status    knowledge.Status `json:"status,omitempty" enum:"pending,published,error,inactive,deleting"`
	Code      knowledge.Code   `json:"code,omitempty" maxLength:"64" doc:"The code of the document's error, or of the failed attempt after which it waits"`
	Tags      []string         `json:"tags,omitempty" maxItems:"64" doc:"Documents with at least one of these tags"`
	Stale     bool             `json:"stale,omitempty" doc:"Only documents that a reindex of their project would process again"`
}

// selectionView is the answer to a documentSelection.
type selectionView struct {
	Matched int               `json:"matched" doc:"The number of selected documents, with those that wait in imports"`
	Started int               `json:"started" doc:"The number of documents for which a run was started or retried at once, or whose failure was acknowledged"`
	Refused []documentRefusal `json:"refused" doc:"The first 1,000 documents that were refused"`
	Runs    []startedRun      `json:"runs,omitempty" doc:"The first 10,000 runs of a retry or a reingest. In a dry run with stale: the reindexes that are already processing selected documents again"`
}

// startedRun is a run that works on selected documents.
type startedRun struct {
	RunID      string `json:"run_id"`
	ProjectID  string `json:"project_id"`
	DocumentID string `json:"document_id,omitempty" doc:"Absent if the run is a reindex of the project"`
	Documents  int    `json:"documents" doc:"How many of the selected documents it processes"`
}

type documentRefusal struct {
	ID   string         `json:"id"`
	Code knowledge.Code `json:"code"`
}

type selectionOutput struct {
	Status int
	Body   selectionView
}

// documentAction is what is done to each of many documents.
type documentAction struct {
	name, summary, description string
	// fits reports whether a filter without a status chooses the document.
	fits func(d knowledge.Document) bool
	// refuses returns the conflict that do would return, as far as it can be known.
	refuses func(d knowledge.Document) bool
	// all does it to all documents in place of do.
	all func(ctx context.Context, p knowledge.Principal, chosen []chosenDocument, out *selectionView) error
	// do returns the run that works on the document.
	do func(ctx context.Context, p knowledge.Principal, run intake.Run, id string) (string, error)
	// releases reports that documents that wait in imports, which have no ids yet, belong to
	// those that a filter chooses.
	releases bool
	// reindexes reports that documents of another embedding model are the work of a
	// reindex of their project.
	reindexes bool
	// immediate reports that all is done when the answer comes.
	immediate bool
}

// documentActionRoutes holds the routes that do the same to many documents.
type documentActionRoutes struct {
	store     Store
	intake    *intake.Intake
	imports   *importing.Starter
	removals  *removalQueue
	reindexes *reindexRoutes
	now       func() time.Time
}

func (dar *documentActionRoutes) actions() []documentAction {
	mayRetry := func(d knowledge.Document) bool { return d.Waiting != nil || d.Error != nil && d.Error.MayRetry() }
	removing := func(d knowledge.Document) bool { return d.Status == knowledge.StatusDeleting }
	return []documentAction{{
		name: "retry", summary: "Retry many documents", description: "A filter without a status selects the documents that have failed and those that wait for their next attempt, in imports too.",
		releases: true,
		fits: func(d knowledge.Document) bool {
			return d.Waiting != nil || d.Error != nil && d.Status == knowledge.StatusError
		},
		refuses: func(d knowledge.Document) bool { return removing(d) || !mayRetry(d) },
		do: func(ctx context.Context, p knowledge.Principal, run intake.Run, id string) (string, error) {
			_, started, err := dar.intake.Retry(ctx, p, run, id)
			return started, err
		},
	}, {
		name: "reingest", summary: "Process many documents again, as new versions", description: "A filter without a status skips documents that are pending or being removed. The runs have the low priority of imports, so uploads overtake them. If the embedding model of a project has changed, its stale documents are embedded again by a reindex of the whole project; a filter that selects only some of them is refused with conflict.",
		reindexes: true,
		fits:      func(d knowledge.Document) bool { return d.Status != knowledge.StatusPending && !removing(d) },
		refuses:   removing,
		do: func(ctx context.Context, p knowledge.Principal, run intake.Run, id string) (string, error) {
			_, err := dar.intake.Reingest(ctx, p, run, id)
			return run.ID, err
		},
	}, {
		name: "remove", summary: "Remove many documents", description: "The filter must not be empty. Documents under legal hold are refused. The others are hidden when the answer comes; their runs start after it.",
		fits:    func(d knowledge.Document) bool { return !removing(d) },
		refuses: func(d knowledge.Document) bool { return d.LegalHold },
		all:     dar.removeAll,
	}}
}

func (dar *documentActionRoutes) mount(e *edge.Edge) {
	for _, action := range dar.actions() {
		route := action.route()
		route.DefaultStatus, route.Responses = http.StatusAccepted, map[string]*huma.Response{"200": {Description: "The result of a dry run; nothing was started"}}
		edge.Handle(e, route, func(ctx context.Context, p knowledge.Principal, in *struct {
			WorkspacePath
			Body documentSelection
		}) (*selectionOutput, error) {
			return dar.actOnDocuments(ctx, p, action, in.Body)
		})
	}
	dar.mountAcknowledge(e)
}

// route describes the route of an action.
func (a documentAction) route() edge.Route {
	return edge.Route{Operation: huma.Operation{
		OperationID: a.name + "-documents", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/documents/" + a.name,
		Summary: a.summary, Description: a.description, Tags: []string{"documents"},
	}}
}

func (dar *documentActionRoutes) actOnDocuments(ctx context.Context, p knowledge.Principal, action documentAction, b documentSelection) (*selectionOutput, error) {
	if err := b.check(action.name); err != nil {
		return nil, err
	}
	chosen, refused, err := dar.choose(ctx, p, action, b)
	if err != nil {
		return nil, err
	}
	out := &selectionOutput{Status: http.StatusOK, Body: selectionView{Matched: len(chosen), Refused: refused}}
	if !b.DryRun {
		for _, d := range chosen {
			audit.Made(ctx, d.id)
		}
		if !action.immediate {
			out.Status = http.StatusAccepted
		}
		if action.reindexes && b.Filter != nil {
			chosen, err = dar.reindexMoved(ctx, p, *b.Filter, chosen, &out.Body)
		}
		if err != nil {
			return nil, err
		}
		if action.all != nil {
			err = action.all(ctx, p, chosen, &out.Body)
		} else {
			err = dar.startActions(ctx, p, action, chosen, &out.Body)
		}
	} else {
		for _, d := range chosen {
			if d.refused {
				out.Body.refuse(d.id, knowledge.CodeConflict)
			}
		}
		if b.Filter != nil && b.Filter.Stale {
			err = dar.reindexing(ctx, p, chosen, &out.Body)
		}
	}
	if err == nil && action.releases && b.Filter != nil {
		err = dar.release(ctx, p, b, &out.Body)
	}
	return out, err
}

// release makes the documents that wait in imports try at once, as far as the filter chooses
// them: they have no tags yet, and are not stale.
func (dar *documentActionRoutes) release(ctx context.Context, p knowledge.Principal, b documentSelection, out *selectionView) error {
	f := *b.Filter
	if f.Stale || len(f.Tags) > 0 || f.Status != "" && f.Status != knowledge.StatusPending {
		return nil
	}
	project, err := projectID(ctx, dar.store, p, f.ProjectID)
	if err != nil {
		return err
	}
	n, err := dar.imports.Release(ctx, p, importing.Held{Project: project, Code: f.Code, CountOnly: b.DryRun})
	if out.Matched += n; !b.DryRun && err == nil {
		out.Started += n
	}
	return err
}

func (b documentSelection) check(action string) error {
	switch f := b.Filter; {
	case (len(b.IDs) > 0) == (f != nil):
		return knowledge.Invalid("body", "must have either ids, which names at least one document, or filter")
	case f != nil && action == "remove" && f.ProjectID == "" && f.Status == "" && f.Code == "" && len(f.Tags) == 0 && !f.Stale:
		return knowledge.Invalid("body.filter", "must not be empty: it would remove every document; name a projectId")
	case f != nil && f.Code != "" && !f.Code.Known():
		return knowledge.Invalid("body.filter.code", "is not the code of an error, such as provider_failed or corrupt")
	}
	return nil
}

// The bounds of the documents and of the runs that a selectionView names.
const (
	maxRefused = 1000
	maxRuns    = 10_000
)

func (v *selectionView) addRun(run startedRun) {
	if len(v.Runs) < maxRuns {
		v.Runs = append(v.Runs, run)
	}
}

func (v *selectionView) refuse(id string, code knowledge.Code) {
	if len(v.Refused) < maxRefused {
		v.Refused = append(v.Refused, documentRefusal{ID: id, Code: code})
	}
}

// startActions acts on the documents. The id of each run is derived from the request's,
// so a repetition of the request starts nothing twice.
func (dar *documentActionRoutes) startActions(ctx context.Context, p knowledge.Principal, action documentAction, chosen []chosenDocument, out *selectionView) error {
	request, repeated := edge.RunID(ctx)
	runs, outcomes := make([]string, len(chosen)), make([]error, len(chosen))
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(actionsAtATime)
	for i, d := range chosen {
		group.Go(func() error {
			if working.Err() != nil {
				return context.Cause(working)
			}
			run := intake.Run{ID: knowledge.DerivedID(action.name, request, d.id), Repeated: repeated, Later: true}
			started, err := action.do(working, p, run, d.id)
			runs[i] = started
			if e := knowledge.AsError(err); err != nil && slices.Contains([]knowledge.Code{knowledge.CodeConflict, knowledge.CodeNotFound, knowledge.CodeEncrypted}, e.Code) {
				outcomes[i] = e
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("%s documents: %w", action.name, err)
	}
	for i, err := range outcomes {
		if err == nil {
			out.Started++
			if runs[i] != "" {
				out.addRun(startedRun{runs[i], chosen[i].project, chosen[i].id, 1})
			}
		} else {
			out.refuse(chosen[i].id, knowledge.AsError(err).Code)
		}
	}
	return nil
}
