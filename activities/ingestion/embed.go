package ingestion

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
)

// EmbedInput names the chunks [First, Last) of a version.
type EmbedInput struct {
	StepInput
	First int `json:"first"`
	Last  int `json:"last"`
	Count int `json:"count"` // chunks of the version
	// Waited reports that the step was held back or failed before, and has waited as it was
	// told. It goes before steps that have not waited.
	Waited bool `json:"waited,omitempty"`
	// Now sends the first batch although the provider asked for a pause.
	Now bool `json:"now,omitempty"`
}

// Embedding holds the activity that makes the vectors of chunks.
type Embedding struct {
	steps

	bounds      *bounds
	cuts        *cuts
	generations *generations
	batches     *batches
}

// EmbedChunks embeds some chunks of a version, batch by batch, and stores their
// vectors. It requests no vector that a version of the document has. As a local activity
// it fails at once with an error that IsSlow reports, if too many other documents wait
// for the model. If the provider limits requests, it fails with one that IsHeld reports.
func (a *Embedding) EmbedChunks(ctx context.Context, in EmbedInput) error {
	defer step.Heartbeat(ctx)()
	return a.step(ctx, in.StepInput, knowledge.StageEmbed, func(v store.Version) error {
		local, embedCtx := activity.GetInfo(ctx).IsLocalActivity, ctx
		turn := model.Turn{Patience: turnPatience, Waited: in.Waited, Now: in.Now}
		if local {
			turn.Patience = 0
			quick, release, ok := a.bounds.embedQuickly(ctx)
			if !ok {
				return step.ErrSlow
			}
			defer release()
			embedCtx = quick
		}
		chunks, err := a.cuts.chunks(ctx, in.VersionRef, in.First, in.Last, in.Count)
		if err != nil {
			return err
		}
		_, generations, err := a.generations.of(ctx, v.Workspace, v.Project)
		if err != nil {
			return err
		}
		for _, g := range generations {
			if _, err := a.batches.embedPart(embedCtx, g, v, in.First, chunks, turn); err != nil {
				if cause := context.Cause(embedCtx); errors.Is(cause, step.ErrSlow) {
					return cause
				}
				return err
			}
		}
		if local || in.Count <= BatchSize {
			return nil
		}
		return noteStage(ctx, a.Versions, in.VersionRef, knowledge.StageEmbed, float64(in.Last)/float64(in.Count), store.Facts{})
	})
}

// turnPatience is how long a step waits in its slot for its turn at the model. A step
// that would wait for longer fails as Held, so that other steps get the slot.
const turnPatience = 2 * time.Second

func embeddingTexts(chunks []knowledge.Chunk) []string {
	texts := make([]string, 0, len(chunks))
	for _, c := range chunks {
		texts = append(texts, chunk.EmbeddingText(c))
	}
	return texts
}
