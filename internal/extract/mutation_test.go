package extract_test

import (
	"archive/zip"
	"bytes"
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// mutationTime is how long TestMutations tries each format, unless
// CAIRN_MUTATION_SECONDS says otherwise, and mutationSize the largest file that it takes.
const (
	mutationTime = 500 * time.Millisecond
	mutationSize = 2 << 20
)

// TestMutations damages the shared files of each format at random. However a file is
// damaged, its reader must not fail: the file ends as text or with an error that is the
// document's. A failure names the seed, with which CAIRN_MUTATION_SEED repeats it.
func TestMutations(t *testing.T) {
	t.Parallel()
	seconds, seed := mutationTime, rand.Uint64()
	if n, err := strconv.Atoi(os.Getenv("CAIRN_MUTATION_SECONDS")); err == nil {
		seconds = time.Duration(n) * time.Second
	}
	if n, err := strconv.ParseUint(os.Getenv("CAIRN_MUTATION_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("CAIRN_MUTATION_SEED=%d", seed)
	files := filesByFormat(t)
	for _, label := range slices.Sorted(maps.Keys(files)) {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			if tried := mutate(t, files[label], seed, seconds); tried > 0 {
				t.Logf("%d damaged files", tried)
			}
		})
	}
}

// filesByFormat returns the shared files by the format that they are read in.
func filesByFormat(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for _, path := range allFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > mutationSize {
			continue
		}
		kind, err := extract.Sniff(filepath.Base(path), "", data[:min(len(data), extract.HeadBytes)])
		if err != nil {
			continue
		}
		if f, ok := extract.FormatOf(kind); ok && f.IsRead() && !extract.IsSpeech(kind) {
			files[f.Label] = append(files[f.Label], path)
		}
	}
	return files
}

// mutate reads damaged files for a time, and returns how many. It leaves out those whose
// reader is another program.
func mutate(t *testing.T, paths []string, seed uint64, long time.Duration) (tried int) {
	t.Helper()
	faults := &faultLog{}
	pool, _ := newPool(t, extract.PoolConfig{
		Size: 1, Timeout: 20 * time.Second, Logger: slog.New(faults), Tools: format.Tools{Tesseract: format.FindTools().Tesseract},
	})
	paths = slices.DeleteFunc(paths, func(path string) bool {
		_, err := pool.Extract(t.Context(), extract.Input{Name: filepath.Base(path), Path: path, Folder: t.TempDir()})
		return knowledge.IsCode(err, knowledge.CodeNeedsComponent)
	})
	if len(paths) == 0 {
		return 0 // another program reads them
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for end := time.Now().Add(long); time.Now().Before(end); tried++ {
		path := paths[random.IntN(len(paths))]
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := write(t, "upload", damage(random, data))
		_, err = pool.Extract(t.Context(), extract.Input{Name: filepath.Base(path), Path: damaged, Folder: t.TempDir()})
		if stack := faults.take(); stack != "" || knowledge.IsCode(err, knowledge.CodeInternal) {
			kept := filepath.Join(t.ArtifactDir(), filepath.Base(path))
			_ = os.Rename(damaged, kept) // for whoever looks at the failure
			t.Fatalf("the reader failed for %s, damaged file %d, with seed %d: %v\n%s", filepath.Base(path), tried, seed, err, stack)
		}
	}
	return tried
}

// faultLog keeps what the pool logs about faults of readers.
type faultLog struct {
	slog.Handler
	mu    sync.Mutex
	stack string
}

func (f *faultLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (f *faultLog) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stack += r.Message + "\n"
	r.Attrs(func(a slog.Attr) bool {
		f.stack += a.String() + "\n"
		return true
	})
	return nil
}

func (f *faultLog) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *faultLog) WithGroup(string) slog.Handler      { return f }

// take returns the faults since the last call, "" for none.
func (f *faultLog) take() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	stack := f.stack
	f.stack = ""
	return stack
}

// damage changes a file in a few places. Of a zip it changes a file inside, because the
// checksum of a damaged one would end the reading early.
func damage(random *rand.Rand, data []byte) []byte {
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) && random.IntN(10) > 0 {
		if inside := damageInside(random, data); inside != nil {
			return inside
		}
	}
	for range 1 + random.IntN(4) {
		data = damageOnce(random, data)
	}
	return data
}

// damageInside damages a file of a zip. It returns nil if the zip cannot be read.
func damageInside(random *rand.Rand, data []byte) []byte {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(archive.File) == 0 {
		return nil
	}
	chosen := random.IntN(len(archive.File))
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			return nil
		}
		var content bytes.Buffer
		if _, err := content.ReadFrom(in); err != nil {
			return nil
		}
		inside := content.Bytes()
		if i == chosen {
			for range 1 + random.IntN(6) {
				inside = damageOnce(random, inside)
			}
		}
		to, err := w.Create(f.Name)
		if err != nil {
			return nil
		}
		_, _ = to.Write(inside) // a buffer takes everything
	}
	if w.Close() != nil {
		return nil
	}
	return out.Bytes()
}

// number is a number in the text of a file, and extremes what damage puts in its place.
var (
	number   = regexp.MustCompile(`-?\d+`)
	extremes = []string{"0", "-1", "1", "65536", "2147483648", "-9223372036854775808", "99999999999999999999", "1e308", "#", ""}
)

// damageOnce changes a file in one place.
func damageOnce(random *rand.Rand, data []byte) []byte {
	if len(data) < 4 {
		return append(slices.Clone(data), byte(random.IntN(256)))
	}
	at := random.IntN(len(data))
	part := min(len(data)-at, 1+random.IntN(1<<(1+random.IntN(10))))
	switch random.IntN(7) {
	case 0: // other bytes
		changed := slices.Clone(data)
		for i := range min(part, 16) {
			changed[at+i] = byte(random.IntN(256))
		}
		return changed
	case 1: // a part is missing
		return slices.Concat(data[:at], data[at+part:])
	case 2: // a part comes twice
		return slices.Concat(data[:at+part], data[at:])
	case 3: // a part stands elsewhere
		to := random.IntN(len(data))
		return slices.Concat(data[:to], data[at:at+part], data[to:])
	case 4: // the end is missing
		return slices.Clone(data[:at])
	default: // another number
		found := number.FindIndex(data[at:])
		if found == nil {
			return slices.Concat(data[:at], data[at+part:])
		}
		return slices.Concat(data[:at+found[0]], []byte(extremes[random.IntN(len(extremes))]), data[at+found[1]:])
	}
}
