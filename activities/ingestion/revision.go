package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// EmbeddingAddresses is the part of the store that knows which endpoint makes the vectors
// of a generation.
type EmbeddingAddresses interface {
	// EmbeddingAddress returns the address of a generation's endpoint, "" = none is recorded.
	EmbeddingAddress(ctx context.Context, generation string) (string, error)
	// MoveEmbeddings records another address if the recorded one is still was, and returns
	// the recorded one.
	MoveEmbeddings(ctx context.Context, generation, was, address string) (recorded string, err error)
	// UseGeneration makes a generation the one that is wanted for its model and dimensions.
	UseGeneration(ctx context.Context, generation string) error
	// PublishedIn lists some published versions of projects that read a generation.
	PublishedIn(ctx context.Context, generation string, limit int) ([]store.PublishedVersion, error)
}

// Revisions decides which generation the vectors of an endpoint belong to. Two endpoints
// can serve different models under one name. So an endpoint at another address than the
// recorded one embeds some published chunks first, and their vectors are compared with the
// stored ones. Equal vectors are made by the same model, for example behind a proxy: the
// address is recorded. Others begin the next revision of the generation. It is safe for
// concurrent use.
type Revisions struct {
	Addresses EmbeddingAddresses
	// Samples returns texts of published versions that were embedded in a generation, and
	// their vectors.
	Samples func(ctx context.Context, generation string, of []store.PublishedVersion) (texts []string, vectors [][]float32, err error)
	// Address returns the address of the endpoint of a generation's model.
	Address func(base string) string
	// Embed asks this endpoint.
	Embed func(ctx context.Context, base string, texts []string) ([][]float32, error)
	Log   *slog.Logger

	decided sync.Map   // base generation -> its revision that the endpoint makes
	mu      sync.Mutex // of undecided
	waiting map[string]*undecided
}

// undecided is a generation whose endpoint was not compared yet.
type undecided struct {
	turn   chan struct{} // holds an element while one caller compares
	err    error         // of the last comparison
	failed time.Time
}

// compareAgain is how long the error of a comparison is returned before the endpoint is
// asked again.
const compareAgain = 2 * time.Second

// Revision returns the generation that an endpoint's vectors of a model and dimensions
// belong to. Its error is the error of the endpoint, or of the store. After the first success it
// asks neither.
func (r *Revisions) Revision(ctx context.Context, generation string) (string, error) {
	base := knowledge.BaseGeneration(generation)
	if decided, ok := r.decided.Load(base); ok {
		return decided.(string), nil
	}
	u := r.undecided(base)
	select {
	case u.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-u.turn }()
	if decided, ok := r.decided.Load(base); ok {
		return decided.(string), nil
	}
	if time.Since(u.failed) < compareAgain {
		return "", u.err
	}
	decided, err := r.decide(ctx, base)
	if err == nil {
		err = r.Addresses.UseGeneration(ctx, decided)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			u.err, u.failed = err, time.Now()
		}
		return "", err
	}
	r.decided.Store(base, decided)
	delete(r.waiting, base)
	return decided, nil
}

func (r *Revisions) undecided(base string) *undecided {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = map[string]*undecided{}
	}
	u := r.waiting[base]
	if u == nil {
		u = &undecided{turn: make(chan struct{}, 1)}
		r.waiting[base] = u
	}
	return u
}

// Undecided returns the generations whose endpoint could not be compared yet, with the error.
func (r *Revisions) Undecided() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := map[string]error{}
	for base, u := range r.waiting {
		if u.err != nil {
			list[base] = u.err
		}
	}
	return list
}

// Check returns an error unless the endpoint makes vectors of a generation. One that makes
// others is CodeConflict, which is retryable: the documents can be embedded again.
func (r *Revisions) Check(ctx context.Context, generation string) error {
	decided, err := r.Revision(ctx, generation)
	if err != nil || decided == generation {
		return err
	}
	other := knowledge.Errorf(knowledge.CodeConflict,
		"the embedding endpoint makes other vectors than %s did; embed the documents again with cairn documents reingest --all --stale, or name the earlier endpoint in models.embedding",
		generation)
	other.Retryable = true // after that command
	return other
}

// recorded is a revision with the address of its endpoint.
type recorded struct{ generation, address string }

// revisions returns the revisions of a generation in their order.
func (r *Revisions) revisions(ctx context.Context, base string) ([]recorded, error) {
	var list []recorded
	for n := 1; ; n++ {
		one := recorded{generation: knowledge.RevisedGeneration(base, n)}
		var err error
		if one.address, err = r.Addresses.EmbeddingAddress(ctx, one.generation); err != nil || one.address == "" {
			return list, err
		}
		list = append(list, one)
	}
}

// decide finds or records the revision of the endpoint. Another process may record one at
// the same time: then it begins again.
func (r *Revisions) decide(ctx context.Context, base string) (string, error) {
	address := r.Address(base)
	for {
		all, err := r.revisions(ctx, base)
		if err != nil {
			return "", err
		}
		found, err := r.match(ctx, base, address, all)
		if err != nil {
			return "", err
		}
		now, err := r.Addresses.MoveEmbeddings(ctx, found.generation, found.address, address)
		if err != nil {
			return "", err
		}
		if now == address {
			if found.address != address && len(all) > 0 {
				r.Log.WarnContext(ctx, "the embedding endpoint has another address than before", "generation", base, "address", address, "before", all[len(all)-1].address, "vectors_of", found.generation)
			}
			return found.generation, nil
		}
	}
}

// match returns the revision whose vectors the endpoint makes, a new one if it makes others.
func (r *Revisions) match(ctx context.Context, base, address string, all []recorded) (recorded, error) {
	for n := len(all) - 1; n >= 0; n-- {
		if all[n].address == address {
			return all[n], nil
		}
	}
	compared := false
	for n := len(all) - 1; n >= 0; n-- {
		list, err := r.Addresses.PublishedIn(ctx, all[n].generation, sampledVersions)
		if err != nil {
			return recorded{}, err
		}
		texts, vectors, err := r.Samples(ctx, all[n].generation, list)
		if err != nil {
			return recorded{}, err
		}
		if len(texts) == 0 {
			continue
		}
		compared = true
		now, err := r.Embed(ctx, base, texts)
		if err != nil {
			return recorded{}, fmt.Errorf("compare the vectors of %s, which has another address than before: %w", base, err)
		}
		if near(vectors, now) {
			return all[n], nil
		}
	}
	if n := len(all); n > 0 && !compared { // no document has vectors that could be others
		return all[n-1], nil
	}
	return recorded{generation: knowledge.RevisedGeneration(base, len(all)+1)}, nil
}

// leastCosine is the cosine above which two vectors of a text are of one model. Servers of
// one model differ by the precision of their numbers.
const leastCosine = 0.98

// near reports whether all vectors point where the others do.
func near(a, b [][]float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) || cosine(a[i], b[i]) < leastCosine {
			return false
		}
	}
	return true
}

// cosine returns the cosine of two vectors of one length, 1 for two zero vectors.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		if aa == bb {
			return 1
		}
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
