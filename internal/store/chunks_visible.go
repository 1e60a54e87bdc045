package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// visibleChunks is prepared once. Its lists are JSON; an empty one of projects
// means all. CROSS JOIN keeps SQLite to the order
// in which the tables stand: from the few chunks to their documents, and not
// from every document of the workspace.
var visibleChunks = `SELECT ` + chunkTable.list() + `, ` + documentTable.list() + `
FROM json_each(?4) AS i CROSS JOIN chunks AS c CROSS JOIN documents AS d
WHERE c.id = i.value AND c.workspace = ?1 AND d.id = c.document_id AND d.published_version = c.version AND ` + searched() + ` AND ` + ofProjects5

// inProjects is the condition that a document d is of the projects of the list ?5,
// or in scope where that is empty.
var inProjects = inScope("d") + " AND " + ofProjects5

// ofProjects5 is the condition that a document d is of the projects of the list ?5, or that
// the list is empty.
const ofProjects5 = `(?5 = '[]' OR d.project IN (SELECT value FROM json_each(?5)))`

// VisibleChunks checks the permission after a search. It returns the chunks of those
// hits that the principal may read, in their order. A chunk is returned if it belongs
// to the published version of a visible document in the principal's workspace and
// projects, and document and principal share an access token, whatever the scopes.
// Empty projects means all that the principal covers.
func (s *chunkStore) VisibleChunks(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) ([]ChunkView, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	if len(hits) == 0 {
		return nil, nil
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ChunkID
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, err
	}
	views, err := s.scanViews(ctx, len(hits), p.Workspace(), p.Project(), m.list(), jsonList(ids), jsonList(projects))
	if err != nil {
		return nil, fmt.Errorf("check %d passages: %w", len(hits), failure(err))
	}
	list := make([]ChunkView, 0, len(hits))
	for _, h := range hits {
		v, ok := views[h.ChunkID]
		if ok && (h.DocumentID == "" || h.DocumentID == v.DocumentID) && (h.Version == 0 || h.Version == v.Version) {
			list = append(list, *v)
		}
	}
	return list, nil
}

// anyChunk is prepared once, like visibleChunks.
var anyChunk = `SELECT d.id FROM documents AS d JOIN chunks AS c ON c.document_id = d.id AND c.version = d.published_version
WHERE ` + searched() + ` AND (?4 = '[]' OR d.project IN (SELECT value FROM json_each(?4))) LIMIT 1`

// DocumentWithChunks returns the id of a document with a chunk that VisibleChunks would return for the
// principal and the projects, "" if there is none.
func (s *chunkStore) DocumentWithChunks(ctx context.Context, p knowledge.Principal, projects []string) (id string, err error) {
	if err := requireWorkspace(p); err != nil {
		return "", err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return "", err
	}
	rows, err := s.reader.query(ctx, anyChunk, p.Workspace(), p.Project(), m.list(), jsonList(projects))
	if err != nil {
		return "", fmt.Errorf("look for a passage: %w", failure(err))
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&id)
	}
	if err == nil {
		err = rows.Err()
	}
	return id, failure(err)
}

// publishedVersions is prepared once, like visibleChunks.
var publishedVersions = `SELECT d.id, d.published_version
FROM json_each(?4) AS i CROSS JOIN documents AS d WHERE d.id = i.value AND ` + inProjects + ` AND ` + reached(tokens3)

// Superseded reports whether the principal sees a newer version of a hit's document
// than the hit has; then the search must be repeated. Empty projects means all that
// the principal covers.
func (s *chunkStore) Superseded(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) (bool, error) {
	if err := requireWorkspace(p); err != nil {
		return false, err
	}
	versions := map[string]int{}
	for _, h := range hits {
		versions[h.DocumentID] = max(versions[h.DocumentID], h.Version)
	}
	documents := jsonList(slices.Collect(maps.Keys(versions)))
	m, err := s.marks(ctx, p)
	if err != nil {
		return false, err
	}
	rows, err := s.reader.query(ctx, publishedVersions, p.Workspace(), p.Project(), m.list(), documents, jsonList(projects))
	if err != nil {
		return false, fmt.Errorf("read versions: %w", failure(err))
	}
	defer rows.Close()
	newer := false
	for rows.Next() {
		var id string
		var published int
		if err := rows.Scan(&id, &published); err != nil {
			return false, fmt.Errorf("read versions: %w", failure(err))
		}
		newer = newer || published > versions[id]
	}
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("read versions: %w", failure(err))
	}
	return newer, nil
}

// scanViews reads chunks with their documents. Of a document that several
// chunks share, the columns are decoded once.
func (s *chunkStore) scanViews(ctx context.Context, size int, args ...any) (map[string]*ChunkView, error) {
	rows, err := s.reader.query(ctx, visibleChunks, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var chunk chunkRow
	var doc documentRow
	targets := append(chunkTable.targets(&chunk), documentTable.targets(&doc)...)
	views := make(map[string]*ChunkView, size)
	documents := map[string]knowledge.Document{}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		view := &ChunkView{}
		if view.Chunk, err = chunk.chunk(); err != nil {
			return nil, err
		}
		d, ok := documents[doc.ID]
		if !ok {
			if d, err = doc.document(); err != nil {
				return nil, err
			}
			documents[doc.ID] = d
		}
		view.Document = d
		views[view.ID] = view
	}
	return views, rows.Err()
}

// jsonList is a list as JSON. A word that is not storable, which would be another one
// in JSON, is null.
func jsonList(words []string) string {
	list := make([]*string, len(words))
	for i := range words {
		if storable(words[i]) {
			list[i] = &words[i]
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic(err) // text always has a JSON form
	}
	return string(data)
}
