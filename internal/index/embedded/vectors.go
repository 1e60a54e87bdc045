package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// maxKeptBytes is the size of all vectors of a generation up to which those that
// searches compare stay in memory. Reading one from the file takes 3 µs.
const maxKeptBytes = 32 << 20

// vectorCache holds vectors of a small generation until one of the generation is
// removed, by this process or another.
type vectorCache struct {
	mu       sync.RWMutex
	removals int64 // of the generation when the vectors were read
	vectors  map[int64]keptVector
}

// keptVector is a vector as its bytes in the file, with its entry.
type keptVector struct {
	entry int64
	bytes []byte
}

// split calls yield for each kept vector among numbers, and returns the others.
func (c *vectorCache) split(numbers []int64, removals int64, yield func(keptVector)) (others []int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.removals != removals {
		return numbers
	}
	for _, number := range numbers {
		if v, ok := c.vectors[number]; ok {
			yield(v)
		} else {
			others = append(others, number)
		}
	}
	return others
}

// keep adds vectors that were read after there had been this number of removals.
func (c *vectorCache) keep(vectors map[int64]keptVector, removals int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.removals < removals || c.vectors == nil {
		c.removals, c.vectors = removals, map[int64]keptVector{}
	}
	if c.removals == removals {
		for number, v := range vectors {
			c.vectors[number] = v
		}
	}
}

// readVectors calls yield for each of the vectors, and returns the numbers of those
// that are no longer in the file. The bytes are valid until yield returns.
func (s *statements) readVectors(ctx context.Context, g generation, numbers []int64, yield func(number int64, v keptVector)) (gone []int64, err error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	rows, err := s.query(ctx, query{`SELECT c.value, d.entry, d.vector FROM json_each(?) c LEFT JOIN ` +
		g.dense() + ` d ON d.number = c.value`, []any{jsonList(numbers)}, true})
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var entry sql.NullInt64
		var vector sql.RawBytes
		if err := rows.Scan(&number, &entry, &vector); err != nil {
			return nil, fmt.Errorf("read vectors: %w", err)
		}
		if entry.Valid {
			yield(number, keptVector{entry.Int64, vector})
		} else {
			gone = append(gone, number)
		}
	}
	return gone, rows.Err()
}

// vectors calls yield for each of the vectors, as readVectors does. removals is the
// number of removals of the generation before the search began.
func (s *sketches) vectors(ctx context.Context, db *statements, numbers []int64, removals int64, yield func(keptVector)) (gone []int64, err error) {
	s.mu.RLock()
	small := s.read*int64(4*s.dimension) <= maxKeptBytes
	s.mu.RUnlock()
	if !small {
		return db.readVectors(ctx, s.generation, numbers, func(_ int64, v keptVector) { yield(v) })
	}
	read := map[int64]keptVector{}
	gone, err = db.readVectors(ctx, s.generation, s.kept.split(numbers, removals, yield), func(number int64, v keptVector) {
		yield(v)
		read[number] = keptVector{v.entry, bytes.Clone(v.bytes)}
	})
	if err == nil && len(read) > 0 {
		s.kept.keep(read, removals)
	}
	return gone, err
}
