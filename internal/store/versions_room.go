package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Room is how many more pages and bytes a project may hold. It may be negative.
type Room struct {
	Pages        int64
	Bytes        int64
	LimitsPages  bool // false: the project has no limit of pages
	LimitsBytes  bool
	pages, bytes int64 // the limits
}

// CheckPages returns CodeLimitReached if the project has no room for so many pages.
func (r Room) CheckPages(pages int) error {
	if !r.LimitsPages || int64(pages) <= r.Pages {
		return nil
	}
	return knowledge.Errorf(knowledge.CodeLimitReached,
		"the document has %d pages, and its project has room for %d of its %d: remove some documents, or raise limits.pages", pages, max(r.Pages, 0), r.pages)
}

// CheckBytes returns CodeLimitReached if the project has no room for so many bytes.
func (r Room) CheckBytes(bytes int64) error {
	if !r.LimitsBytes || bytes <= r.Bytes {
		return nil
	}
	return knowledge.Errorf(knowledge.CodeLimitReached,
		"the document has %d bytes, and its project has room for %d of its %d: remove some documents, or raise limits.bytes", bytes, max(r.Bytes, 0), r.bytes)
}

// Room returns the room of a project of the principal. See RoomForSystem.
func (s *versionStore) Room(ctx context.Context, p knowledge.Principal, project, document string) (Room, error) {
	if err := requireWrite(p); err != nil {
		return Room{}, err
	}
	if !p.CoversProject(project) {
		return Room{}, knowledge.NotFound("project", project)
	}
	return s.RoomForSystem(ctx, p.Workspace(), project, document)
}

// RoomForSystem returns the room of a project beside one document, whose new version
// takes the place of the old one. It is out of date as soon as it is read: AddVersion,
// ClaimVersions and TakeRoom check the limits in the transaction that writes.
func (s *versionStore) RoomForSystem(ctx context.Context, workspace, project, document string) (Room, error) {
	var row projectRow
	there, err := projectTable.first(ctx, s.reader, &row, "p.workspace = ? AND p.id = ?", workspace, project)
	if err == nil && !there {
		err = knowledge.NotFound("project", project)
	}
	if err != nil {
		return Room{}, fmt.Errorf("read project %s: %w", project, failure(err))
	}
	p, err := row.project()
	if err != nil {
		return Room{}, err
	}
	limits := p.Config.Limits
	room := Room{LimitsPages: limits.Pages > 0, LimitsBytes: limits.Bytes > 0, pages: int64(limits.Pages), bytes: limits.Bytes}
	if !room.LimitsPages && !room.LimitsBytes {
		return room, nil
	}
	used, err := usageOf(ctx, s.reader, workspace, project, document)
	if err != nil {
		return Room{}, fmt.Errorf("count the pages of project %s: %w", project, failure(err))
	}
	room.Pages, room.Bytes = room.pages-used.pages, room.bytes-used.bytes
	return room, nil
}

// TakeRoom stores how many pages and bytes a pending version has, 0 = not known yet, if
// its project has room for them. Otherwise it returns CodeLimitReached and stores
// nothing. Of several versions at once only so many get room as there is. It writes
// nothing if the project has no such limit. Repeating it has the same result.
func (s *versionStore) TakeRoom(ctx context.Context, ref knowledge.VersionRef, pages int, bytes int64) error {
	room, err := s.RoomForSystem(ctx, ref.Workspace, ref.Project, ref.Document)
	if err != nil || !room.LimitsPages && !room.LimitsBytes {
		return err
	}
	return s.write(ctx, "take room for document "+ref.Document, func(ctx context.Context, tx transaction) error {
		if err := lockProject(ctx, tx, ref.Workspace, ref.Project); err != nil {
			return err
		}
		used, err := usageOf(ctx, tx, ref.Workspace, ref.Project, ref.Document)
		if err != nil {
			return err
		}
		room.Pages, room.Bytes = room.pages-used.pages, room.bytes-used.bytes
		if err := errors.Join(room.CheckPages(pages), room.CheckBytes(bytes)); err != nil {
			return err
		}
		return noteSize(ctx, tx, ref, pages, bytes)
	})
}

