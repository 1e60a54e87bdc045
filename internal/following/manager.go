package following

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of the time between two runs of a sync.
const (
	shortestEvery = time.Minute
	longestEvery  = 30 * 24 * time.Hour
)

// Deps is what a Manager works with. All fields are required, and safe for concurrent use.
type Deps struct {
	Store   Store
	Sealer  Sealer
	Places  Places
	Runner  *Runner
	Imports Imports
	Log     *slog.Logger
	Now     func() time.Time
}

// Store is the part of the database that holds connections and syncs. Things that a
// principal may not see are CodeNotFound.
type Store interface {
	// AddConnection stores a connection, or returns the one of the same id.
	AddConnection(ctx context.Context, p knowledge.Principal, c store.Connection) (store.Connection, error)
	// Connection returns a connection, Connections lists them, newest first, and
	// RemoveConnection deletes one that no sync uses.
	Connection(ctx context.Context, p knowledge.Principal, id string) (store.Connection, error)
	Connections(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Connection, string, error)
	// UpdateConnection stores another sealed secret of a connection.
	UpdateConnection(ctx context.Context, p knowledge.Principal, id, sealed string) (store.Connection, error)
	RemoveConnection(ctx context.Context, p knowledge.Principal, id string) error
	// AddSync stores a sync, or returns the one of the same id.
	AddSync(ctx context.Context, p knowledge.Principal, y store.Sync) (store.Sync, error)
	// Sync returns a sync, Syncs lists them, newest first, UpdateSync changes one, and
	// RemoveSync hides it until its schedule is gone.
	Sync(ctx context.Context, p knowledge.Principal, id string) (store.Sync, error)
	Syncs(ctx context.Context, p knowledge.Principal, project string, page store.Page) ([]store.Sync, string, error)
	UpdateSync(ctx context.Context, p knowledge.Principal, id string, patch store.SyncPatch) (store.Sync, error)
	RemoveSync(ctx context.Context, p knowledge.Principal, id string) (store.Sync, error)
	// Import returns the import of a run.
	Import(ctx context.Context, p knowledge.Principal, id string) (store.Import, error)
	// HiddenObjects counts the objects of a sync that nobody may see.
	HiddenObjects(ctx context.Context, p knowledge.Principal, i store.Import) (int64, error)
	// UnresolvedGroups counts the groups of a connection of which the service does not tell all
	// members.
	UnresolvedGroups(ctx context.Context, p knowledge.Principal, connection string) (int64, error)
}

// Sealer seals the secrets of connections.
type Sealer interface {
	// Seal encrypts a value for a context.
	Seal(plain, context string) (string, error)
}

// Imports controls the imports of runs.
type Imports interface {
	// Pause asks an import to pause, or to resume. One that has ended is CodeConflict.
	Pause(ctx context.Context, p knowledge.Principal, id string, paused bool) (store.Import, error)
	// Cancel asks an import to stop. One that has ended is CodeConflict.
	Cancel(ctx context.Context, p knowledge.Principal, id string) (store.Import, error)
}

// Manager holds the connections and syncs of workspaces. It is safe for concurrent use.
type Manager struct {
	deps Deps
}

// New returns a Manager.
func New(deps Deps) *Manager { return &Manager{deps: deps} }

// State is a sync with its last run.
type State struct {
	store.Sync
	Connection store.Connection
	Place      string       // as people call it
	Last       store.Import // "" = none has started
	Hidden     int64        // objects that nobody may see
	Unresolved int64        // groups of the connection of which the service does not tell all members
	Next       time.Time    // when the next run starts, zero = it is paused
	Status     string       // running, waiting, paused, failed or idle
}

// The states of syncs.
const (
	StatusRunning = "running"
	StatusWaiting = "waiting" // it runs, and the service asked for fewer requests
	StatusPaused  = "paused"
	StatusFailed  = "failed" // the last run could not list the place
	StatusIdle    = "idle"
)

// AddConnection checks and stores a connection, whose secret it seals. It dials nothing.
func (m *Manager) AddConnection(ctx context.Context, p knowledge.Principal, c store.Connection, secret string) (store.Connection, error) {
	f := source.Follow{Type: c.Type, Options: c.Options, Credentials: secret}
	if err := m.deps.Places.CheckConnection(f); err != nil {
		return c, err
	}
	c.Workspace = p.Workspace()
	if secret != "" {
		var err error
		if c.Sealed, err = m.deps.Sealer.Seal(secret, sealedFor(c)); err != nil {
			return c, fmt.Errorf("seal the secret of a connection: %w", err)
		}
	}
	return m.deps.Store.AddConnection(ctx, p, c)
}

