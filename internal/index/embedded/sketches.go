package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// sketchCache holds the sketches of the generations that were searched. Every
// search first reads those that were written since the last one, by this process
// or another.
type sketchCache struct {
	db *statements

	mu          sync.Mutex
	generations map[generation]*sketches
	rotations   map[int]*rotation // by dimension
}

// rotation returns the rotation of vectors of a dimension.
func (c *sketchCache) rotation(dimension int) *rotation {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rotations[dimension]
	if r == nil {
		r = newRotation(dimension)
		c.rotations[dimension] = r
	}
	return r
}

// sketches are the sketches of a generation: 68 bytes for a vector of 384.
type sketches struct {
	generation
	rotation *rotation
	kept     vectorCache
	loading  sync.Mutex // held while sketches are read from the file

	mu         sync.RWMutex
	state      state                           // of the generation; removals is the number before the first was read
	read       int64                           // sketches
	partitions map[int64]map[string]*partition // by workspace and project
}

// partition holds the sketches of a project, in the order of their numbers.
type partition struct {
	numbers, entries []int64
	codes            []uint64
	factors          []float32 // 0 = the vector was removed
}

// readSketches reads the sketches of all generations, so that the first search does
// not wait for them: a million take some seconds.
func (x *Index) readSketches(ctx context.Context) error {
	rows, err := x.reader.QueryContext(ctx, `SELECT id, dimension FROM generations`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var all []generation
	for rows.Next() {
		var g generation
		if err := rows.Scan(&g.id, &g.dimension); err != nil {
			return err
		}
		all = append(all, g)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, g := range all {
		if _, _, err := x.sketches.current(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// current returns the sketches of a generation, with all that were written before
// the call, and the state of the generation before it.
func (c *sketchCache) current(ctx context.Context, g generation) (s *sketches, now state, err error) {
	q := query{`SELECT written, removals FROM generations WHERE id = ?`, []any{g.id}, true}
	if err := c.db.scan(ctx, q, &now.written, &now.removals); err != nil {
		return nil, now, fmt.Errorf("read the state of generation %d: %w", g.id, err)
	}
	s = c.of(g, now)
	s.mu.RLock()
	ready := s.state.written >= now.written
	s.mu.RUnlock()
	if ready {
		return s, now, nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	for s.state.written < now.written {
		if err := s.follow(ctx, c.db, now); err != nil {
			return nil, now, fmt.Errorf("read the sketches of generation %d: %w", g.id, err)
		}
	}
	return s, now, nil
}

// of returns the sketches of a generation as far as they were read. It begins anew
// if most of them are of removed vectors.
func (c *sketchCache) of(g generation, now state) *sketches {
	r := c.rotation(g.dimension)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.generations[g]
	if s != nil {
		s.mu.RLock()
		stale := now.removals-s.state.removals > 1000+s.read/2
		s.mu.RUnlock()
		if !stale {
			return s
		}
	}
	s = &sketches{generation: g, rotation: r, state: state{removals: now.removals}, partitions: map[int64]map[string]*partition{}}
	c.generations[g] = s
	return s
}

// sketchesAtATime is the number of sketches that are read while searches wait.
const sketchesAtATime = 4096

// follow reads the next sketches.
func (s *sketches) follow(ctx context.Context, db *statements, now state) error {
	rows, err := db.pool.QueryContext(ctx, `SELECT number, entry, workspace, project, sketch FROM `+s.sketches()+
		` WHERE number > ? AND number <= ? ORDER BY number LIMIT ?`, s.state.written, now.written, sketchesAtATime)
	if err != nil {
		return err
	}
	defer rows.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for rows.Next() {
		var number, entry, workspace int64
		var project, sketch sql.RawBytes
		if err := rows.Scan(&number, &entry, &workspace, &project, &sketch); err != nil {
			return err
		}
		if len(sketch) != 8*s.rotation.words()+4 {
			return fmt.Errorf("sketch %d has %d bytes", number, len(sketch))
		}
		s.partition(workspace, project).add(number, entry, sketch)
		s.state.written = number
		n++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	s.read += int64(n)
	if n < sketchesAtATime {
		s.state.written = now.written
	}
	return nil
}

// partition returns the partition of a project. The caller holds mu.
func (s *sketches) partition(workspace int64, project []byte) *partition {
	projects := s.partitions[workspace]
	if projects == nil {
		projects = map[string]*partition{}
		s.partitions[workspace] = projects
	}
	p := projects[string(project)]
	if p == nil {
		p = &partition{}
		projects[string(project)] = p
	}
	return p
}

func (p *partition) add(number, entry int64, sketch []byte) {
	p.numbers, p.entries = append(p.numbers, number), append(p.entries, entry)
	for ; len(sketch) > 4; sketch = sketch[8:] {
		p.codes = append(p.codes, binary.LittleEndian.Uint64(sketch))
	}
	p.factors = append(p.factors, math.Float32frombits(binary.LittleEndian.Uint32(sketch)))
}

// candidate is a vector with its estimated cosine.
type candidate struct {
	number   int64
	estimate float32
}

// nearest returns the candidates with the highest estimates, at least keep of them
// if there are so many, best first. Candidates of entries that are not allowed are
// left out, nil = all are allowed.
func (s *sketches) nearest(q *sketchQuery, workspace int64, projects []string, allowed slotSet, keep int) []candidate {
	s.mu.RLock()
	defer s.mu.RUnlock()
	best := nearestOf{keep: keep, floor: float32(math.Inf(-1))}
	if len(projects) == 0 {
		for _, p := range s.partitions[workspace] {
			best.search(p, q, s.rotation.words(), allowed)
		}
	}
	for _, project := range projects {
		if p := s.partitions[workspace][project]; p != nil {
			best.search(p, q, s.rotation.words(), allowed)
		}
	}
	best.cut()
	return best.found
}

// nearestOf collects the candidates with the highest estimates.
type nearestOf struct {
	keep  int
	floor float32 // those below are dropped
	found []candidate
}

func (n *nearestOf) search(p *partition, q *sketchQuery, words int, allowed slotSet) {
	for i, factor := range p.factors {
		if factor == 0 || allowed != nil && !allowed.has(int(p.entries[i])) {
			continue
		}
		estimate := q.estimate(p.codes[i*words:i*words+words], factor)
		if estimate < n.floor {
			continue
		}
		n.found = append(n.found, candidate{p.numbers[i], estimate})
		if len(n.found) == 2*n.keep {
			n.cut()
		}
	}
}

// cut sorts the candidates and drops those that are too many.
func (n *nearestOf) cut() {
	slices.SortFunc(n.found, func(a, b candidate) int { return cmp.Compare(b.estimate, a.estimate) })
	if len(n.found) >= n.keep {
		n.found = n.found[:n.keep]
		n.floor = n.found[n.keep-1].estimate
	}
}

// forget marks vectors that are no longer in the file.
func (s *sketches) forget(workspace int64, numbers []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.partitions[workspace] {
		for _, number := range numbers {
			if i, ok := slices.BinarySearch(p.numbers, number); ok {
				p.factors[i] = 0
			}
		}
	}
}
