package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// chunksPerBatch bounds how many chunks one transaction writes or deletes, so that
// a long document does not hold up every other writer.
const chunksPerBatch = 256

// PutChunks makes chunks the chunks of a version that is being ingested, in place
// of what it had. Readers see none of them before the version is published. Each
// part of 256 chunks has a transaction of its own, and other writers get their
// turn in between. PutChunks writes nothing for a version that has ended or is
// being removed; one that was removed is not found. Repeating it has the same
// result.
func (s *chunkStore) PutChunks(ctx context.Context, ref knowledge.VersionRef, chunks []knowledge.Chunk) error {
	for first := 0; first < len(chunks); first += chunksPerBatch {
		if err := s.PutChunksPart(ctx, ref, first, chunks[first:min(first+chunksPerBatch, len(chunks))]); err != nil {
			return err
		}
	}
	return s.TrimChunks(ctx, ref, len(chunks))
}

// PutChunksPart writes the chunks [first, first+len(chunks)) of a version, in
// place of what it had there, in one transaction. For the rest it is PutChunks.
func (s *chunkStore) PutChunksPart(ctx context.Context, ref knowledge.VersionRef, first int, chunks []knowledge.Chunk) error {
	rows, err := newChunkRows(ref, first, chunks)
	if err != nil {
		return err
	}
	doing := fmt.Sprintf("write chunks from %d of version %d of document %s", first, ref.Version, ref.Document)
	return s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		open, err := openForChunks(ctx, tx, ref)
		if err != nil || !open {
			return err
		}
		return replaceChunks(ctx, tx, ref, first, first+len(rows), rows)
	})
}

// TrimChunks deletes the chunks of a version that stand behind its first count
// ones, as an earlier try may have left them, in batches. For the rest it is
// PutChunks.
func (s *chunkStore) TrimChunks(ctx context.Context, ref knowledge.VersionRef, count int) error {
	doing := fmt.Sprintf("delete chunks from %d of version %d of document %s", count, ref.Version, ref.Document)
	return deleteChunks(ctx, s.database, doing, func(ctx context.Context, tx transaction, q *bun.SelectQuery) (*bun.SelectQuery, error) {
		open, err := openForChunks(ctx, tx, ref)
		if err != nil || !open {
			return nil, err
		}
		return q.Where("c.document_id = ? AND c.version = ? AND c.ordinal >= ?", ref.Document, ref.Version, count), nil
	})
}

// openForChunks reports whether a version is being ingested; not found if it was
// removed.
func openForChunks(ctx context.Context, tx transaction, ref knowledge.VersionRef) (bool, error) {
	var v versionRow
	err := loadVersion(ctx, tx, ref, &v)
	return err == nil && v.Status == string(knowledge.StatusPending) && v.Version > v.RemovingUpto, err
}

// newChunkRows encodes chunks, the first of which has the ordinal first.
func newChunkRows(ref knowledge.VersionRef, first int, chunks []knowledge.Chunk) ([]chunkRow, error) {
	rows := make([]chunkRow, 0, len(chunks))
	for i, c := range chunks {
		if c.Ordinal != first+i {
			return nil, fmt.Errorf("chunk %s has the ordinal %d, want %d", c.ID, c.Ordinal, first+i)
		}
		row, err := newChunkRow(ref, c)
		if err != nil {
			return nil, fmt.Errorf("encode chunk %s: %w", c.ID, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// replaceChunks writes rows in place of the chunks [first, last) of a version.
func replaceChunks(ctx context.Context, tx transaction, ref knowledge.VersionRef, first, last int, rows []chunkRow) error {
	_, err := tx.exec(ctx, "DELETE FROM chunks WHERE document_id = ? AND version = ? AND ordinal >= ? AND ordinal < ?", ref.Document, ref.Version, first, last)
	for i := range rows {
		if err == nil {
			err = chunkTable.insert(ctx, tx, &rows[i])
		}
	}
	return err
}