// Try asks the service of a connection whether it accepts the credentials. refused is what
// an administrator has to change, nil if nothing. ends is when they expire, zero if that is
// not known.
func (m *Manager) Try(ctx context.Context, p knowledge.Principal, id string) (ends time.Time, refused *knowledge.Error, err error) {
	c, err := m.deps.Store.Connection(ctx, p, id)
	if err != nil {
		return ends, nil, err
	}
	if err = m.deps.Runner.Try(ctx, c); err == nil {
		ends, err = m.deps.Runner.SecretEnds(ctx, c)
	}
	refused, err = refusal(ctx, err)
	return ends, refused, err
}

// ReplaceSecret seals and stores another secret of a connection, which its syncs use from
// their next request on. It dials nothing.
func (m *Manager) ReplaceSecret(ctx context.Context, p knowledge.Principal, id, secret string) (store.Connection, error) {
	c, err := m.deps.Store.Connection(ctx, p, id)
	if err != nil {
		return c, err
	}
	if err := m.deps.Places.CheckConnection(source.Follow{Type: c.Type, Options: c.Options, Credentials: secret}); err != nil {
		return c, err
	}
	sealed, err := m.deps.Sealer.Seal(secret, sealedFor(c))
	if err != nil {
		return c, fmt.Errorf("seal the secret of a connection: %w", err)
	}
	return m.deps.Store.UpdateConnection(ctx, p, id, sealed)
}

// AddSync checks and stores a sync, makes its schedule and starts its first run. A schedule
// or a run that cannot be made now is made later: that is no error.
func (m *Manager) AddSync(ctx context.Context, p knowledge.Principal, y store.Sync) (State, error) {
	if err := checkEvery(y.Every); err != nil {
		return State{}, err
	}
	if err := m.checkRequest(ctx, p, y); err != nil {
		return State{}, err
	}
	y, err := m.deps.Store.AddSync(ctx, p, y)
	if err != nil {
		return State{}, err
	}
	m.schedule(ctx, y)
	if _, err := m.deps.Runner.Start(ctx, y.Workspace, y.ID, FirstRun(y)); err != nil {
		return State{}, fmt.Errorf("start the first run of sync %s: %w", y.ID, err)
	}
	return m.Sync(ctx, p, y.ID)
}

// FirstRun returns the id of the import of the first run of a sync.
func FirstRun(y store.Sync) string { return knowledge.DerivedID("import", y.ID, "first") }

func checkEvery(every time.Duration) error {
	if every < shortestEvery || every > longestEvery || every%time.Second != 0 {
		return knowledge.Invalid("body.every", "must be a duration between 1m and 720h, in whole seconds, such as 15m")
	}
	return nil
}

// checkRequest refuses what no run could do.
func (m *Manager) checkRequest(ctx context.Context, p knowledge.Principal, y store.Sync) error {
	wrong := selection.Fields(store.ImportRequest{Include: y.Request.Include, Exclude: y.Request.Exclude, Tags: y.Request.Tags, Subjects: y.Request.Subjects})
	if y.Request.Mirror && !y.Request.RemoveVanished {
		wrong = append(wrong, knowledge.Field{
			Location: "body.remove_vanished", Message: "cannot be false with permissions mirror: nobody would know who may see a document whose file is gone",
		})
	}
	if err := knowledge.InvalidFields(wrong); err != nil {
		return err
	}
	c, err := m.deps.Store.Connection(ctx, p, y.Connection)
	if err != nil {
		return err
	}
	return m.deps.Places.CheckScope(source.Follow{Type: c.Type, Options: c.Options, Scope: y.Request.Scope, Mirror: y.Request.Mirror})
}

// schedule makes the schedule of a sync. The sweep repeats what fails.
func (m *Manager) schedule(ctx context.Context, y store.Sync) {
	if err := m.deps.Runner.Schedule(context.WithoutCancel(ctx), y); err != nil {
		m.deps.Log.WarnContext(ctx, "the schedule of a sync follows later", "workspace", y.Workspace, "sync", y.ID, "error", err)
	}
}

// Sync returns a sync with its last run.
func (m *Manager) Sync(ctx context.Context, p knowledge.Principal, id string) (State, error) {
	y, err := m.deps.Store.Sync(ctx, p, id)
	if err != nil {
		return State{}, err
	}
	return m.state(ctx, p, y)
}

