package activities

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// EmbedInput names the chunks [First, Last) of a version.
type EmbedInput struct {
	StepInput
	First int `json:"first"`
	Last  int `json:"last"`
	Count int `json:"count"` // chunks of the version
}

// EmbedChunks embeds some chunks of a version, batch by batch, and stores the
// vectors under a hash of the model and the texts. It requests no batch that is
// stored. As a local activity it fails at once with an error that IsSlow reports, if
// too many other documents wait for the model.
func (a *Ingestion) EmbedChunks(ctx context.Context, in EmbedInput) error {
	defer heartbeat(ctx)()
	return a.step(ctx, in.StepInput, knowledge.StageEmbed, func(v store.Version) error {
		local, embedCtx := activity.GetInfo(ctx).IsLocalActivity, ctx
		if local {
			quick, release, ok := a.limits().embedQuickly(ctx)
			if !ok {
				return errSlow
			}
			defer release()
			embedCtx = quick
		}
		chunks, err := a.chunks(ctx, in.VersionRef, in.First, in.Last, in.Count)
		if err != nil {
			return err
		}
		for len(chunks) > 0 {
			n := min(BatchSize, len(chunks))
			if _, err := a.batchKey(embedCtx, in.VersionRef, embeddingTexts(v, chunks[:n])); err != nil {
				if cause := context.Cause(embedCtx); errors.Is(cause, errSlow) {
					return cause
				}
				return err
			}
			chunks = chunks[n:]
		}
		if local || in.Count <= BatchSize {
			return nil
		}
		return a.noteStage(ctx, in.VersionRef, knowledge.StageEmbed, float64(in.Last)/float64(in.Count), store.Facts{})
	})
}

func embeddingTexts(v store.Version, chunks []knowledge.Chunk) []string {
	texts := make([]string, 0, len(chunks))
	for _, c := range chunks {
		texts = append(texts, chunk.EmbeddingText(c, v.Name))
	}
	return texts
}

// batchKey returns the key of the blob that holds the vectors of a batch. If there
// is no such blob, it requests the vectors from the model and stores them.
func (a *Ingestion) batchKey(ctx context.Context, ref knowledge.VersionRef, texts []string) (key string, err error) {
	endpoint := a.Embedder.Endpoint()
	key = blob.StepKey(ref, "embeddings/"+batchHash(endpoint.Model, endpoint.Dimensions, texts))
	if stored, err := a.Blobs.Exists(ctx, key); err != nil || stored {
		return key, err
	}
	start := time.Now()
	vectors, usage, err := a.Embedder.Embed(ctx, texts)
	a.Metrics.ModelCall(endpoint.Provider, "embedding", outcome(err), time.Since(start).Seconds(), usage.PromptTokens, 0)
	if err != nil {
		return "", err
	}
	// The provider has charged for the result, so a cancel does not discard it.
	kept := context.WithoutCancel(ctx)
	if _, err := a.Blobs.Put(kept, key, encodeVectors(vectors)); err != nil {
		return "", fmt.Errorf("store vectors: %w", err)
	}
	if ctx.Err() != nil && a.removing(kept, ref) { // a removal may have deleted the others by now
		return "", errors.Join(ctx.Err(), a.Blobs.Delete(kept, key))
	}
	return key, nil
}

// vectors returns the vectors of a batch, one for each text. It requests them again
// only if the model, its dimensions or the texts changed since the batch was
// embedded: all vectors of a version are then of the new model.
func (a *Ingestion) vectors(ctx context.Context, ref knowledge.VersionRef, texts []string) ([][]float32, error) {
	key, err := a.batchKey(ctx, ref, texts)
	if err != nil {
		return nil, err
	}
	data, err := a.Blobs.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	vectors, err := decodeVectors(data)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%d vectors for %d chunks", len(vectors), len(texts))
	}
	return vectors, err
}

func batchHash(model string, dimensions int, texts []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %d", model, dimensions, len(texts))
	for _, t := range texts {
		fmt.Fprintf(h, " %d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// encodeVectors encodes vectors of equal length: the length as uint32, then float32
// values, all little endian.
func encodeVectors(vectors [][]float32) []byte {
	if len(vectors) == 0 {
		return nil
	}
	out := make([]byte, 0, 4+4*len(vectors)*len(vectors[0]))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(vectors[0])))
	for _, v := range vectors {
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out
}

// decodeVectors decodes the output of encodeVectors.
func decodeVectors(data []byte) ([][]float32, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("vectors: %d bytes", len(data))
	}
	dimensions := int(binary.LittleEndian.Uint32(data))
	data = data[4:]
	if dimensions == 0 || len(data)%(4*dimensions) != 0 {
		return nil, fmt.Errorf("vectors: %d bytes in %d dimensions", len(data), dimensions)
	}
	vectors := make([][]float32, 0, len(data)/(4*dimensions))
	for len(data) > 0 {
		v := make([]float32, dimensions)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		vectors, data = append(vectors, v), data[4*dimensions:]
	}
	return vectors, nil
}

func outcome(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
