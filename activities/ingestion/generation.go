package ingestion

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// generation is a generation of vectors with the model that makes them.
type generation struct {
	Embedder

	name string
}

// generations finds the models of the generations of a project's vectors.
type generations struct {
	Versions   Versions
	Embedder   Embedder
	EmbedderOf func(generation string) (Embedder, error) // nil = Embedder makes all
}

// generation returns a generation by its name.
func (a *generations) named(name string) (generation, error) {
	if a.EmbedderOf == nil {
		return generation{a.Embedder, name}, nil
	}
	model, err := a.EmbedderOf(name)
	return generation{model, name}, err
}

// generationsOf returns the generations that the versions of a project are written in.
func (a *generations) of(ctx context.Context, workspace, project string) (knowledge.Generations, []generation, error) {
	of, err := a.Versions.ProjectGenerations(ctx, workspace, project)
	if err != nil {
		return of, nil, err
	}
	var list []generation
	for _, name := range of.Names() {
		g, err := a.named(name)
		if err != nil {
			return of, nil, err
		}
		list = append(list, g)
	}
	return of, list, nil
}

// serving returns the generation that the searches of a project read.
func (a *generations) serving(ctx context.Context, ref knowledge.VersionRef) (generation, error) {
	of, err := a.Versions.ProjectGenerations(ctx, ref.Workspace, ref.Project)
	if err != nil {
		return generation{}, err
	}
	return a.named(of.Serving)
}

// made reports whether a manifest lists a model's vectors.
func (m *manifest) made(by Embedder) bool {
	endpoint := by.Endpoint()
	return m.Model == endpoint.Model && m.Dimensions == endpoint.Dimensions
}

// manifestOf returns the manifest of a generation whose first chunk is first, an empty one
// if there is none, and its key. While a version has vectors of two generations, the manifest of
// the later one has a key of its own.
func (a *vectors) manifestOf(ctx context.Context, ref knowledge.VersionRef, g generation, first int) (key string, m manifest, err error) {
	key = manifestKey(ref, first)
	m, err = a.manifest(ctx, key)
	if err != nil || len(m.all()) == 0 || m.made(g) {
		return key, m, err
	}
	key = sideKey(key, g)
	m, err = a.manifest(ctx, key)
	return key, m, err
}

// sideKey returns the key of the manifest of a generation beside the manifest of another one.
func sideKey(key string, g generation) string {
	return besideKey(key, g.Endpoint().Model, g.Endpoint().Dimensions)
}

func besideKey(key, model string, dimensions int) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %d", model, dimensions) // a hash does not fail
	return fmt.Sprintf("%s-%016x.json", strings.TrimSuffix(key, ".json"), h.Sum64())
}

// dropGenerations deletes what a document has of other generations than keep: manifests,
// and vectors that no manifest names then.
func (a *vectors) dropGenerations(ctx context.Context, ref knowledge.VersionRef, keep []generation) error {
	prefix := blob.DocumentPrefix(ref.Workspace, ref.Project, ref.Document)
	var keys []string
	for object, err := range a.Blobs.List(ctx, prefix) {
		if err != nil {
			return fmt.Errorf("list the blobs of document %s: %w", ref.Document, err)
		}
		if folder := path.Base(path.Dir(object.Key)); folder+"/" == vectorFolder && strings.HasSuffix(object.Key, ".json") {
			keys = append(keys, object.Key)
		}
	}
	slices.Sort(keys) // a manifest stands before those beside it
	for _, key := range keys {
		if err := a.dropManifest(ctx, key, keep); err != nil {
			return err
		}
	}
	return a.dropUnnamed(ctx, ref)
}

// dropManifest deletes a manifest that no generation has any more. If one of keep has a
// manifest beside it, that one takes its place.
func (a *vectors) dropManifest(ctx context.Context, key string, keep []generation) error {
	m, err := a.manifest(ctx, key)
	if err != nil || len(m.all()) == 0 || slices.ContainsFunc(keep, func(g generation) bool { return m.made(g) }) {
		return err
	}
	for _, g := range keep {
		side := sideKey(key, g)
		beside, err := a.manifest(ctx, side)
		if err != nil {
			return err
		}
		if len(beside.all()) == 0 {
			continue
		}
		if _, err := a.Blobs.PutJSON(ctx, key, beside); err != nil {
			return fmt.Errorf("store manifest: %w", err)
		}
		return a.Blobs.Delete(ctx, side)
	}
	return a.Blobs.Delete(ctx, key)
}

// forgetGenerations removes what a document has of generations that its project no longer
// has. before are those that it was written in.
func (a *Publishing) forgetGenerations(ctx context.Context, ref knowledge.VersionRef, before knowledge.Generations) error {
	of, keep, err := a.generations.of(ctx, ref.Workspace, ref.Project)
	if err != nil {
		return err
	}
	var errs []error
	gone := false
	for _, name := range before.Names() {
		if !slices.Contains(of.Names(), name) {
			gone = true
			errs = append(errs, a.Index.RemoveGeneration(ctx, ref.Workspace, ref.Project, name))
		}
	}
	if gone {
		errs = append(errs, a.vectors.dropGenerations(ctx, ref, keep))
	}
	return errors.Join(errs...)
}