// checkLimits returns CodeLimitReached if the project has no room for a new version.
// Other transactions that add to the project wait until this one ends.
func (a *addition) checkLimits(ctx context.Context, tx transaction) error {
	limits := a.Limits
	if limits.Documents > 0 && (!a.there || a.doc.Removed) {
		n, err := countDocuments(ctx, tx, a.Workspace, a.Project)
		if err != nil {
			return err
		}
		if n >= limits.Documents {
			return knowledge.Errorf(knowledge.CodeLimitReached, "project %q has its %d documents: remove some, or raise limits.documents", a.Project, limits.Documents)
		}
	}
	if limits.Bytes == 0 {
		return nil
	}
	used, err := usageOf(ctx, tx, a.Workspace, a.Project, a.DocumentID)
	if err != nil {
		return err
	}
	return Room{LimitsBytes: true, Bytes: limits.Bytes - used.bytes, bytes: limits.Bytes}.CheckBytes(a.Bytes)
}

// noteSize stores the pages and the bytes of a pending version; 0 leaves them as they
// are.
func noteSize(ctx context.Context, tx transaction, ref knowledge.VersionRef, pages int, bytes int64) error {
	const size = "page_count = COALESCE(NULLIF(CAST(?1 AS BIGINT), 0), page_count), bytes = COALESCE(NULLIF(CAST(?2 AS BIGINT), 0), bytes)"
	_, err := tx.exec(ctx, "UPDATE document_versions SET "+size+" WHERE document_id = ?3 AND version = ?4 AND status = 'pending'",
		pages, bytes, ref.Document, ref.Version)
	if err == nil {
		_, err = tx.exec(ctx, "UPDATE documents SET "+size+" WHERE id = ?3 AND version = ?4 AND published_version = 0",
			pages, bytes, ref.Document, ref.Version)
	}
	return err
}

// lockProject makes transactions that add to a project run one after the other. A
// database with one writer needs no lock, but no harm is done there.
func lockProject(ctx context.Context, tx transaction, workspace, project string) error {
	_, err := tx.exec(ctx, "UPDATE projects SET updated_at = updated_at WHERE workspace = ? AND id = ?", workspace, project)
	return err
}

// countDocuments returns how many documents a project has. Those that are being removed
// count until they are gone.
func countDocuments(ctx context.Context, db querier, workspace, project string) (n int, err error) {
	_, err = first(ctx, db, []any{&n}, "SELECT count(*) FROM documents WHERE workspace = ? AND project = ? AND removed = FALSE", workspace, project)
	return n, err
}

// usage is what a project holds of what it has limits for.
type usage struct{ pages, bytes int64 }

// usageOf returns what a project holds beside one document, "" = with all. A pending
// version that has more than the published one that it will replace counts as well.
func usageOf(ctx context.Context, db querier, workspace, project, except string) (usage, error) {
	var used, more usage
	_, err := first(ctx, db, []any{&used.pages, &used.bytes}, `SELECT COALESCE(SUM(page_count), 0), COALESCE(SUM(bytes), 0) FROM documents
		WHERE workspace = ? AND project = ? AND removed = FALSE AND removing_upto = 0 AND id <> ?`, workspace, project, except)
	if err != nil {
		return used, err
	}
	_, err = first(ctx, db, []any{&more.pages, &more.bytes}, `SELECT
		COALESCE(SUM(CASE WHEN v.page_count > d.page_count THEN v.page_count - d.page_count ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN v.bytes > d.bytes THEN v.bytes - d.bytes ELSE 0 END), 0)
		FROM documents AS d JOIN document_versions AS v ON v.document_id = d.id AND v.version = d.version
		WHERE d.workspace = ? AND d.project = ? AND d.removed = FALSE AND d.removing_upto = 0 AND d.id <> ?
		AND d.status = 'pending' AND d.published_version > 0 AND v.status = 'pending'`, workspace, project, except)
	return usage{used.pages + more.pages, used.bytes + more.bytes}, err
}
