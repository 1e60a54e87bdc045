package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// uncited and unasked are conditions on a chunk c that is to be deleted: no message
// cites it, and no question of its workspace is running, whose answer may cite it.
const (
	uncited = `NOT EXISTS (SELECT 1 FROM message_chunks AS m WHERE m.chunk_id = c.id)`
	unasked = `NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.status = 'running' AND r.workspace = c.workspace AND r.kind IN ('query', 'tool', 'research'))`
)

// RetireChunks deletes the chunks of versions before ref, in batches, but for
// those that a message cites: they stay, superseded. While a question of the
// workspace is running all stay, since its answer may cite what it has found of
// them; the next version takes them.
func (s *chunkStore) RetireChunks(ctx context.Context, ref knowledge.VersionRef) error {
	doing := fmt.Sprintf("retire chunks before version %d of document %s", ref.Version, ref.Document)
	return deleteChunks(ctx, s.database, doing, func(_ context.Context, _ transaction, q *bun.SelectQuery) (*bun.SelectQuery, error) {
		return q.Where("c.workspace = ? AND c.document_id = ? AND c.version < ?", ref.Workspace, ref.Document, ref.Version).
			Where(uncited).Where(unasked), nil
	})
}

// DiscardVersion deletes the chunks of a version that failed, was canceled, or was
// overtaken by a newer one before it was published, in batches. It never deletes
// chunks of a version that is published or being ingested, nor a chunk that a
// message cites; the chunks of a version that was published before stay as RetireChunks
// keeps them. Doing it again changes nothing, and so does a version that was
// removed.
func (s *chunkStore) DiscardVersion(ctx context.Context, ref knowledge.VersionRef) error {
	doing := fmt.Sprintf("discard the chunks of version %d of document %s", ref.Version, ref.Document)
	return deleteChunks(ctx, s.database, doing, func(_ context.Context, _ transaction, q *bun.SelectQuery) (*bun.SelectQuery, error) {
		return q.Where("c.workspace = ? AND c.document_id = ? AND c.version = ?", ref.Workspace, ref.Document, ref.Version).
			Where(`EXISTS (SELECT 1 FROM document_versions AS v JOIN documents AS d ON d.id = v.document_id
				WHERE v.document_id = c.document_id AND v.version = c.version AND d.published_version <> v.version
					AND (v.status = 'error' OR v.status = 'inactive' AND ` + unasked + `))`).
			Where(uncited), nil
	})
}

// deleteChunks deletes the chunks c that which asks for, a batch a transaction,
// so that other writers get their turn in between. which is called in each
// transaction, and ends the work if it returns nil.
func deleteChunks(ctx context.Context, db *database, doing string, which func(context.Context, transaction, *bun.SelectQuery) (*bun.SelectQuery, error)) error {
	for deleted := chunksPerBatch; deleted == chunksPerBatch; {
		err := db.write(ctx, doing, func(ctx context.Context, tx transaction) error {
			deleted = 0
			batch, err := which(ctx, tx, selectChunks(tx))
			if err != nil || batch == nil {
				return err
			}
			deleted, err = deleteBatch(ctx, tx, batch, chunksPerBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// selectChunks selects the ids of chunks c.
func selectChunks(tx transaction) *bun.SelectQuery {
	return tx.NewSelect().Model((*chunkRow)(nil)).Column("c.id")
}

// deleteBatch deletes at most limit of the chunks that are selected, and returns how many.
func deleteBatch(ctx context.Context, tx transaction, selected *bun.SelectQuery, limit int) (deleted int, err error) {
	result, err := tx.NewDelete().Model((*chunkRow)(nil)).Where("c.id IN (?)", selected.Limit(int64(limit))).Exec(ctx)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
