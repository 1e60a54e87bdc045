package ingestion

import (
	"context"
	"errors"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// knownVectors finds the vectors that a document has, by the hash of their text. It is
// for one goroutine.
type knownVectors struct {
	a      *vectors
	ref    knowledge.VersionRef
	places map[string]place

	last        string // the window that was read last
	lastVectors [][]float32
}

// place is where the vector of a text is.
type place struct {
	window window
	index  int
}

// knownVectors returns the vectors that the manifests of a document name; own is the
// one that is being extended.
func (a *vectors) knownVectors(ctx context.Context, ref knowledge.VersionRef, own manifest) (*knownVectors, error) {
	k := &knownVectors{a: a, ref: ref, places: map[string]place{}}
	k.add(own)
	if ref.Version == 1 { // most documents: no other version has vectors
		return k, nil
	}
	manifests, err := a.manifests(ctx, ref.Workspace, ref.Project, ref.Document, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		k.add(m)
	}
	return k, nil
}

func (k *knownVectors) add(m manifest) {
	for _, w := range m.all() {
		for i, hash := range w.Hashes {
			k.places[hash] = place{w, i}
		}
	}
}

// fill marks a window as stored if its blob is there: of another version, or of an
// attempt that ended before it could name it. Otherwise it sets the vectors of the
// window that are known.
func (k *knownVectors) fill(ctx context.Context, p *piece) (err error) {
	if p.stored, err = k.a.Blobs.Exists(ctx, windowKey(k.ref, p.Name)); p.stored || err != nil {
		return err
	}
	for i, hash := range p.Hashes {
		if p.vectors[i], err = k.vector(ctx, hash); err != nil {
			return err
		}
	}
	return nil
}

// vector returns the vector of a text, nil if it is not known.
func (k *knownVectors) vector(ctx context.Context, hash string) ([]float32, error) {
	at, known := k.places[hash]
	if !known {
		return nil, nil
	}
	if k.last != at.window.Name {
		vectors, err := k.a.readWindow(ctx, k.ref, at.window)
		if errors.Is(err, blob.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		k.last, k.lastVectors = at.window.Name, vectors
	}
	return k.lastVectors[at.index], nil
}
