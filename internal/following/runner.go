package following

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/throttle"
	"github.com/cairn-rag/cairn/internal/store"
)

// RunnerDeps is what a Runner works with. All fields are required, and safe for concurrent
// use.
type RunnerDeps struct {
	Store     RunnerStore
	Blobs     Blobs
	Secrets   Opener
	Places    Places
	Workflows Workflows
	Log       *slog.Logger
	Now       func() time.Time
	// Accounts returns the accounts to which the documents of a project's syncs are counted.
	// Defaults to none.
	Accounts func(ctx context.Context, workspace, project string) ([]knowledge.Account, error)
}

// RunnerStore is the part of the database that runs of syncs start in.
type RunnerStore interface {
	// SyncForSystem returns a sync, which may be removed.
	SyncForSystem(ctx context.Context, workspace, id string) (store.Sync, error)
	// ConnectionForSystem returns a connection.
	ConnectionForSystem(ctx context.Context, workspace, id string) (store.Connection, error)
	// SetConnectionWait stores until when a service asked for fewer requests.
	SetConnectionWait(ctx context.Context, workspace, id string, until time.Time) error
	// ClaimSecretCheck reports whether a service is to be asked when the secret of a connection
	// expires, because nobody has since a time, and SetSecretEnds stores what it says.
	ClaimSecretCheck(ctx context.Context, c store.Connection, since, now time.Time) (claimed bool, err error)
	SetSecretEnds(ctx context.Context, c store.Connection, ends time.Time) error
	// ProjectForSystem returns a project.
	ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error)
	// StartSyncRun inserts the import of a run, or returns the one that has not ended.
	StartSyncRun(ctx context.Context, n store.NewImport) (store.Import, error)
	// UnscheduledSyncs lists syncs whose schedules are not as they say.
	UnscheduledSyncs(ctx context.Context, before time.Time, limit int) ([]store.Sync, error)
	// MarkScheduled stores that the schedule of a sync is as it says, and DropSync deletes a
	// removed one.
	MarkScheduled(ctx context.Context, y store.Sync) error
	DropSync(ctx context.Context, workspace, id string) error
	// ImportForSystem returns an import, and PreviousImport the id of the last run of its sync
	// before it that was completed, "" for none.
	ImportForSystem(ctx context.Context, ref knowledge.ImportRef) (store.Import, error)
	PreviousImport(ctx context.Context, i store.Import) (string, error)
}

// Blobs holds what the listings of runs have kept.
type Blobs interface {
	// DeletePrefix deletes blobs, but those that keep reports, and returns how many.
	DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error)
}

// Opener opens sealed secrets.
type Opener interface {
	// Open returns the value that was sealed for the same context.
	Open(sealed, context string) (string, error)
}

// Places opens the places of services.
type Places interface {
	// CheckConnection and CheckScope refuse what no place can be opened with: CodeInvalid.
	// They dial nothing.
	CheckConnection(f source.Follow) error
	CheckScope(f source.Follow) error
	// Try asks a service whether it accepts the credentials.
	Try(ctx context.Context, f source.Follow, gate *throttle.Gate) error
	// SecretEnds returns when the secret of a connection expires, zero if that is not known.
	SecretEnds(ctx context.Context, f source.Follow, gate *throttle.Gate) (time.Time, error)
	// Follow returns the source of a place. It dials nothing.
	Follow(f source.Follow, gate *throttle.Gate) (source.Source, error)
}

// Workflows reaches the workflows of syncs. Doing anything twice changes nothing.
type Workflows interface {
	// Import starts the run of an import.
	Import(ctx context.Context, i store.Import) error
	// ScheduleSync makes or changes the schedule of a sync, and UnscheduleSync deletes it.
	ScheduleSync(ctx context.Context, y store.Sync) error
	UnscheduleSync(ctx context.Context, y store.Sync) error
}

// Runner starts the runs of syncs, and opens their places. The requests of all syncs of a
// connection wait together when its service asks for fewer. It is safe for concurrent use.
type Runner struct {
	deps RunnerDeps

	mu    sync.Mutex
	gates map[string]*throttle.Gate // by connection
}

// NewRunner returns a Runner.
func NewRunner(deps RunnerDeps) *Runner {
	return &Runner{deps: deps, gates: map[string]*throttle.Gate{}}
}

// The bounds of the work on schedules.
const (
	scheduleGrace = 15 * time.Second // younger changes are being made by the process that stored them
	schedulesOnce = 1000
	waitPatience  = 5 * time.Second

	secretAge      = 24 * time.Hour // older knowledge of when a secret expires is renewed
	secretPatience = 15 * time.Second
)

