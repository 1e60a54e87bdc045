package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/words"
)

// versionKey identifies a version of a document in the index.
type versionKey struct {
	workspace, document string
	version             int
}

// Upsert writes entries in one transaction.
func (x *Index) Upsert(ctx context.Context, entries []index.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	// Compute everything possible before the transaction, to hold its lock
	// briefly.
	rows, known := make([]row, len(entries)), words.Stems{}
	last := map[versionKey]index.Entry{}
	for i, e := range entries {
		rows[i] = row{entry: e, words: words.Document(e.Text, known)}
		vector, err := index.Normalised(e.Vector)
		if err != nil {
			return fmt.Errorf("index chunk %s: %w", e.ChunkID, err)
		}
		if vector != nil {
			rows[i].vector, rows[i].sketch = vectorBytes(vector), x.sketches.rotation(len(vector)).sketchOf(vector)
		}
		last[keyOf(e)] = e
	}
	w := newWriting(nil)
	err := x.write(ctx, func(tx *sql.Tx) error {
		w.tx = tx
		for i := range rows {
			if err := w.put(ctx, &rows[i], last[keyOf(rows[i].entry)]); err != nil {
				return fmt.Errorf("chunk %s: %w", rows[i].entry.ChunkID, err)
			}
		}
		return errors.Join(w.putWords(ctx, rows), w.noteChanges(ctx))
	})
	if err != nil {
		return fmt.Errorf("write %d entries of document %s into the index: %w", len(entries), entries[0].DocumentID, err)
	}
	x.remember(w.workspaces, nil)
	x.tidier.noteWrite(slices.Collect(maps.Values(w.workspaces))...)
	return nil
}

// row is an entry in the form in which it is written.
type row struct {
	entry  index.Entry
	vector []byte // little-endian float32, normalised; nil = none
	sketch []byte
	words  string

	// Set by put.
	id    int64
	there bool // the entry has these words already
}

func (r row) dimension() int { return len(r.vector) / 4 }

type writtenVersion struct{ id, workspace int64 }

// writing is the state of one transaction: the versions and workspaces that it
// has looked up, and its prepared statements.
type writing struct {
	tx          *sql.Tx
	versions    map[versionKey]writtenVersion
	workspaces  map[string]int64
	generations map[string]*generationWriting // nil = not read yet
	texts       map[int64]*row                // the entries that were put, by id
	statements  map[string]*sql.Stmt
	lastEntry   int64          // the highest id of an entry, 0 = not read yet
	removed     map[int64]bool // workspaces with removed entries
}

func newWriting(tx *sql.Tx) *writing {
	return &writing{tx: tx, versions: map[versionKey]writtenVersion{}, workspaces: map[string]int64{},
		texts: map[int64]*row{}, statements: map[string]*sql.Stmt{}, removed: map[int64]bool{}}
}

func keyOf(e index.Entry) versionKey { return versionKey{e.Workspace, e.DocumentID, e.Version} }

// put writes one entry without its words. With the first entry of a version it
// also writes the version's fields.
func (w *writing) put(ctx context.Context, r *row, facts index.Entry) (err error) {
	if r.entry.Project != facts.Project {
		return fmt.Errorf("version %d is in project %s and cannot be in %s too", facts.Version, facts.Project, r.entry.Project)
	}
	version, ok := w.versions[keyOf(r.entry)]
	if !ok {
		if version, err = w.putVersion(ctx, facts); err != nil {
			return err
		}
		w.versions[keyOf(r.entry)] = version
	}
	if r.id, err = w.putEntry(ctx, version, r); err != nil {
		return err
	}
	if w.texts[r.id] = r; r.vector == nil {
		return nil
	}
	g, err := w.generation(ctx, r.entry.Generation, r.dimension())
	if err != nil {
		return err
	}
	return w.putVector(ctx, g, r.id, version.workspace, r)
}

// putWords writes the words of all entries one after the other: FTS5 buffers
// them in memory, and flushes the buffer whenever another statement runs in
// between.
func (w *writing) putWords(ctx context.Context, rows []row) error {
	type key struct {
		versionKey
		chunk string
	}
	last := make(map[key]int64, len(rows))
	for _, r := range rows {
		last[key{keyOf(r.entry), r.entry.ChunkID}] = r.id
	}
	for _, r := range rows {
		if r.there || last[key{keyOf(r.entry), r.entry.ChunkID}] != r.id {
			continue // the words are there, or replaced by a later row
		}
		table := wordTable(w.versions[keyOf(r.entry)].workspace)
		if err := w.exec(ctx, `INSERT INTO `+table+` (rowid, words) VALUES (?, ?)`, r.id, r.words); err != nil {
			return fmt.Errorf("words of chunk %s: %w", r.entry.ChunkID, err)
		}
	}
	return nil
}

