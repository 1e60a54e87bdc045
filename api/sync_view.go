package api

import (
	"time"

	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// syncView is a sync as it is shown.
type syncView struct {
	ID             string    `json:"id"`
	RunID          *string   `json:"run_id" doc:"The last run; null: none has started"`
	ConnectionID   string    `json:"connection_id"`
	Type           string    `json:"type" enum:"webdav,drive,sharepoint,confluence,notion,git,imap,crawl"`
	Place          string    `json:"place" doc:"The place as people call it: its address and its folder"`
	ProjectID      string    `json:"project_id"`
	Scope          SyncScope `json:"scope"`
	Include        []string  `json:"include"`
	Exclude        []string  `json:"exclude"`
	Tags           []string  `json:"tags"`
	Subjects       []string  `json:"subjects" doc:"The people whom all documents are about"`
	Every          string    `json:"every"`
	Permissions    string    `json:"permissions" enum:"mirror,none"`
	RemoveVanished bool      `json:"remove_vanished"`

	Status     string     `json:"status" enum:"running,waiting,paused,failed,idle" doc:"waiting: its run waits because the service asked for fewer requests. failed: the last run could not list the place. idle: the last run has ended, and the next one will start"`
	WaitsUntil *time.Time `json:"waits_until" doc:"Until when the run waits; null: it does not"`
	SecretEnds *time.Time `json:"secret_ends" doc:"When the secret of the connection expires; null: the service does not tell"`
	LastRun    *syncRun   `json:"last_run" doc:"null: none has started"`
	NextRun    *time.Time `json:"next_run" doc:"null: the sync is paused"`
	CursorAge  *float64   `json:"cursor_age" doc:"Seconds since the listing began that the last completed run followed to its end; null: none is completed, or the next run lists everything"`

	Discovered  int64           `json:"discovered" doc:"Files that the last run has listed: all of the place, or those that have changed"`
	Published   int64           `json:"published" doc:"Of them, those whose documents it has made or changed, also in their name or rights alone"`
	Skipped     int64           `json:"skipped" doc:"Of them, those that are unchanged"`
	Failed      int64           `json:"failed" doc:"Of them, those that could not be imported; the next run tries again what can be tried again"`
	Deleted     int64           `json:"deleted" doc:"Files that are gone, whose documents it has removed"`
	Hidden      int64           `json:"hidden" doc:"Files of the whole place that nobody in the workspace may see, because their rights in the service have no counterpart here"`
	Unresolved  int64           `json:"groups_unresolved" doc:"Groups of the connection of which the service does not tell all members: the others see what they see by other groups"`
	Failures    []ImportFailure `json:"failures" doc:"The first 20 failures of the last run; not in lists"`
	FailuresURL *string         `json:"failures_url"`
	CreatedAt   time.Time       `json:"created_at"`
}

// syncRun is the last run of a sync.
type syncRun struct {
	ID          string                 `json:"id" doc:"The import"`
	RunID       string                 `json:"run_id"`
	Status      knowledge.ImportStatus `json:"status" enum:"running,paused,completed,failed,canceled"`
	Error       *importError           `json:"error" doc:"Why the place could not be listed completely"`
	StartedAt   time.Time              `json:"started_at"`
	EndedAt     *time.Time             `json:"ended_at"`
	OperatorURL string                 `json:"operator_url"`
}

// view returns a sync as it is shown, with these failures.
func (sr *syncRoutes) view(s following.State, failures []store.ImportFailure) syncView {
	r, now := s.Request, sr.now()
	view := syncView{
		ID: s.ID, ConnectionID: s.Sync.Connection, Type: string(s.Connection.Type), Place: s.Place, ProjectID: s.Project, Scope: SyncScope(r.Scope),
		Include: orEmpty(r.Include), Exclude: orEmpty(r.Exclude), Tags: orEmpty(r.Tags), Subjects: orEmpty(r.Subjects), Every: everyText(s.Every), Permissions: "none",
		RemoveVanished: r.RemoveVanished, Status: s.Status, NextRun: orNull(s.Next), Hidden: s.Hidden, Unresolved: s.Unresolved, SecretEnds: orNull(s.Connection.SecretEnds),
		Failures: convert(failures, viewFailure), CreatedAt: s.CreatedAt,
	}
	if r.Mirror {
		view.Permissions = "mirror"
	}
	if s.Status == following.StatusWaiting {
		view.WaitsUntil = &s.Connection.WaitsUntil
	}
	if s.Cursor != "" {
		age := now.Sub(s.CursorAt).Seconds()
		view.CursorAge = &age
	}
	if s.Last.Import != "" {
		sr.addRun(&view, s.Last)
	}
	return view
}

// addRun adds the last run.
func (sr *syncRoutes) addRun(view *syncView, i store.Import) {
	view.RunID = &i.RunID
	view.LastRun = &syncRun{
		ID: i.Import, RunID: i.RunID, Status: i.Status, StartedAt: i.CreatedAt, EndedAt: orNull(i.EndedAt),
		OperatorURL: sr.views.links.OperatorURL(i.WorkflowID(i.RunID)),
	}
	if i.Error != nil {
		view.LastRun.Error = &importError{Code: i.Error.Code, Message: i.Error.Message}
	}
	c := i.Counts
	view.Discovered, view.Published, view.Skipped, view.Failed, view.Deleted = c.Discovered, c.Published, c.Skipped, c.Failed, c.Deleted
	failures := sr.views.link("/workspaces/" + i.Workspace + "/imports/" + i.Import + "/failures")
	view.FailuresURL = &failures
}

// everyText returns a duration as people write it: 15m, 24h.
func everyText(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return (d / time.Hour * time.Hour).String()[:len((d/time.Hour*time.Hour).String())-len("0m0s")]
	case d%time.Minute == 0:
		return d.String()[:len(d.String())-len("0s")]
	}
	return d.String()
}

// orEmpty returns a list that is not null in JSON.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
