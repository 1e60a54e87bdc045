package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PendingCount counts the pending versions of one stage and cause, over all workspaces.
type PendingCount struct {
	Stage  knowledge.Stage
	Code   knowledge.Code // for which they wait for their next try; "" = they do not wait
	Count  int
	Oldest time.Time // when the oldest of them was accepted
}

// pendingCounts reads pending versions only, by their index.
const pendingCounts = `SELECT v.stage, CASE WHEN d.waiting <> '' AND d.status = 'pending' THEN json_extract(d.waiting, '$.code') ELSE '' END AS code,
	COUNT(*), MIN(v.created_at)
FROM document_versions AS v JOIN documents AS d ON d.id = v.document_id
WHERE v.status = 'pending' AND v.version > d.removing_upto GROUP BY 1, 2 ORDER BY 1, 2`

// heldCounts counts the documents that wait in imports.
const heldCounts = `SELECT w.code, CAST(SUM(w.objects) AS BIGINT), MIN(w.since) FROM import_waits AS w JOIN imports AS i ON i.number = w.import
WHERE i.status = 'running' GROUP BY w.code ORDER BY w.code`

// PendingCounts counts the pending versions by stage and cause, and those that imports will make when
// their provider takes requests again.
func (s *versionStore) PendingCounts(ctx context.Context) ([]PendingCount, error) {
	var counts []PendingCount
	err := each(ctx, s.reader, pendingCounts, nil, func(rows *sql.Rows) error {
		var c PendingCount
		var oldest int64
		if err := rows.Scan(&c.Stage, &c.Code, &c.Count, &oldest); err != nil {
			return err
		}
		c.Oldest = fromMicros(oldest)
		counts = append(counts, c)
		return nil
	})
	if err == nil { // the documents of held imports have no rows yet
		err = each(ctx, s.reader, heldCounts, nil, func(rows *sql.Rows) error {
			c := PendingCount{Stage: knowledge.StageEmbed}
			var oldest int64
			if err := rows.Scan(&c.Code, &c.Count, &oldest); err != nil {
				return err
			}
			c.Oldest = fromMicros(oldest)
			counts = append(counts, c)
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("count pending versions: %w", failure(err))
	}
	return counts, nil
}
