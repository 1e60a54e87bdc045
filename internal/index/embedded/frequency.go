package embedded

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/words"
)

const (
	// maxFrequencies is the largest number of words whose frequencies are kept.
	maxFrequencies = 20_000
	// frequencyLife is how long they are kept. Another process may have written.
	frequencyLife = 10 * time.Second
)

// frequencies caches the number of passages in which each word occurs, until
// the next write of this process or for frequencyLife. It only decides which passages
// are ranked, so an outdated number does no harm.
type frequencies struct {
	now func() time.Time

	mu     sync.Mutex
	counts map[workspaceWord]int
	since  time.Time // of the oldest of them
}

type workspaceWord struct {
	workspace int64
	word      string
}

func (f *frequencies) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.counts)
}

// cached returns the cached frequencies of words, and the words without one.
func (f *frequencies) cached(workspace int64, terms []words.Term) (cached map[string]int, missing []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now().Sub(f.since) > frequencyLife {
		clear(f.counts)
	}
	cached = map[string]int{}
	for _, t := range terms {
		if n, ok := f.counts[workspaceWord{workspace, t.Word}]; ok {
			cached[t.Word] = n
		} else if !t.Prefix {
			missing = append(missing, t.Word)
		}
	}
	return cached, missing
}

func (f *frequencies) store(workspace int64, counted map[string]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.counts)+len(counted) > maxFrequencies {
		clear(f.counts)
	}
	if len(f.counts) == 0 {
		f.since = f.now()
	}
	for word, n := range counted {
		f.counts[workspaceWord{workspace, word}] = n
	}
}

// byFrequency splits terms into the rarest, as many as occur together in enough
// passages, and the others. A prefix counts as rare; the words that begin with
// it are not counted.
func (x *Index) byFrequency(ctx context.Context, workspace int64, terms []words.Term, enough int) (rarest, others []words.Term, err error) {
	frequency, missing := x.frequencies.cached(workspace, terms)
	if len(missing) > 0 {
		counted, err := x.count(ctx, workspace, missing)
		if err != nil {
			return nil, nil, err
		}
		x.frequencies.store(workspace, counted)
		for word, n := range counted {
			frequency[word] = n
		}
	}
	sorted := slices.Clone(terms)
	slices.SortStableFunc(sorted, func(a, b words.Term) int { return frequency[a.Word] - frequency[b.Word] })
	passages := 0
	for i, t := range sorted {
		if passages >= enough {
			return sorted[:i], sorted[i:], nil
		}
		if !t.Prefix {
			passages += frequency[t.Word]
		}
	}
	return sorted, nil, nil
}

// count reads the number of passages in which each word of list occurs from the
// full-text table.
func (x *Index) count(ctx context.Context, workspace int64, list []string) (map[string]int, error) {
	rows, err := x.statements.query(ctx, query{
		sql:  `SELECT term, doc FROM ` + vocabularyTable(workspace) + ` WHERE term IN (SELECT value FROM json_each(?))`,
		args: []any{jsonList(list)}, keep: true,
	})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counted := map[string]int{}
	for _, w := range list {
		counted[w] = 0
	}
	for rows.Next() {
		var word string
		var n int
		if err := rows.Scan(&word, &n); err != nil {
			return nil, err
		}
		counted[word] = n
	}
	return counted, rows.Err()
}
