package ingestion

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of what one call of FillGenerations writes: documents, and chunks unless one
// document has more.
const (
	fillDocuments = 64
	fillChunks    = BatchSize * BatchesPerStep
)

// BeginGenerationInput begins a reindex. Rebuild means that the present generations are to
// be written again.
type BeginGenerationInput struct {
	knowledge.RunRef
	Rebuild bool `json:"rebuild,omitempty"`
}

// GenerationPlan is what a reindex does to the generations of a project.
type GenerationPlan struct {
	Write  []string `json:"write,omitempty"`  // to be filled
	Switch string   `json:"switch,omitempty"` // that searches read then; "" = they read the same as before
	Drop   []string `json:"drop,omitempty"`   // that nothing reads then
}

// Filling holds the activities of ReindexProject that fill generations of vectors.
type Filling struct {
	Versions    Versions
	Reindexes   Reindexes
	Index       Index
	Attributes  *Attributes
	Log         *slog.Logger
	vectors     *vectors
	generations *generations
	batches     *batches
}

// BeginGeneration returns what a reindex has to do so that a project's vectors are of the generation of
// its configuration. New versions are written in the new generation from then on. It asks
// the new model for one vector first, so that nothing begins with a model that cannot be
// asked.
func (a *Filling) BeginGeneration(ctx context.Context, in BeginGenerationInput) (GenerationPlan, error) {
	defer step.Heartbeat(ctx)()
	plan, err := a.beginGeneration(ctx, in)
	return plan, a.failReindex(ctx, in.RunRef, err)
}

func (a *Filling) failReindex(ctx context.Context, run knowledge.RunRef, err error) error {
	if err == nil {
		return nil
	}
	return step.Failure(ctx, a.Log.With("workspace", run.Workspace, "project", run.Project, "run", run.Run), err)
}

func (a *Filling) beginGeneration(ctx context.Context, in BeginGenerationInput) (plan GenerationPlan, err error) {
	project, err := a.Reindexes.ProjectForSystem(ctx, in.Workspace, in.Project)
	if err != nil {
		return plan, err
	}
	of, err := a.Versions.ProjectGenerations(ctx, in.Workspace, in.Project)
	if err != nil || in.Rebuild {
		return GenerationPlan{Write: of.Names()}, err
	}
	wanted := a.Reindexes.WantedGeneration(project.Config)
	if of.Filling != "" && of.Filling != wanted { // a reindex that was lost
		plan.Drop = append(plan.Drop, of.Filling)
	}
	if of.Serving == wanted {
		return plan, nil
	}
	g, err := a.generations.named(wanted)
	if err != nil {
		return plan, err
	}
	if _, _, err := a.batches.request(ctx, g, []string{project.Name}, model.Turn{Patience: importPatience}); err != nil {
		return plan, fmt.Errorf("ask the new embedding model: %w", err)
	}
	if _, err := a.Reindexes.BeginFilling(ctx, in.Workspace, in.Project, wanted); err != nil {
		return plan, err
	}
	return GenerationPlan{Write: []string{wanted}, Switch: wanted, Drop: append(plan.Drop, of.Serving)}, nil
}

// FillInput names the next documents of a project, those that follow After by their id.
type FillInput struct {
	knowledge.RunRef
	Generations []string `json:"generations"`
	After       string   `json:"after,omitempty"`
}

// FillResult is what was written. After is "" after the last documents.
type FillResult struct {
	After     string `json:"after,omitempty"`
	Documents int    `json:"documents"`
	// Usage is what the run has used for the vectors of these documents.
	Usage knowledge.Usage `json:"usage,omitzero"`
}

// FillGenerations writes index entries of some published documents, from their chunks in
// SQL and their stored vectors. It embeds chunks that have no vector of a generation.
func (a *Filling) FillGenerations(ctx context.Context, in FillInput) (FillResult, error) {
	defer step.Heartbeat(ctx)()
	result, err := a.fillGenerations(ctx, in)
	return result, a.failReindex(ctx, in.RunRef, err)
}

