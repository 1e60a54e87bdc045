package retrieve_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	miniLMDimensions = 384
	miniLMRecord     = 8 + 4 + miniLMDimensions // the text's hash, the scale, the numbers
)

// miniLMFile has the vectors of all-MiniLM-L6-v2 for the texts that TestStrategies embeds:
// for each the beginning of the text's SHA-256, a scale and a byte for each number. With
// -update and CAIRN_BENCH_PYTHON, a Python as docs/benchmarks.md describes, it is computed
// anew; that takes some minutes.
var miniLMFile = filepath.Join("testdata", "strategies", "minilm.vectors")

// miniLM is the vectors of a file. It asks a model for others only to update the file.
type miniLM struct {
	mu      sync.Mutex
	vectors map[[8]byte][]float32
	model   string // its URL, "" = none
}

var sharedMiniLM = sync.OnceValues(func() (*miniLM, error) {
	m := &miniLM{vectors: map[[8]byte][]float32{}}
	data, err := os.ReadFile(miniLMFile)
	if err != nil && (!*update || !errors.Is(err, os.ErrNotExist)) {
		return nil, err
	}
	for record := range slices.Chunk(data, miniLMRecord) {
		m.vectors[[8]byte(record[:8])] = decodeVector(record[8:])
	}
	return m, nil
})

func readMiniLM(t testing.TB) *miniLM {
	t.Helper()
	m, err := sharedMiniLM()
	if err != nil {
		t.Fatal(err)
	}
	if python := os.Getenv("CAIRN_BENCH_PYTHON"); *update && python != "" {
		m.startModel(t, python)
	}
	return m
}

// startModel starts the model for one test.
func (m *miniLM) startModel(t testing.TB, python string) {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), python, filepath.Join("..", "..", "bench", "minilm.py"))
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it serves until then
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.model = strings.TrimSpace(line)
}

// Embed implements textEmbedder.
func (m *miniLM) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var missing []string
	for _, text := range texts {
		if m.vectors[textKey(text)] == nil {
			missing = append(missing, text)
		}
	}
	for some := range slices.Chunk(missing, 64) {
		if m.model == "" {
			return nil, fmt.Errorf("%s lacks %d texts: run this test with -update and CAIRN_BENCH_PYTHON (docs/benchmarks.md)", miniLMFile, len(missing))
		}
		vectors, err := m.ask(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, text := range some {
			m.vectors[textKey(text)] = decodeVector(encodeVector(vectors[i])) // as it will be read
		}
		if err := m.save(); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = m.vectors[textKey(text)]
	}
	return vectors, nil
}

func (m *miniLM) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": "all-MiniLM-L6-v2", "input": texts})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.model+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Data []struct{ Embedding []float32 }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(answer.Data))
	for i, d := range answer.Data {
		vectors[i] = d.Embedding
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors, nil
}

// save writes the file. A run after an interrupted one requests the texts that it lacks.
func (m *miniLM) save() error {
	var records [][]byte
	for key, v := range m.vectors {
		records = append(records, append(key[:], encodeVector(v)...))
	}
	slices.SortFunc(records, bytes.Compare)
	return os.WriteFile(miniLMFile, slices.Concat(records...), 0o600)
}

func textKey(text string) [8]byte {
	sum := sha256.Sum256([]byte(text))
	return [8]byte(sum[:8])
}

// encodeVector stores a number as a byte: the largest of the vector is 127 scales.
func encodeVector(v []float32) []byte {
	largest := float32(0)
	for _, x := range v {
		largest = max(largest, float32(math.Abs(float64(x))))
	}
	scale := largest / 127
	data := binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale))
	for _, x := range v {
		data = append(data, byte(int8(math.Round(float64(x/scale)))))
	}
	return data
}

func decodeVector(data []byte) []float32 {
	scale := math.Float32frombits(binary.LittleEndian.Uint32(data))
	v := make([]float32, miniLMDimensions)
	for i := range v {
		v[i] = float32(int8(data[4+i])) * scale
	}
	return v
}
