package activities

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// EmbedInput names a batch of a version's chunks, [First, Last).
type EmbedInput struct {
	StepInput
	First int `json:"first"`
	Last  int `json:"last"`
	Count int `json:"count"` // chunks of the version
}

// EmbedResult names the stored vectors.
type EmbedResult struct {
	Key string `json:"key"`
}

// EmbedChunks makes the vectors of one batch. A batch that was stored, under a
// key made of the model and the texts, is never asked for again.
func (a *Ingestion) EmbedChunks(ctx context.Context, in EmbedInput) (EmbedResult, error) {
	defer heartbeat(ctx)()
	var result EmbedResult
	err := a.step(ctx, in.StepInput, knowledge.StageEmbed, func(v store.Version) error {
		chunks, err := a.batch(ctx, in)
		if err != nil {
			return err
		}
		texts := make([]string, 0, len(chunks))
		for _, c := range chunks {
			texts = append(texts, chunk.EmbeddingText(c, v.Name))
		}
		if result.Key, err = a.embed(ctx, in.VersionRef, texts); err != nil || in.Last%partChunks != 0 {
			return err
		}
		return a.onItsWay(ctx, in.VersionRef, knowledge.StageEmbed, float64(in.Last)/float64(in.Count))
	})
	return result, err
}

func (a *Ingestion) embed(ctx context.Context, ref knowledge.VersionRef, texts []string) (key string, err error) {
	endpoint := a.Embedder.Endpoint()
	key = blob.StepKey(ref, "embeddings/"+batchHash(endpoint.Model, endpoint.Dimensions, texts))
	if there, err := a.Blobs.Exists(ctx, key); err != nil || there {
		return key, err
	}
	start := time.Now()
	vectors, usage, err := a.Embedder.Embed(ctx, texts)
	a.Metrics.ModelCall(endpoint.Provider, "embedding", outcome(err), time.Since(start).Seconds(), usage.PromptTokens, 0)
	if err != nil {
		return "", err
	}
	// The result is paid for: it is kept even if somebody cancels just now.
	if _, err := a.Blobs.Put(context.WithoutCancel(ctx), key, encodeVectors(vectors)); err != nil {
		return "", fmt.Errorf("store vectors: %w", err)
	}
	return key, nil
}

func batchHash(model string, dimensions int, texts []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %d", model, dimensions, len(texts))
	for _, t := range texts {
		fmt.Fprintf(h, " %d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// encodeVectors writes vectors of equal length: the length, then float32 values,
// all little endian.
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

// decodeVectors reads what encodeVectors wrote.
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
