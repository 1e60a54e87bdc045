package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// SyncRequest is what a sync is asked to do.
type SyncRequest struct {
	Scope          source.Scope `json:"scope,omitzero"`
	Include        []string     `json:"include,omitempty"`
	Exclude        []string     `json:"exclude,omitempty"`
	Tags           []string     `json:"tags,omitempty"`
	Subjects       []string     `json:"subjects,omitempty"` // the people whom all documents are about
	Mirror         bool         `json:"mirror,omitempty"`   // carry the rights of the service over
	RemoveVanished bool         `json:"remove_vanished,omitempty"`
}

// Sync follows a place of a service. Each of its runs is an import.
type Sync struct {
	ID           string
	Workspace    string
	Project      string
	Connection   string
	Owner        string
	Request      SyncRequest
	Every        time.Duration
	Paused       bool
	Scheduled    bool // its schedule is as it says
	Removed      bool // its schedule is to be deleted
	Cursor       string
	CursorAt     time.Time // when the listing began that led to the cursor, zero = there is none
	CursorImport int64
	LastImport   string // "" = none has started
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

type syncRow struct {
	bun.BaseModel `bun:"table:syncs,alias:y"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Project       string `bun:"project"`
	Connection    string `bun:"connection"`
	Owner         string `bun:"owner"`
	Request       string `bun:"request"`
	Every         int64  `bun:"every_us"`
	Paused        bool   `bun:"paused"`
	Scheduled     bool   `bun:"scheduled"`
	Removed       bool   `bun:"removed"`
	Cursor        string `bun:"cursor"`
	CursorAt      int64  `bun:"cursor_at"`
	CursorImport  int64  `bun:"cursor_import"`
	LastImport    string `bun:"last_import"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
}

var syncTable = tableOf[syncRow]()

func (r *syncRow) sync() (Sync, error) {
	y := Sync{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Connection: r.Connection, Owner: r.Owner,
		Every: time.Duration(r.Every) * time.Microsecond, Paused: r.Paused, Scheduled: r.Scheduled, Removed: r.Removed,
		Cursor: r.Cursor, CursorAt: fromMicros(r.CursorAt), CursorImport: r.CursorImport, LastImport: r.LastImport,
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
	}
	if err := decode(field{r.Request, &y.Request}); err != nil {
		return y, fmt.Errorf("decode sync %s: %w", r.ID, err)
	}
	return y, nil
}

// AddSync stores a sync of the principal's workspace. One of the same id that the workspace
// has is returned as it is. A project or a connection that does not exist is CodeNotFound.
func (s *syncStore) AddSync(ctx context.Context, p knowledge.Principal, y Sync) (Sync, error) {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return y, err
	}
	y.CreatedAt = s.orNow(y.CreatedAt)
	request, err := encode(y.Request)
	if err != nil {
		return y, fmt.Errorf("encode sync: %w", err)
	}
	row := syncRow{
		ID: y.ID, Workspace: p.Workspace(), Project: y.Project, Connection: y.Connection, Owner: p.Owner(), Request: request,
		Every: y.Every.Microseconds(), CreatedAt: micros(y.CreatedAt), UpdatedAt: micros(y.CreatedAt),
	}
	err = s.write(ctx, "store sync "+y.ID, func(ctx context.Context, tx transaction) error {
		there, err := syncTable.first(ctx, tx, &row, "y.id = ? AND y.workspace = ?", y.ID, p.Workspace())
		if err != nil || there {
			return err
		}
		if err := requireProject(ctx, tx, p.Workspace(), y.Project); err != nil {
			return err
		}
		var c connectionRow
		there, err = connectionTable.first(ctx, tx, &c, "c.id = ? AND c.workspace = ?", y.Connection, p.Workspace())
		if err == nil && !there {
			err = knowledge.NotFound("connection", y.Connection)
		}
		if err != nil {
			return err
		}
		return syncTable.insert(ctx, tx, &row)
	})
	if err != nil {
		return y, err
	}
	return row.sync()
}

// Sync returns a sync of a project that the principal covers. Following syncs needs the
// write scope.
func (s *syncStore) Sync(ctx context.Context, p knowledge.Principal, id string) (Sync, error) {
	if err := requireWrite(p); err != nil {
		return Sync{}, err
	}
	y, err := s.SyncForSystem(ctx, p.Workspace(), id)
	if err == nil && (y.Removed || !p.CoversProject(y.Project)) {
		err = knowledge.NotFound("sync", id)
	}
	if err != nil {
		return Sync{}, err
	}
	return y, nil
}

// SyncForSystem returns a sync without a check of permission, for workers. It may be
// removed.
func (s *syncStore) SyncForSystem(ctx context.Context, workspace, id string) (Sync, error) {
	var row syncRow
	if err := loadSync(ctx, s.reader, workspace, id, &row); err != nil {
		return Sync{}, fmt.Errorf("read sync %s: %w", id, failure(err))
	}
	return row.sync()
}

func loadSync(ctx context.Context, db querier, workspace, id string, row *syncRow) error {
	there, err := syncTable.first(ctx, db, row, "y.id = ? AND y.workspace = ?", id, workspace)
	if err == nil && !there {
		err = knowledge.NotFound("sync", id)
	}
	return err
}