// Syncs lists syncs with their last runs, newest first.
func (m *Manager) Syncs(ctx context.Context, p knowledge.Principal, project string, page store.Page) ([]State, string, error) {
	list, next, err := m.deps.Store.Syncs(ctx, p, project, page)
	if err != nil {
		return nil, "", err
	}
	states := make([]State, 0, len(list))
	for _, y := range list {
		s, err := m.state(ctx, p, y)
		if err != nil {
			return nil, "", err
		}
		states = append(states, s)
	}
	return states, next, nil
}

func (m *Manager) state(ctx context.Context, p knowledge.Principal, y store.Sync) (s State, err error) {
	s.Sync = y
	if s.Connection, err = m.deps.Runner.connection(ctx, y); err != nil {
		return s, err
	}
	s.Place = cmp.Or(addressOf(y, s.Connection), s.Connection.Options.Subject, string(s.Connection.Type))
	if y.LastImport != "" {
		if s.Last, err = m.deps.Store.Import(ctx, p, y.LastImport); err != nil {
			return s, err
		}
		if s.Hidden, err = m.deps.Store.HiddenObjects(ctx, p, s.Last); err != nil {
			return s, err
		}
	}
	if y.Request.Mirror {
		if s.Unresolved, err = m.deps.Store.UnresolvedGroups(ctx, p, y.Connection); err != nil {
			return s, err
		}
	}
	now := m.deps.Now()
	if !y.Paused {
		s.Next = y.NextRun(now)
	}
	open := s.Last.Import != "" && s.Last.Open()
	switch {
	case y.Paused:
		s.Status = StatusPaused
	case open && s.Connection.WaitsUntil.After(now):
		s.Status = StatusWaiting
	case open:
		s.Status = StatusRunning
	case s.Last.Status == knowledge.ImportFailed:
		s.Status = StatusFailed
	default:
		s.Status = StatusIdle
	}
	return s, nil
}

// Run starts a run of a sync now, or returns the one that has not ended.
func (m *Manager) Run(ctx context.Context, p knowledge.Principal, id, run string) (State, error) {
	y, err := m.deps.Store.Sync(ctx, p, id)
	if err != nil {
		return State{}, err
	}
	if _, err := m.deps.Runner.Start(ctx, y.Workspace, y.ID, run); err != nil {
		return State{}, err
	}
	return m.Sync(ctx, p, id)
}

// Pause pauses a sync and its run, or resumes both.
func (m *Manager) Pause(ctx context.Context, p knowledge.Principal, id string, paused bool) (State, error) {
	y, err := m.deps.Store.UpdateSync(ctx, p, id, store.SyncPatch{Paused: &paused})
	if err != nil {
		return State{}, err
	}
	m.schedule(ctx, y)
	if y.LastImport != "" {
		if _, err := m.deps.Imports.Pause(ctx, p, y.LastImport, paused); err != nil && !knowledge.IsCode(err, knowledge.CodeConflict) {
			return State{}, err
		}
	}
	return m.Sync(ctx, p, id)
}

// Update changes a sync. The change holds from the next run on.
func (m *Manager) Update(ctx context.Context, p knowledge.Principal, id string, patch store.SyncPatch) (State, error) {
	y, err := m.deps.Store.Sync(ctx, p, id)
	if err != nil {
		return State{}, err
	}
	if patch.Every != nil {
		if err := checkEvery(*patch.Every); err != nil {
			return State{}, err
		}
	}
	for _, list := range []struct{ to, from *[]string }{{&y.Request.Include, patch.Include}, {&y.Request.Exclude, patch.Exclude}, {&y.Request.Tags, patch.Tags}, {&y.Request.Subjects, patch.Subjects}} {
		if list.from != nil {
			*list.to = *list.from
		}
	}
	if patch.RemoveVanished != nil {
		y.Request.RemoveVanished = *patch.RemoveVanished
	}
	if err := m.checkRequest(ctx, p, y); err != nil {
		return State{}, err
	}
	if y, err = m.deps.Store.UpdateSync(ctx, p, id, patch); err != nil {
		return State{}, err
	}
	m.schedule(ctx, y)
	return m.Sync(ctx, p, id)
}

// Remove removes a sync, and cancels its run. Its documents stay.
func (m *Manager) Remove(ctx context.Context, p knowledge.Principal, id string) error {
	y, err := m.deps.Store.RemoveSync(ctx, p, id)
	if err != nil {
		return err
	}
	if y.LastImport != "" {
		if _, err := m.deps.Imports.Cancel(ctx, p, y.LastImport); err != nil && !knowledge.IsCode(err, knowledge.CodeConflict) {
			m.deps.Log.WarnContext(ctx, "the run of a removed sync ends by itself", "workspace", y.Workspace, "sync", y.ID, "error", err)
		}
	}
	m.schedule(ctx, y)
	return nil
}
