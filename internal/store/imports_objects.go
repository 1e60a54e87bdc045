package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"
)

// ImportedObject is an object that was listed before.
type ImportedObject struct {
	Key         string
	DocumentID  string
	Import      int64 // that listed it last
	Page        int
	Pending     bool   // the import has no outcome for it
	Published   int    // version that the import has published, 0 = none
	ETag        string // of the published version, "" = none
	Fingerprint string
	Alive       bool // readers find its document
	Gone        bool // the import has listed it as gone
}

type objectRow struct {
	bun.BaseModel `bun:"table:import_objects,alias:o"`
	SourceID      int64  `bun:"source_id,pk"`
	Key           string `bun:"key,pk"`
	DocumentID    string `bun:"document_id"`
	Import        int64  `bun:"import"`
	Page          int    `bun:"page"`
	Outcome       string `bun:"outcome"`
	ETag          string `bun:"etag"`
	Fingerprint   string `bun:"fingerprint"`
	Version       int    `bun:"version"`
	Hidden        bool   `bun:"hidden"`

	Alive bool `bun:"alive,scanonly"`
}

var objectTable = tableOf[objectRow]()

// keysPerQuery is how many objects one statement reads by their keys.
const keysPerQuery = 50

// withKeys is a condition on a column that is one of keysPerQuery keys.
func withKeys(column string) string {
	return column + " IN (?" + strings.Repeat(", ?", keysPerQuery-1) + ")"
}

// keyArguments are the arguments of withKeys, after those before: up to keysPerQuery
// keys, the last one as often as needed.
func keyArguments(keys []string, before ...any) []any {
	for n := range keysPerQuery {
		before = append(before, keys[min(n, len(keys)-1)])
	}
	return before
}

// The statements of loadObject and loadObjects.
var (
	oneObject = "SELECT " + objectTable.list() + `,
	COALESCE(d.published_version > 0 AND d.removed = FALSE AND d.removing_upto = 0, FALSE)
FROM import_objects AS o LEFT JOIN documents AS d ON d.id = o.document_id WHERE o.source_id = ? AND o.key = ?`
	manyObjects = strings.TrimSuffix(oneObject, "o.key = ?") + withKeys("o.key")
)

// loadObject reads an object, and whether readers find its document.
func loadObject(ctx context.Context, db querier, source int64, key string, row *objectRow) (bool, error) {
	return first(ctx, db, append(objectTable.targets(row), &row.Alive), oneObject, source, key)
}

// loadObjects is loadObject for many objects, by their keys.
func loadObjects(ctx context.Context, db querier, source int64, keys []string) (map[string]objectRow, error) {
	found := make(map[string]objectRow, len(keys))
	for part := range slices.Chunk(keys, keysPerQuery) {
		err := each(ctx, db, manyObjects, keyArguments(part, source), func(rows *sql.Rows) error {
			var row objectRow
			err := rows.Scan(append(objectTable.targets(&row), &row.Alive)...)
			found[row.Key] = row
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ImportedObjects returns those objects that were listed before, by their keys.
func (s *importStore) ImportedObjects(ctx context.Context, i Import, keys []string) (map[string]ImportedObject, error) {
	rows, err := loadObjects(ctx, s.reader, i.Source, keys)
	if err != nil {
		return nil, fmt.Errorf("read objects of import %s: %w", i.Import, failure(err))
	}
	found := make(map[string]ImportedObject, len(rows))
	for key, row := range rows {
		o := ImportedObject{
			Key: key, DocumentID: row.DocumentID, Import: row.Import, Page: row.Page, Pending: row.Outcome == outcomePending,
			ETag: row.ETag, Fingerprint: row.Fingerprint, Alive: row.Alive,
			Gone: row.Outcome == outcomeGone,
		}
		if row.Outcome == outcomePublished {
			o.Published = row.Version
		}
		found[key] = o
	}
	return found, nil
}
