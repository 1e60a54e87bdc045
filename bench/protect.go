package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// The protect measure.
const (
	protectRounds = 4
	protectWarmUp = 100
)

// protection is a way in which a server protects what it imports.
type protection struct {
	name string
	env  []string
	pii  string // of the project
}

// protect compares imports with encryption at rest and with the detection of personal data with the
// same import without either. In each round there is one import of each on a new server, in an
// order that turns.
func protect(ctx context.Context, b *bench) (figures []figure, err error) {
	folder, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	key := make([]byte, 32)
	_, _ = rand.Read(key) // Read never returns an error
	path := filepath.Join(folder, "master.key")
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(key)), 0o600); err != nil {
		return nil, err
	}
	kinds := []protection{{"without", nil, "off"}, {"encryption at rest", []string{"CAIRN_ENCRYPTION__KEY_FILE=" + path}, "off"}, {"pii: detect", nil, "detect"}}
	took, cpu := make([][]float64, len(kinds)), make([][]float64, len(kinds))
	for round := range protectRounds {
		for turn := range kinds {
			kind := (round + turn) % len(kinds)
			i, err := b.importProtected(ctx, kinds[kind])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kinds[kind].name, err)
			}
			took[kind], cpu[kind] = append(took[kind], i.took.Seconds()), append(cpu[kind], i.cpu)
		}
	}
	fmt.Fprintf(b.out, "%d rounds, %d objects\n\n", protectRounds, b.objects)
	for _, of := range []struct {
		name   string
		values [][]float64
	}{{"seconds", took}, {"CPU seconds", cpu}} {
		figures = append(figures, lower(of.name+" without", median(of.values[0])))
		for kind := 1; kind < len(kinds); kind++ {
			p := pair{old: of.values[0], current: of.values[kind]}
			ratio, low, high, ok := p.ratio()
			if !ok {
				return nil, fmt.Errorf("%s: no ratio", kinds[kind].name)
			}
			figures = append(figures, lower(fmt.Sprintf("%s with %s / without (95 %%: %.2f to %.2f)", of.name, kinds[kind].name, low, high), ratio).aim(1.05))
		}
	}
	return figures, nil
}

// importProtected imports into a new server.
func (b *bench) importProtected(ctx context.Context, p protection) (i imported, err error) {
	s, err := b.withBucket(ctx, nil, map[string]int{"warm/": protectWarmUp, "many/": b.objects}, p.env...)
	if err != nil {
		return i, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	privacy := map[string]any{"privacy": map[string]any{"pii": p.pii}}
	if err := s.send(ctx, http.MethodPatch, "/workspaces/default/projects/default", privacy, nil); err != nil {
		return i, err
	}
	if _, err := s.importFrom(ctx, s.objects, "warm/", protectWarmUp); err != nil {
		return i, err
	}
	if err := s.rest(ctx); err != nil {
		return i, err
	}
	return s.importFrom(ctx, s.objects, "many/", b.objects)
}
