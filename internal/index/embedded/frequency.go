package embedded

import (
	"context"
	"slices"
	"sync"
)

// maxFrequencies is how many words' frequencies are remembered.
const maxFrequencies = 20_000

// frequencies remembers in how many passages words stand, until something is
// written. They only steer which passages are ranked: one that is a little old
// does no harm.
type frequencies struct {
	mu    sync.Mutex
	known map[wordOf]int
}

type wordOf struct {
	workspace int64
	word      string
}

func (f *frequencies) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.known)
}

// of gives the frequencies of words, as far as they are known.
func (f *frequencies) of(workspace int64, terms []term) (known map[string]int, unknown []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known = map[string]int{}
	for _, t := range terms {
		if n, ok := f.known[wordOf{workspace, t.word}]; ok {
			known[t.word] = n
		} else if !t.prefix {
			unknown = append(unknown, t.word)
		}
	}
	return known, unknown
}

func (f *frequencies) learn(workspace int64, counted map[string]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known)+len(counted) > maxFrequencies {
		clear(f.known)
	}
	for word, n := range counted {
		f.known[wordOf{workspace, word}] = n
	}
}

// byFrequency parts terms into the rarest, of which as many as together stand in
// enough passages, and the others. What a prefix stands for is not counted; it
// is taken to be rare.
func (x *Index) byFrequency(ctx context.Context, workspace int64, terms []term, enough int) (rarest, others []term, err error) {
	frequency, unknown := x.frequencies.of(workspace, terms)
	if len(unknown) > 0 {
		counted, err := x.count(ctx, workspace, unknown)
		if err != nil {
			return nil, nil, err
		}
		x.frequencies.learn(workspace, counted)
		for word, n := range counted {
			frequency[word] = n
		}
	}
	sorted := slices.Clone(terms)
	slices.SortStableFunc(sorted, func(a, b term) int { return frequency[a.word] - frequency[b.word] })
	passages := 0
	for i, t := range sorted {
		if passages >= enough {
			return sorted[:i], sorted[i:], nil
		}
		if !t.prefix {
			passages += frequency[t.word]
		}
	}
	return sorted, nil, nil
}

// count reads from the full-text table in how many passages words stand.
func (x *Index) count(ctx context.Context, workspace int64, words []string) (map[string]int, error) {
	rows, err := x.statements.query(ctx, query{
		sql:  `SELECT term, doc FROM ` + vocabularyTable(workspace) + ` WHERE term IN (SELECT value FROM json_each(?))`,
		args: []any{jsonList(words)}, keep: true,
	})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counted := map[string]int{}
	for _, w := range words {
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
