package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// A request to a model is counted beside its answer, in the same write, so that a step
// that runs again counts nothing twice: a request for the vectors of chunks in the manifest
// that names them, and every other one in a blob of its own. The publication, or the
// failure, of a version writes their sum to its run.

// usageFolder is the folder in a version's prefix of the requests that are not for the
// vectors of chunks.
const usageFolder = "usage/"

// spent is what a run has used for an answer of a model.
type spent struct {
	Run   string          `json:"run,omitempty"`
	Usage knowledge.Usage `json:"usage,omitzero"`
}

// of returns the usage if the run is the one that used it.
func (s spent) of(run string) knowledge.Usage {
	if s.Run != run {
		return knowledge.Usage{}
	}
	return s.Usage
}

// usageKey returns the key of the blob that counts the request for the answer under key.
func usageKey(v store.Version, key string) string {
	sum := sha256.Sum256([]byte(key))
	return blob.StepKey(v.VersionRef, usageFolder+hex.EncodeToString(sum[:16])+".json")
}

// answers stores what models answered, with the usage.
type answers struct {
	Blobs    step.Blobs
	Versions Versions
}

// putAnswer stores an answer of a model and its usage. The provider has charged for it, so a
// cancel does not discard it, unless the version is being removed.
func (a *answers) putAnswer(ctx context.Context, v store.Version, key string, data []byte, used knowledge.Usage) error {
	items := []blob.Item{{Key: key, Data: data}}
	if used != (knowledge.Usage{}) {
		count, err := json.Marshal(spent{v.RunID, used})
		if err != nil {
			return fmt.Errorf("encode usage: %w", err)
		}
		items = append(items, blob.Item{Key: usageKey(v, key), Data: count})
	}
	kept := context.WithoutCancel(ctx)
	if err := a.Blobs.PutAll(kept, items...); err != nil {
		return err
	}
	if ctx.Err() == nil || !removing(kept, a.Versions, v.VersionRef) {
		return nil
	}
	errs := []error{ctx.Err()} // the removal may have deleted the others by now
	for _, item := range items {
		errs = append(errs, a.Blobs.Delete(kept, item.Key))
	}
	return errors.Join(errs...)
}

// asksModels reports whether a version asks models for more than the vectors of its chunks.
func asksModels(v store.Version) bool {
	return v.Enrichment.Pictures || v.Enrichment.ReadsText() || v.Override.Parser == knowledge.ParserModel ||
		v.Splitter.Strategy == knowledge.SplitSemantic || extract.IsSpeech(v.MediaType)
}

// otherUsage returns what the run of a version has used beside the vectors of its chunks.
func (a *answers) otherUsage(ctx context.Context, v store.Version) (sum knowledge.Usage, err error) {
	if !asksModels(v) {
		return sum, nil
	}
	for object, err := range a.Blobs.List(ctx, blob.StepKey(v.VersionRef, usageFolder)) {
		if err != nil {
			return sum, fmt.Errorf("list the usage of a version: %w", err)
		}
		var s spent
		if err := a.Blobs.GetJSON(ctx, object.Key, &s); err != nil {
			return sum, fmt.Errorf("read the usage of a version: %w", err)
		}
		sum.Add(s.of(v.RunID))
	}
	return sum, nil
}

// usageOfFailed returns what the run of a version that failed has used, as its row stores
// it. The publication of a version has stored its usage. A failure to read it does not keep
// the run from ending.
func (a *Ending) usageOfFailed(ctx context.Context, in FinishInput) json.RawMessage {
	if in.Error == nil {
		return nil
	}
	used, err := a.usageOfVersion(ctx, in.StepInput)
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		step.Logger(a.Log, in.VersionRef, in.Run).WarnContext(ctx, "the usage of a failed ingest is not counted", "error", err)
	}
	return knowledge.RunUsage{Usage: used, Model: a.Embedder.Endpoint().Model}.Encode()
}

func (a *Ending) usageOfVersion(ctx context.Context, in StepInput) (sum knowledge.Usage, err error) {
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if err != nil || v.RunID != in.Run {
		return sum, err
	}
	if sum, err = a.answers.otherUsage(ctx, v); err != nil {
		return sum, err
	}
	manifests, err := a.vectors.manifests(ctx, v.Workspace, v.Project, v.Document, func(version int) bool { return version == v.Version })
	for _, m := range manifests {
		sum.Add(m.of(v.RunID))
	}
	return sum, err
}