func (a *Filling) fillGenerations(ctx context.Context, in FillInput) (result FillResult, err error) {
	list, err := a.Reindexes.PublishedVersions(ctx, in.Workspace, in.Project, in.After, fillDocuments)
	if err != nil {
		return result, err
	}
	taken, chunks := 0, 0
	for taken < len(list) && (taken == 0 || chunks+list[taken].Chunks <= fillChunks) {
		chunks += list[taken].Chunks
		taken++
	}
	if taken < len(list) || len(list) == fillDocuments {
		result.After = list[taken-1].Document
	}
	list = list[:taken]
	for _, name := range in.Generations {
		g, err := a.generations.named(name)
		if err != nil {
			return result, err
		}
		if err := a.embedTogether(ctx, g, in.Run, list); err != nil {
			return result, err
		}
		for _, p := range list {
			used, err := a.fill(ctx, g, in.Run, p)
			if err != nil {
				return result, fmt.Errorf("fill %s with document %s: %w", name, p.Document, err)
			}
			result.Usage.Add(used)
		}
	}
	result.Documents = taken
	return result, nil
}

// embedTogether embeds documents without vectors of a generation by as few requests as
// possible, if together they have up to fillChunks chunks. The usage is added to a run's.
func (a *Filling) embedTogether(ctx context.Context, g generation, run string, list []store.PublishedVersion) error {
	var all []*piece
	for _, p := range list {
		if p.Chunks > fillChunks {
			continue
		}
		_, m, err := a.vectors.manifestOf(ctx, p.VersionRef, g, 0)
		if err != nil {
			return err
		}
		if len(m.all()) > 0 {
			continue
		}
		chunks, err := a.Reindexes.ChunksForSystem(ctx, p.VersionRef, 0, p.Chunks)
		if err != nil {
			return err
		}
		v, err := a.Versions.Version(ctx, p.VersionRef)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		v.RunID = run
		_, pieces, err := a.batches.plan(ctx, g, v, 0, chunks)
		if err != nil {
			return err
		}
		all = append(all, pieces...)
	}
	return a.batches.embedPieces(ctx, g, all, model.Turn{Patience: importPatience})
}

// fill writes the index entries of a document in a generation. If its attributes change
// meanwhile, the index gets the newest; if readers do not see the version any more, its
// entries are removed. It returns what the run has used for the vectors.
func (a *Filling) fill(ctx context.Context, g generation, run string, p store.PublishedVersion) (used knowledge.Usage, err error) {
	v, err := a.Versions.Version(ctx, p.VersionRef)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return used, nil
	}
	if err != nil {
		return used, err
	}
	v.RunID = run
	if used, err = a.fillVersion(ctx, g, v, p.Chunks); err != nil {
		return used, err
	}
	return used, a.followAttributes(ctx, v)
}

// followAttributes brings the attributes of a version that change into its index entries.
// If readers do not see the version any more, it removes the entries.
func (a *Filling) followAttributes(ctx context.Context, v store.Version) error {
	for {
		now, err := a.Versions.Version(ctx, v.VersionRef)
		gone := knowledge.IsCode(err, knowledge.CodeNotFound)
		switch {
		case err != nil && !gone:
			return err
		case gone || now.Removing || now.Status != knowledge.StatusPublished:
			return a.Index.RemoveVersion(ctx, v.Workspace, v.Document, v.Version)
		case reflect.DeepEqual(attributesOf(now), attributesOf(v)):
			return nil
		}
		if err := a.Attributes.Index.SetAttributes(ctx, v.Workspace, v.Document, v.Version, attributesOf(now)); err != nil {
			return err
		}
		v = now
	}
}