// Syncs lists syncs, newest first. project "" asks for those of all projects.
func (s *syncStore) Syncs(ctx context.Context, p knowledge.Principal, project string, page Page) ([]Sync, string, error) {
	if err := requireWrite(p); err != nil {
		return nil, "", err
	}
	var rows []syncRow
	q := within(s.reader.NewSelect().Model(&rows), "y", p).Where("y.removed = FALSE")
	if project != "" {
		q = q.Where("y.project = ?", project)
	}
	q, limit, err := newestFirst(q, "y", "syncs", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list syncs: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r syncRow) position { return position{List: "syncs", Order: r.CreatedAt, ID: r.ID} })
	list, err := decodeRows(rows, (*syncRow).sync)
	return list, cursor, err
}

// SyncPatch is what to change of a sync; nil leaves as it is.
type SyncPatch struct {
	Every          *time.Duration
	Include        *[]string
	Exclude        *[]string
	Tags           *[]string
	Subjects       *[]string
	RemoveVanished *bool
	Paused         *bool
}

// UpdateSync changes a sync. Its schedule follows: the sync is not Scheduled until it has.
// A change of what is followed makes the next run list everything.
func (s *syncStore) UpdateSync(ctx context.Context, p knowledge.Principal, id string, patch SyncPatch) (Sync, error) {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return Sync{}, err
	}
	var row syncRow
	err := s.write(ctx, "change sync "+id, func(ctx context.Context, tx transaction) error {
		if err := loadSync(ctx, tx, p.Workspace(), id, &row); err != nil {
			return err
		}
		if row.Removed {
			return knowledge.NotFound("sync", id)
		}
		var r SyncRequest
		if err := decode(field{row.Request, &r}); err != nil {
			return err
		}
		if patch.applyTo(&row, &r) { // a run that has begun follows something else
			row.Cursor, row.CursorAt = "", 0
			if _, err := first(ctx, tx, []any{&row.CursorImport}, "SELECT number FROM imports WHERE id = ? AND workspace = ?", row.LastImport, row.Workspace); err != nil {
				return err
			}
		}
		var err error
		if row.Request, err = encode(r); err != nil {
			return err
		}
		row.Scheduled, row.UpdatedAt = false, micros(s.now())
		return syncTable.update(ctx, tx, &row)
	})
	if err != nil {
		return Sync{}, err
	}
	return row.sync()
}

// applyTo changes a row and its request. It reports whether other objects are followed, or
// as other documents.
func (patch SyncPatch) applyTo(row *syncRow, r *SyncRequest) (other bool) {
	for _, list := range []struct{ to, from *[]string }{{&r.Include, patch.Include}, {&r.Exclude, patch.Exclude}, {&r.Tags, patch.Tags}, {&r.Subjects, patch.Subjects}} {
		if list.from != nil {
			*list.to, other = *list.from, true
		}
	}
	if patch.Every != nil {
		row.Every = patch.Every.Microseconds()
	}
	if patch.Paused != nil {
		row.Paused = *patch.Paused
	}
	if patch.RemoveVanished != nil {
		r.RemoveVanished, other = *patch.RemoveVanished, true
	}
	return other
}

// RemoveSync marks a sync as removed: nobody sees it any more, and no run of it starts.
// DropSync deletes it when its schedule is gone. Its documents stay.
func (s *syncStore) RemoveSync(ctx context.Context, p knowledge.Principal, id string) (Sync, error) {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return Sync{}, err
	}
	var row syncRow
	err := s.write(ctx, "remove sync "+id, func(ctx context.Context, tx transaction) error {
		if err := loadSync(ctx, tx, p.Workspace(), id, &row); err != nil {
			return err
		}
		if row.Removed {
			return knowledge.NotFound("sync", id)
		}
		row.Removed, row.Scheduled = true, false
		return syncTable.update(ctx, tx, &row)
	})
	if err != nil {
		return Sync{}, err
	}
	return row.sync()
}

// DropSync deletes a sync that is removed, and whose schedule is gone.
func (s *syncStore) DropSync(ctx context.Context, workspace, id string) error {
	return s.write(ctx, "delete sync "+id, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "DELETE FROM syncs WHERE id = ? AND workspace = ? AND removed = TRUE", id, workspace)
		return err
	})
}

// MarkScheduled stores that the schedule of a sync is as the sync says, unless the sync was
// changed after updated.
func (s *syncStore) MarkScheduled(ctx context.Context, y Sync) error {
	return s.write(ctx, "note the schedule of sync "+y.ID, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE syncs SET scheduled = TRUE WHERE id = ? AND workspace = ? AND updated_at = ? AND removed = FALSE", y.ID, y.Workspace, micros(y.UpdatedAt))
		return err
	})
}

// UnscheduledSyncs lists syncs whose schedules are not as they say, and that were not
// changed after a time, zero = at any time.
func (s *syncStore) UnscheduledSyncs(ctx context.Context, before time.Time, limit int) ([]Sync, error) {
	rows, err := syncTable.all(ctx, s.reader, "y.scheduled = FALSE AND y.updated_at < ? ORDER BY y.id LIMIT ?", bound(before), limit)
	if err != nil {
		return nil, fmt.Errorf("list syncs without a schedule: %w", failure(err))
	}
	return decodeRows(rows, (*syncRow).sync)
}
