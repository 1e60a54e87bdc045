package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	objects "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// SyncScope is the part of a service that a sync follows.
type SyncScope struct {
	Site   string `json:"site,omitempty" maxLength:"2048" doc:"sharepoint: the address of a site, such as https://contoso.sharepoint.com/sites/legal, or its id"`
	Drive  string `json:"drive,omitempty" maxLength:"256" doc:"drive: the id of a shared drive. sharepoint: the name of a library of the site, the id of a drive, or the address of a person, whose OneDrive is followed. Default: all libraries, pages and lists of the site"`
	Folder string `json:"folder,omitempty" maxLength:"2048" doc:"drive: the id of a folder. sharepoint: the path of a folder of the library; without a drive, of the first library of the site. webdav: the path of a folder below the address of the connection. git: a path in the repository. Default: all files"`

	Repository string `json:"repository,omitempty" maxLength:"2048" doc:"git: the path of the repository below the address of the connection, or a whole address that begins with it. Default: the connection has the address of the repository"`
	Branch     string `json:"branch,omitempty" maxLength:"256" doc:"git: the branch. Default: the one that the repository says"`
	Mailbox    string `json:"mailbox,omitempty" maxLength:"512" doc:"imap: the mailbox, such as Archive/2026. Default: INBOX"`
	Space      string `json:"space,omitempty" maxLength:"256" doc:"confluence: the key of a space. Default: all spaces that the account sees"`
	Page       string `json:"page,omitempty" maxLength:"2048" doc:"notion: the address or the id of a page, which is followed with what is below it. Default: all that is shared with the integration"`
	Database   string `json:"database,omitempty" maxLength:"2048" doc:"notion: the address or the id of a database, instead of a page"`
}

type syncInput struct {
	WorkspacePath
	Body struct {
		ConnectionID   string    `json:"connection_id" minLength:"1" maxLength:"64"`
		ProjectID      string    `json:"project_id,omitempty" maxLength:"200" doc:"The id of a project, or its name. Default: the key's project, or default"`
		Scope          SyncScope `json:"scope,omitzero" doc:"Each type of connection accepts its own fields only. Default: everything"`
		Include        []string  `json:"include,omitempty" doc:"Patterns of the paths to follow, such as reports/**/*.pdf. Default: all"`
		Exclude        []string  `json:"exclude,omitempty" doc:"Patterns of the paths to leave out"`
		Every          string    `json:"every,omitempty" maxLength:"32" default:"1h" doc:"The time between two runs, between 1m and 720h, such as 15m"`
		Permissions    string    `json:"permissions,omitempty" enum:"mirror,none" default:"none" doc:"mirror: who may see a file in the service sees its document, by user and group, and nobody else. none: the whole workspace sees the documents"`
		RemoveVanished *bool     `json:"remove_vanished,omitempty" doc:"Remove the documents of files that are gone. Default: true"`
		Tags           []string  `json:"tags,omitempty" doc:"Tags of all documents"`
		Subjects       []string  `json:"subjects,omitempty" maxItems:"64" doc:"The people whom all documents are about, as in POST /document"`
	} `nameHint:"NewSync"`
}

type syncPatchInput struct {
	SyncPath
	Body struct {
		Every          *string   `json:"every,omitempty" maxLength:"32" doc:"The time between two runs, between 1m and 720h, such as 15m"`
		Include        *[]string `json:"include,omitempty"`
		Exclude        *[]string `json:"exclude,omitempty"`
		Tags           *[]string `json:"tags,omitempty"`
		Subjects       *[]string `json:"subjects,omitempty" maxItems:"64" doc:"Replaces those of the documents. With an empty list, documents keep theirs"`
		RemoveVanished *bool     `json:"remove_vanished,omitempty"`
	} `nameHint:"SyncPatch"`
}