func attributesOf(v store.Version) index.Attributes {
	return index.Attributes{Tags: v.Tags, ACL: v.ACL, Classification: v.Classification, Metadata: v.Metadata}
}

func (a *Filling) fillVersion(ctx context.Context, g generation, v store.Version, count int) (knowledge.Usage, error) {
	read := func(first, last int) ([]knowledge.Chunk, error) {
		return a.Reindexes.ChunksForSystem(ctx, v.VersionRef, first, last)
	}
	windows, used, err := a.batches.versionWindows(ctx, g, v, count, read)
	if err != nil {
		return used, err
	}
	reader := &vectorReader{a: a.vectors, ref: v.VersionRef, generation: g.name, windows: windows}
	for first := 0; first < count; first += fillChunks {
		chunks, err := read(first, min(first+fillChunks, count))
		if err == nil {
			err = writeIndex(ctx, a.Index, v, chunks, []*vectorReader{reader})
		}
		if err != nil {
			return used, err
		}
	}
	return used, nil
}

// SwitchInput names a generation of a project.
type SwitchInput struct {
	knowledge.RunRef
	Generation string `json:"generation,omitempty"` // for DropGeneration "" = the one that is being filled
}

// SwitchGeneration switches the searches of a project to a generation that was filled. It
// is a local activity.
func (a *Filling) SwitchGeneration(ctx context.Context, in SwitchInput) error {
	switched, err := a.Reindexes.SwitchGeneration(ctx, in.Workspace, in.Project, in.Generation)
	if err == nil && switched {
		a.Log.InfoContext(ctx, "a project reads another generation of vectors", "workspace", in.Workspace, "project", in.Project, "generation", in.Generation)
	}
	return a.failReindex(ctx, in.RunRef, err)
}

// DropInput names a generation, and the document after which its vectors are to be dropped.
type DropInput struct {
	SwitchInput
	After string `json:"after,omitempty"`
}

// DropGeneration removes a generation that no search of the project reads: first its
// entries in the index, then, some documents at a time, its vectors. It returns the After
// of the next call, "" after the last one.
func (a *Filling) DropGeneration(ctx context.Context, in DropInput) (after string, err error) {
	defer step.Heartbeat(ctx)()
	after, err = a.dropGeneration(ctx, in)
	return after, a.failReindex(ctx, in.RunRef, err)
}

func (a *Filling) dropGeneration(ctx context.Context, in DropInput) (string, error) {
	if in.After == "" {
		if done, err := a.dropFromIndex(ctx, in.SwitchInput); done || err != nil {
			return "", err
		}
	}
	_, keep, err := a.generations.of(ctx, in.Workspace, in.Project)
	if err != nil {
		return "", err
	}
	list, err := a.Reindexes.PublishedVersions(ctx, in.Workspace, in.Project, in.After, 4*fillDocuments)
	if err != nil {
		return "", err
	}
	for _, p := range list {
		if err := a.vectors.dropGenerations(ctx, p.VersionRef, keep); err != nil {
			return "", err
		}
	}
	if len(list) < 4*fillDocuments {
		return "", nil
	}
	return list[len(list)-1].Document, nil
}

// dropFromIndex removes the entries of a generation. done is true if there is nothing to
// drop, also because searches read the generation again.
func (a *Filling) dropFromIndex(ctx context.Context, in SwitchInput) (done bool, err error) {
	of, err := a.Versions.ProjectGenerations(ctx, in.Workspace, in.Project)
	if err != nil {
		return false, err
	}
	name := cmp.Or(in.Generation, of.Filling)
	if name == of.Serving || name == "" {
		return true, nil
	}
	if err := a.Reindexes.EndFilling(ctx, in.Workspace, in.Project, name); err != nil {
		return false, err
	}
	if err := a.Index.RemoveGeneration(ctx, in.Workspace, in.Project, name); err != nil {
		return false, fmt.Errorf("remove generation %s from the index: %w", name, err)
	}
	return false, nil
}
