package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Versions lists the versions of a document, newest first. Callers without the write
// scope see neither unpublished versions of a published document nor older versions
// that they could not read.
func (s *documentStore) Versions(ctx context.Context, p knowledge.Principal, documentID string, page Page) ([]Version, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	if _, err := s.readDocument(ctx, p, documentID); err != nil {
		return nil, "", err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, "", err
	}
	var rows []versionRow
	q, limit, err := inOrder(seenVersions(s.reader, &rows, p, m).Where("v.document_id = ?", documentID), "v.version", "DESC", "versions", page)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list versions of document %s: %w", documentID, failure(err))
	}
	rows, cursor := next(rows, limit, func(r versionRow) position {
		return position{List: "versions", Order: int64(r.Version)}
	})
	list, err := readableVersions(ctx, s.database, p, m, rows)
	return list, cursor, err
}

// VersionFor returns one version of a document, by the rule of Versions.
func (s *documentStore) VersionFor(ctx context.Context, p knowledge.Principal, documentID string, version int) (Version, error) {
	if err := requireWorkspace(p); err != nil {
		return Version{}, err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return Version{}, err
	}
	var rows []versionRow
	err = seenVersions(s.reader, &rows, p, m).Where("v.document_id = ? AND v.version = ?", documentID, version).Scan(ctx)
	if err != nil {
		return Version{}, fmt.Errorf("read version %d of document %s: %w", version, documentID, failure(err))
	}
	list, err := readableVersions(ctx, s.database, p, m, rows)
	if err == nil && len(list) == 0 {
		err = knowledge.NotFound("document", documentID)
	}
	if err != nil {
		return Version{}, err
	}
	return list[0], nil
}

// seenVersions begins a query of the versions that the principal may know of. It
// leaves in versions whose access SQL does not check; readableVersions drops them.
func seenVersions(db bun.IDB, rows *[]versionRow, p knowledge.Principal, m marks) *bun.SelectQuery {
	q := readable(selectVersions(db, rows), p, m)
	if !p.Can(knowledge.ScopeWrite) {
		q = q.Where("(v.version <= d.published_version OR d.published_version = 0)")
	}
	return q
}

// readableVersions returns the versions that the principal may read.
func readableVersions(ctx context.Context, s *database, p knowledge.Principal, m marks, rows []versionRow) ([]Version, error) {
	list, err := decodeRows(rows, (*versionRow).version)
	if err != nil {
		return nil, err
	}
	return readableList(ctx, s, p, m, list)
}

// readableList returns those versions of readable documents that the principal may read: its
// clearance covers each, and without the write scope it is in the access list of each, unless
// a grant opens the document to it.
func readableList(ctx context.Context, s *database, p knowledge.Principal, m marks, list []Version) ([]Version, error) {
	seen := make([]Version, 0, len(list))
	for _, v := range list {
		if !p.Covers(v.Classification) {
			continue
		}
		admits := p.Can(knowledge.ScopeWrite) || p.Sees(v.Workspace, v.ACL)
		if !admits && slices.Contains(m, markAllowed) {
			var err error
			if admits, err = s.allowed(ctx, p, m, v.Document); err != nil {
				return nil, err
			}
		}
		if admits {
			seen = append(seen, v)
		}
	}
	return seen, nil
}

// allowedDocument selects the document ?2 if a grant opens it to a reader.
var allowedDocument = "SELECT d.id FROM documents AS d WHERE " + ofWorkspace("d") + " AND d.id = ?2 AND " + among(markAllowed, tokens3)

// allowed reports whether a grant opens a document to a reader.
func (s *database) allowed(ctx context.Context, p knowledge.Principal, m marks, document string) (bool, error) {
	var id string
	there, err := first(ctx, s.reader, []any{&id}, allowedDocument, p.Workspace(), document, m.list())
	return there, failure(err)
}