// SyncPath is the path of a sync.
type SyncPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"64" doc:"The sync"`
}

type syncOutput struct {
	Run  string `header:"Cairn-Run-Id"`
	Body syncView
}

// syncRoutes holds the routes of syncs.
type syncRoutes struct {
	store  Store
	intake *intake.Intake
	syncs  *following.Manager
	views  *views
	now    func() time.Time
}

func (sr *syncRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/syncs"
	route := taggedWithStatus("syncs")
	edge.Handle(e, route("add-sync", http.MethodPost, path, "Follow a place of a service",
		"The first run starts at once, further ones follow by a schedule. Each run is an import, which lists what has changed since the run before. Moves, renames, deletions and changes of rights are followed without embedding a text again that has not changed.",
		http.StatusAccepted), sr.add)
	edge.Handle(e, route("list-syncs", http.MethodGet, path, "List syncs, newest first", "", 0), sr.list)
	edge.Handle(e, route("get-sync", http.MethodGet, path+"/{id}", "Read a sync, the counters of its last run and its first failures", "", 0), sr.get)
	edge.Handle(e, route("patch-sync", http.MethodPatch, path+"/{id}", "Change a sync", "The change holds from the next run on.", 0), sr.patch)
	edge.Handle(e, route("delete-sync", http.MethodDelete, path+"/{id}", "Remove a sync", "Its documents stay, and are followed no more.", 0), sr.remove)
	edge.Handle(e, route("run-sync", http.MethodPost, path+"/{id}/run", "Start a run now", "If a run has not ended, the answer names it. A paused sync is a conflict.", http.StatusAccepted), sr.run)
	edge.Handle(e, route("pause-sync", http.MethodPost, path+"/{id}/pause", "Pause a sync and its run", "", http.StatusAccepted), sr.pause)
	edge.Handle(e, route("resume-sync", http.MethodPost, path+"/{id}/resume", "Resume a sync and its run", "", http.StatusAccepted), sr.resume)
}

func (sr *syncRoutes) add(ctx context.Context, p knowledge.Principal, in *syncInput) (*syncOutput, error) {
	b := in.Body
	if _, err := sr.store.Connection(ctx, p, b.ConnectionID); err != nil { // of the workspace, before its projects
		return nil, err
	}
	project, err := sr.intake.Project(ctx, p, b.ProjectID)
	if err != nil {
		return nil, err
	}
	every, err := duration(b.Every)
	if err != nil {
		return nil, err
	}
	id, _ := edge.RunID(ctx)
	s, err := sr.syncs.AddSync(ctx, p, store.Sync{
		ID: id, Workspace: p.Workspace(), Project: project.ID, Connection: b.ConnectionID, Every: every,
		Request: store.SyncRequest{
			Scope: objects.Scope(b.Scope), Include: b.Include, Exclude: b.Exclude, Tags: b.Tags, Subjects: b.Subjects,
			Mirror: b.Permissions == "mirror", RemoveVanished: b.RemoveVanished == nil || *b.RemoveVanished,
		},
	})
	return sr.output(ctx, p, s, err)
}

// duration reads the time between two runs.
func duration(text string) (time.Duration, error) {
	every, err := time.ParseDuration(text)
	if err != nil {
		return 0, knowledge.Invalid("body.every", "must be a duration such as 15m or 24h")
	}
	return every, nil
}

func (sr *syncRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Project string `query:"project_id" maxLength:"200" doc:"The id of a project, or its name. Default: every project that the key covers"`
}) (*listOutput[syncView], error) {
	project, err := projectID(ctx, sr.store, p, in.Project)
	if err != nil {
		return nil, err
	}
	list, next, err := sr.syncs.Syncs(ctx, p, project, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list syncs: %w", err)
	}
	return page(convert(list, func(s following.State) syncView { return sr.view(s, nil) }), next), nil
}

func (sr *syncRoutes) get(ctx context.Context, p knowledge.Principal, in *SyncPath) (*syncOutput, error) {
	s, err := sr.syncs.Sync(ctx, p, in.ID)
	out, err := sr.output(ctx, p, s, err)
	if out != nil {
		out.Run = ""
	}
	return out, err
}

func (sr *syncRoutes) patch(ctx context.Context, p knowledge.Principal, in *syncPatchInput) (*syncOutput, error) {
	b := in.Body
	patch := store.SyncPatch{Include: b.Include, Exclude: b.Exclude, Tags: b.Tags, Subjects: b.Subjects, RemoveVanished: b.RemoveVanished}
	if b.Every != nil {
		every, err := duration(*b.Every)
		if err != nil {
			return nil, err
		}
		patch.Every = &every
	}
	s, err := sr.syncs.Update(ctx, p, in.ID, patch)
	return sr.output(ctx, p, s, err)
}

func (sr *syncRoutes) remove(ctx context.Context, p knowledge.Principal, in *SyncPath) (*struct{}, error) {
	return nil, sr.syncs.Remove(ctx, p, in.ID)
}

func (sr *syncRoutes) run(ctx context.Context, p knowledge.Principal, in *SyncPath) (*syncOutput, error) {
	id, _ := edge.RunID(ctx)
	s, err := sr.syncs.Run(ctx, p, in.ID, id)
	return sr.output(ctx, p, s, err)
}

func (sr *syncRoutes) pause(ctx context.Context, p knowledge.Principal, in *SyncPath) (*syncOutput, error) {
	s, err := sr.syncs.Pause(ctx, p, in.ID, true)
	return sr.output(ctx, p, s, err)
}

func (sr *syncRoutes) resume(ctx context.Context, p knowledge.Principal, in *SyncPath) (*syncOutput, error) {
	s, err := sr.syncs.Pause(ctx, p, in.ID, false)
	return sr.output(ctx, p, s, err)
}

// output returns a sync with the first failures of its last run.
func (sr *syncRoutes) output(ctx context.Context, p knowledge.Principal, s following.State, err error) (*syncOutput, error) {
	if err != nil {
		return nil, err
	}
	var failures []store.ImportFailure
	if s.Last.Import != "" {
		if failures, _, err = sr.store.ImportFailures(ctx, p, s.Last.Import, store.Page{Limit: shownFailures}); err != nil {
			return nil, fmt.Errorf("list failures of import %s: %w", s.Last.Import, err)
		}
	}
	return &syncOutput{s.Last.RunID, sr.view(s, failures)}, nil
}
