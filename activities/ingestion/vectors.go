package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// The vectors of a document are cached under its prefix, for as long as one of its
// versions names them. A chunk has one entry, named by a hash of the model, its
// dimensions and the text. The entries of up to BatchSize consecutive chunks share a
// blob, their window: a blob for each entry would cost as much as embedding it where
// the store charges for each write. A window is named by the hashes of its entries,
// so versions that have the same run of chunks share the window.

// window is a run of consecutive chunks whose vectors are one blob.
type window struct {
	Name   string   `json:"name"`   // hash of Hashes
	Hashes []string `json:"hashes"` // of each chunk's model, dimensions and text
}

func newWindow(hashes []string) window {
	sum := sha256.Sum256([]byte(strings.Join(hashes, " ")))
	return window{Name: hex.EncodeToString(sum[:16]), Hashes: hashes}
}

// vectorHash names the vector of a text.
func vectorHash(endpoint model.Endpoint, text string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s", endpoint.Model, endpoint.Dimensions, text)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// vectorFolder is the folder of the windows in a document's prefix, and of the
// manifests in a version's.
const vectorFolder = "vectors/"

func windowKey(ref knowledge.VersionRef, name string) string {
	return blob.DocumentPrefix(ref.Workspace, ref.Project, ref.Document) + vectorFolder + name
}

// manifest names the vectors of some consecutive chunks of a version. Together the
// manifests of a version name the vectors of all its chunks, so an index can be filled
// again from them and the chunks.
type manifest struct {
	Model      string   `json:"model"`
	Dimensions int      `json:"dimensions"`
	Windows    []window `json:"windows"`          // in the order of the chunks
	Others     []window `json:"others,omitempty"` // of an earlier attempt, until all chunks have vectors
	spent
}

// manifestKey returns the key of the manifest whose first chunk is first.
func manifestKey(ref knowledge.VersionRef, first int) string {
	return blob.StepKey(ref, fmt.Sprintf(vectorFolder+"%07d.json", first))
}

// all returns the windows that the manifest names.
func (m *manifest) all() []window { return slices.Concat(m.Windows, m.Others) }

// vectors reads and deletes the vectors of documents.
type vectors struct{ Blobs step.Blobs }

// manifest returns the manifest under a key, an empty one if there is none.
func (a *vectors) manifest(ctx context.Context, key string) (m manifest, err error) {
	if err := a.Blobs.GetJSON(ctx, key, &m); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return m, fmt.Errorf("read manifest: %w", err)
	}
	return m, nil
}

// chunksIn returns how many chunks have a vector in windows.
func chunksIn(windows []window) int {
	n := 0
	for _, w := range windows {
		n += len(w.Hashes)
	}
	return n
}

// present returns how many of the first windows have their blob.
func (a *vectors) present(ctx context.Context, ref knowledge.VersionRef, windows []window) (int, error) {
	for i, w := range windows {
		if there, err := a.Blobs.Exists(ctx, windowKey(ref, w.Name)); err != nil || !there {
			return i, err
		}
	}
	return len(windows), nil
}

// readWindow returns the vectors of a window.
func (a *vectors) readWindow(ctx context.Context, ref knowledge.VersionRef, w window) ([][]float32, error) {
	data, err := a.Blobs.Get(ctx, windowKey(ref, w.Name))
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	vectors, err := decodeVectors(data)
	if err == nil && len(vectors) != len(w.Hashes) {
		err = fmt.Errorf("%d vectors for %d chunks", len(vectors), len(w.Hashes))
	}
	return vectors, err
}

// manifests returns the manifests of those versions of a document for which living
// returns true.
func (a *vectors) manifests(ctx context.Context, workspace, project, document string, living func(version int) bool) ([]manifest, error) {
	prefix := blob.DocumentPrefix(workspace, project, document)
	var keys []string
	for object, err := range a.Blobs.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list the blobs of document %s: %w", document, err)
		}
		folder, rest, _ := strings.Cut(strings.TrimPrefix(object.Key, prefix), "/")
		version, err := strconv.Atoi(folder)
		if err == nil && strings.HasPrefix(rest, vectorFolder) && living(version) {
			keys = append(keys, object.Key)
		}
	}
	slices.Sort(keys)
	found := make([]manifest, 0, len(keys))
	for _, key := range keys {
		m, err := a.manifest(ctx, key)
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}

// namedWindows returns the keys of the windows that the manifests of living versions
// name.
func (a *vectors) namedWindows(ctx context.Context, ref knowledge.VersionRef, living func(version int) bool) (map[string]bool, error) {
	manifests, err := a.manifests(ctx, ref.Workspace, ref.Project, ref.Document, living)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, m := range manifests {
		for _, w := range m.all() {
			named[windowKey(ref, w.Name)] = true
		}
	}
	return named, nil
}

// dropUnnamed deletes the windows of a document that no manifest names.
func (a *vectors) dropUnnamed(ctx context.Context, ref knowledge.VersionRef) error {
	named, err := a.namedWindows(ctx, ref, func(int) bool { return true })
	if err != nil {
		return err
	}
	_, err = a.Blobs.DeletePrefix(ctx, windowKey(ref, ""), func(key string, _ time.Time) bool { return named[key] })
	return err
}

// encodeVectors encodes one or more vectors of equal length: the length as uint32, then
// float32 values, all little endian.
func encodeVectors(vectors [][]float32) ([]byte, error) {
	dimensions := len(vectors[0])
	out := make([]byte, 0, 4+4*len(vectors)*dimensions)
	out = binary.LittleEndian.AppendUint32(out, uint32(dimensions))
	for _, v := range vectors {
		if len(v) != dimensions {
			return nil, fmt.Errorf("vectors of %d and %d dimensions of one model", dimensions, len(v))
		}
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out, nil
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
