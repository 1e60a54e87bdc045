package store

import (
	"context"
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
func (s *Store) Room(ctx context.Context, p knowledge.Principal, project, document string) (Room, error) {
	if err := requireWrite(p); err != nil {
		return Room{}, err
	}
	if !p.CoversProject(project) {
		return Room{}, knowledge.NotFound("project", project)
	}
	return s.RoomForSystem(ctx, p.Workspace(), project, document)
}

// RoomForSystem returns the room of a project beside one document, whose new version
// takes the place of the old one. Concurrent uploads may together exceed a limit.
func (s *Store) RoomForSystem(ctx context.Context, workspace, project, document string) (Room, error) {
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
	var pages, bytes int64
	_, err = first(ctx, s.reader, []any{&pages, &bytes}, `SELECT COALESCE(SUM(page_count), 0), COALESCE(SUM(bytes), 0) FROM documents
		WHERE workspace = ? AND project = ? AND removed = FALSE AND removing_upto = 0 AND id <> ?`, workspace, project, document)
	if err != nil {
		return Room{}, fmt.Errorf("count the pages of project %s: %w", project, failure(err))
	}
	room.Pages, room.Bytes = room.pages-pages, room.bytes-bytes
	return room, nil
}