// putEntry writes the entry's row and removes its former vector of the generation. If the
// entry had other words, it removes the former entry and writes a new one with a new id.
func (w *writing) putEntry(ctx context.Context, version writtenVersion, r *row) (id int64, err error) {
	var dimension int
	find, err := w.prepare(ctx, `SELECT id, dimension FROM entries WHERE version_id = ? AND chunk_id = ?`)
	if err != nil {
		return 0, err
	}
	switch err := find.QueryRowContext(ctx, version.id, r.entry.ChunkID).Scan(&id, &dimension); err {
	case nil:
		there, err := w.sameWords(ctx, version, r, id)
		if err != nil {
			return 0, err
		}
		if there {
			return id, w.updateEntry(ctx, r, id, dimension)
		}
		if err := errors.Join(eraseWords(ctx, w.exec, version.workspace, id), w.eraseEntry(ctx, version.workspace, id, dimension)); err != nil {
			return 0, err
		}
	case sql.ErrNoRows:
	default:
		return 0, err
	}
	if id, err = w.newEntry(ctx); err != nil {
		return 0, err
	}
	return id, w.exec(ctx, `INSERT INTO entries (id, version_id, chunk_id, ordinal, dimension, language) VALUES (?, ?, ?, ?, ?, ?)`,
		id, version.id, r.entry.ChunkID, r.entry.Ordinal, r.dimension(), r.entry.ChunkLanguage)
}

// sameWords reports whether the words of an entry that is written again are in the file,
// or put by this transaction.
func (w *writing) sameWords(ctx context.Context, version writtenVersion, r *row, id int64) (bool, error) {
	if earlier := w.texts[id]; earlier != nil {
		r.there = earlier.words == r.words
		return r.there, nil
	}
	var former string
	find, err := w.prepare(ctx, `SELECT c0 FROM `+wordTable(version.workspace)+`_content WHERE id = ?`)
	if err != nil {
		return false, err
	}
	err = find.QueryRowContext(ctx, id).Scan(&former)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	r.there = err == nil && former == r.words
	return r.there, nil
}

// updateEntry updates the row of an entry and erases its former vector of the generation.
func (w *writing) updateEntry(ctx context.Context, r *row, id int64, dimension int) error {
	all, err := w.allGenerations(ctx)
	if err != nil {
		return err
	}
	if g, ok := all[r.entry.Generation]; ok {
		if err := w.eraseVector(ctx, g, id); err != nil {
			return err
		}
	}
	return w.exec(ctx, `UPDATE entries SET ordinal = ?, dimension = ?, language = ? WHERE id = ?`,
		r.entry.Ordinal, max(dimension, r.dimension()), r.entry.ChunkLanguage, id)
}

func (w *writing) putVersion(ctx context.Context, e index.Entry) (v writtenVersion, err error) {
	metadata, err := metadataJSON(e.Metadata)
	if err != nil {
		return v, err
	}
	if v.workspace, err = w.workspace(ctx, e.Workspace); err != nil {
		return v, fmt.Errorf("workspace %s: %w", e.Workspace, err)
	}
	insert, err := w.prepare(ctx, `
		INSERT INTO versions (workspace, project, document_id, version, name, language, classification, created_at, metadata)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET name = excluded.name, language = excluded.language,
			classification = excluded.classification, created_at = excluded.created_at, metadata = excluded.metadata
		RETURNING id, project`)
	if err != nil {
		return v, err
	}
	var project string
	err = insert.QueryRowContext(ctx,
		v.workspace, e.Project, e.DocumentID, e.Version, e.Name, e.Language, e.Classification, micros(e.CreatedAt), metadata).
		Scan(&v.id, &project)
	if err != nil {
		return v, err
	}
	if project != e.Project {
		return v, fmt.Errorf("version %d is in project %s and cannot move to %s", e.Version, project, e.Project)
	}
	return v, putLabels(ctx, w.exec, v.id, e.ACL, e.Tags)
}

// workspace returns the id of a workspace, which it creates if there is none.
func (w *writing) workspace(ctx context.Context, name string) (int64, error) {
	if id, ok := w.workspaces[name]; ok {
		return id, nil
	}
	id, err := createWorkspace(ctx, w.tx, name)
	if err == nil {
		w.workspaces[name] = id
	}
	return id, err
}

// putLabels replaces the access tokens and the tags of a version.
func putLabels(ctx context.Context, exec execer, version int64, acl, tags []string) error {
	for _, labels := range []struct {
		table, column string
		values        []string
	}{{"acl", "token", acl}, {"tags", "tag", tags}} {
		if err := exec(ctx, `DELETE FROM `+labels.table+` WHERE version_id = ?`, version); err != nil {
			return err
		}
		for _, value := range labels.values {
			insert := `INSERT OR IGNORE INTO ` + labels.table + ` (version_id, ` + labels.column + `) VALUES (?, ?)`
			if err := exec(ctx, insert, version, value); err != nil {
				return err
			}
		}
	}
	return nil
}

type execer func(ctx context.Context, query string, args ...any) error

func (w *writing) exec(ctx context.Context, query string, args ...any) error {
	s, err := w.prepare(ctx, query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(ctx, args...)
	return err
}

// prepare prepares a statement and keeps it for this transaction, whose end
// closes it.
func (w *writing) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := w.statements[query]; ok {
		return s, nil
	}
	s, err := w.tx.PrepareContext(ctx, query)
	if err == nil {
		w.statements[query] = s
	}
	return s, err
}

func metadataJSON(m map[string]any) (string, error) {
	if len(m) == 0 {
		return "{}", nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("metadata: %w", err)
	}
	return string(b), nil
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