// Start starts a run of a sync, whose import has an id, or returns the run that has not
// ended. A run that cannot be started now is started later: that is no error.
func (r *Runner) Start(ctx context.Context, workspace, sync, id string) (store.Import, error) {
	y, err := r.deps.Store.SyncForSystem(ctx, workspace, sync)
	if err != nil {
		return store.Import{}, err
	}
	c, err := r.deps.Store.ConnectionForSystem(ctx, workspace, y.Connection)
	if err != nil {
		return store.Import{}, err
	}
	project, err := r.deps.Store.ProjectForSystem(ctx, workspace, y.Project)
	if err != nil {
		return store.Import{}, fmt.Errorf("read project: %w", err)
	}
	request := requestOf(y, c, project)
	if r.deps.Accounts != nil {
		if request.Accounts, err = r.deps.Accounts(ctx, workspace, project.ID); err != nil {
			return store.Import{}, err
		}
	}
	i, err := r.deps.Store.StartSyncRun(ctx, store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: workspace, Project: y.Project, Import: id}, RunID: id, SourceName: store.SyncSource(y.ID),
		Request: request, Splitter: project.Config.WithDefaults().AI.Splitter, Now: r.deps.Now(),
	})
	if err != nil {
		return i, err
	}
	if err := r.deps.Workflows.Import(ctx, i); err != nil { // the sweep repeats it
		r.deps.Log.WarnContext(ctx, "the run of a sync starts later", "workspace", workspace, "sync", sync, "import", i.Import, "error", err)
	}
	return i, nil
}

// connection returns the connection of a sync.
func (r *Runner) connection(ctx context.Context, y store.Sync) (store.Connection, error) {
	return r.deps.Store.ConnectionForSystem(ctx, y.Workspace, y.Connection)
}

// requestOf returns what the import of a run is asked to do.
func requestOf(y store.Sync, c store.Connection, project knowledge.Project) store.ImportRequest {
	return store.ImportRequest{
		Source:  source.Spec{Type: c.Type, URI: addressOf(y, c)},
		Include: y.Request.Include, Exclude: y.Request.Exclude, Tags: y.Request.Tags, Subjects: y.Request.Subjects, RemoveVanished: y.Request.RemoveVanished,
		Sync: y.ID, Mirror: y.Request.Mirror,
		Limits: project.Config.Limits, Enrichment: knowledge.Override{}.EnrichmentIn(project.Config),
	}
}

// addressOf returns what a person calls the place of a sync.
func addressOf(y store.Sync, c store.Connection) string {
	scope := y.Request.Scope
	address := cmp.Or(scope.Site, c.Options.URL)
	if strings.Contains(scope.Repository, "://") { // it begins with the address of the connection
		address = ""
	}
	for _, part := range []string{scope.Drive, scope.Repository, scope.Branch, scope.Folder, scope.Space, scope.Mailbox, scope.Page, scope.Database} {
		switch {
		case part == "":
		case address == "":
			address = part
		default:
			address = strings.TrimRight(address, "/") + "/" + part
		}
	}
	return address
}

// StartScheduled is Start for the schedule of a sync. A sync that is paused, removed or gone
// starts nothing, and the schedule of one that is gone is deleted.
func (r *Runner) StartScheduled(ctx context.Context, workspace, sync, id string) error {
	_, err := r.Start(ctx, workspace, sync, id)
	switch {
	case knowledge.IsCode(err, knowledge.CodeConflict):
		return nil
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		r.deps.Log.InfoContext(ctx, "a sync is gone", "workspace", workspace, "sync", sync, "error", err)
		return r.deps.Workflows.UnscheduleSync(ctx, store.Sync{ID: sync, Workspace: workspace})
	}
	return err
}

// Schedule makes the schedule of a sync what the sync says. Of a removed sync nothing stays but its
// documents.
func (r *Runner) Schedule(ctx context.Context, y store.Sync) error {
	if y.Removed {
		if err := r.deps.Workflows.UnscheduleSync(ctx, y); err != nil {
			return err
		}
		if err := r.dropState(ctx, y); err != nil {
			return err
		}
		return r.deps.Store.DropSync(ctx, y.Workspace, y.ID)
	}
	if err := r.deps.Workflows.ScheduleSync(ctx, y); err != nil {
		return err
	}
	return r.deps.Store.MarkScheduled(ctx, y)
}

// dropState deletes what the listings of a removed sync have kept for its next run. A run that
// has not ended does so itself when it ends.
func (r *Runner) dropState(ctx context.Context, y store.Sync) error {
	if y.LastImport == "" {
		return nil
	}
	ref := knowledge.ImportRef{Workspace: y.Workspace, Project: y.Project, Import: y.LastImport}
	last, err := r.deps.Store.ImportForSystem(ctx, ref)
	if knowledge.IsCode(err, knowledge.CodeNotFound) { // it went with its project
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the last run: %w", err)
	}
	before, err := r.deps.Store.PreviousImport(ctx, last)
	if err != nil {
		return err
	}
	ended := []string{y.LastImport, before}
	if last.Open() {
		ended = ended[1:]
	}
	for _, ref.Import = range ended {
		if ref.Import == "" { // no run was completed before
			continue
		}
		if _, err := r.deps.Blobs.DeletePrefix(ctx, ref.StateKey(""), nil); err != nil {
			return fmt.Errorf("delete the state of import %s: %w", ref.Import, err)
		}
	}
	return nil
}

// Once makes the schedules of syncs what the syncs say that a process left which died.
func (r *Runner) Once(ctx context.Context) error {
	list, err := r.deps.Store.UnscheduledSyncs(ctx, r.deps.Now().Add(-scheduleGrace), schedulesOnce)
	if err != nil {
		return err
	}
	var errs []error
	for _, y := range list {
		if err := r.Schedule(ctx, y); err != nil {
			errs = append(errs, fmt.Errorf("schedule sync %s: %w", y.ID, err))
		}
	}
	return errors.Join(errs...)
}

// Allow refuses the run of a sync that was removed, or whose connection was.
func (r *Runner) Allow(ctx context.Context, i store.Import) error {
	_, _, err := r.placeOf(ctx, i)
	return err
}

func (r *Runner) placeOf(ctx context.Context, i store.Import) (store.Sync, store.Connection, error) {
	y, err := r.deps.Store.SyncForSystem(ctx, i.Workspace, i.Request.Sync)
	if err == nil && y.Removed {
		err = knowledge.NotFound("sync", y.ID)
	}
	if err != nil {
		return y, store.Connection{}, err
	}
	c, err := r.deps.Store.ConnectionForSystem(ctx, i.Workspace, y.Connection)
	return y, c, err
}

// Open returns the source that lists what has changed since the cursor of a sync, with the
// states of this run and of the last completed one.
func (r *Runner) Open(ctx context.Context, i store.Import, state, previous source.State) (source.Source, error) {
	y, c, err := r.placeOf(ctx, i)
	if err != nil {
		return nil, err
	}
	f, err := r.followOf(c)
	if err != nil {
		return nil, err
	}
	r.checkSecret(ctx, c)
	f.Scope, f.Mirror, f.Cursor, f.State, f.Previous = y.Request.Scope, i.Request.Mirror, y.Cursor, state, previous
	return r.deps.Places.Follow(f, r.gate(c))
}

// followOf returns what opens the places of a connection.
func (r *Runner) followOf(c store.Connection) (source.Follow, error) {
	f := source.Follow{Type: c.Type, Options: c.Options, Connection: c.ID}
	if c.Sealed == "" {
		return f, nil
	}
	var err error
	if f.Credentials, err = r.deps.Secrets.Open(c.Sealed, sealedFor(c)); err != nil {
		return f, knowledge.Errorf(knowledge.CodeConflict, "the secret of the connection does not open with the key of this instance: make the connection again").WithCause(err)
	}
	return f, nil
}

// sealedFor is the context of the secret of a connection.
func sealedFor(c store.Connection) string { return "connection " + c.Workspace + " " + c.ID }

// Try asks the service of a connection whether it accepts the credentials.
func (r *Runner) Try(ctx context.Context, c store.Connection) error {
	f, err := r.followOf(c)
	if err != nil {
		return err
	}
	return r.deps.Places.Try(ctx, f, r.gate(c))
}

// SecretEnds asks when the secret of a connection expires, and stores it. Zero = that is not
// known.
func (r *Runner) SecretEnds(ctx context.Context, c store.Connection) (ends time.Time, err error) {
	f, err := r.followOf(c)
	if err == nil {
		ends, err = r.deps.Places.SecretEnds(ctx, f, r.gate(c))
	}
	if err != nil {
		return ends, err
	}
	return ends, r.deps.Store.SetSecretEnds(ctx, c, ends)
}

// checkSecret is SecretEnds for the runs of syncs: once a day, and no run fails with it.
func (r *Runner) checkSecret(ctx context.Context, c store.Connection) {
	ctx, cancel := context.WithTimeout(ctx, secretPatience)
	defer cancel()
	now := r.deps.Now()
	claimed, err := r.deps.Store.ClaimSecretCheck(ctx, c, now.Add(-secretAge), now)
	if claimed {
		_, err = r.SecretEnds(ctx, c)
	}
	if err != nil {
		r.deps.Log.InfoContext(ctx, "when the secret of a connection expires is not known", "connection", c.ID, "error", err)
	}
}

// gate returns what the requests of a connection wait at.
func (r *Runner) gate(c store.Connection) *throttle.Gate {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.gates[c.ID]
	if g == nil {
		g = throttle.NewGate(c.WaitsUntil, func(until time.Time) { r.waits(c, until) })
		r.gates[c.ID] = g
	}
	g.Extend(c.WaitsUntil) // another process may have been asked to wait
	return g
}

// waits stores until when the service of a connection asked for fewer requests. A wait that
// is not stored holds in this process alone.
func (r *Runner) waits(c store.Connection, until time.Time) {
	// The request that was refused may end meanwhile: others wait too.
	ctx, cancel := context.WithTimeout(context.Background(), waitPatience)
	defer cancel()
	if err := r.deps.Store.SetConnectionWait(ctx, c.Workspace, c.ID, until); err != nil {
		r.deps.Log.Warn("a wait for a service is not stored", "connection", c.ID, "error", err)
	}
}
