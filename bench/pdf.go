package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/process"
)

// readers is how many processes read PDFs at the same time.
const readers = 2

// pdf measures how fast text with boxes is read from PDFs, beside pypdf and PyMuPDF
// on the same files, and how many lines have the right box.
func pdf(ctx context.Context, b *bench) (figures []figure, err error) {
	folder, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	reports, err := b.writeReports(folder, 8, 50)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(b.data, "files", "pdf", "*.pdf"))
	if err != nil {
		return nil, err
	}
	for _, set := range []struct {
		name  string
		files []string
		times int
	}{{"reports", reports, 1}, {"real files", files, 3}} {
		if len(set.files) == 0 {
			return nil, fmt.Errorf("the PDFs for tests are missing in %s", b.data)
		}
		found, err := b.compareReaders(ctx, set.name, set.files, set.times)
		if err != nil {
			return nil, err
		}
		figures = append(figures, found...)
	}
	boxes, err := lineBoxes(ctx)
	return append(figures, boxes), err
}

// compareReaders measures Cairn and the other readers on the files that Cairn reads,
// each of which is read so many times.
func (b *bench) compareReaders(ctx context.Context, set string, files []string, times int) ([]figure, error) {
	own, readable, err := b.extraction(ctx, files, times)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(b.out, "%s: %d files of %d pages, read %d times\n\n", set, len(readable), own.pages/times, times)
	figures := append(own.figures("Cairn", set), higher("pages/s, Cairn, "+set, own.rate()).aim(300))
	for _, library := range []string{"pypdf", "pymupdf"} {
		peer, err := readWith(ctx, library, slices.Repeat(readable, times))
		if errors.Is(err, errNoPeer) {
			fmt.Fprintf(b.out, "%v\n\n", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		name := library + " " + peer.version
		figures = append(figures, peer.figures(name, set)...)
		figures = append(figures, higher("pages/s, "+name+", "+set, peer.rate()))
		ratio := higher("pages/s, Cairn / "+library+", "+set, own.rate()/peer.rate())
		if library == "pypdf" {
			ratio = ratio.aim(5)
		}
		figures = append(figures, ratio)
	}
	return figures, nil
}

// readingSpeed is how fast PDFs were read.
type readingSpeed struct {
	version string
	pages   int
	failed  int     // files
	took    float64 // seconds
	cpu     float64 // seconds of all processes
}

func (r readingSpeed) rate() float64 { return float64(r.pages) / r.took }

func (r readingSpeed) figures(reader, set string) []figure {
	figures := []figure{lower("CPU ms a page, "+reader+", "+set, r.cpu*1000/float64(r.pages))}
	if r.failed > 0 {
		figures = append(figures, lower("files that "+reader+" fails to read, "+set, float64(r.failed)))
	}
	return figures
}

// extraction reads files in parsers of the binary, each so many times, after every
// file was read once. It also returns the files that can be read without the
// recognition of text in pictures.
func (b *bench) extraction(ctx context.Context, files []string, times int) (speed readingSpeed, readable []string, err error) {
	program, err := filepath.Abs(b.binary)
	if err != nil {
		return speed, nil, err
	}
	cache, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return speed, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	pool, err := extract.NewPool(extract.PoolConfig{Command: []string{program, "parse"}, Size: readers, CacheDir: cache, DocumentsPerChild: 1 << 30})
	if err != nil {
		return speed, nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	read := func(ctx context.Context, path string) (int, error) {
		result, err := pool.Extract(ctx, extract.Input{Name: filepath.Base(path), Path: path})
		return len(result.Layout.Pages), err
	}
	can := make([]bool, len(files))
	if _, err := load(ctx, readers, len(files), func(ctx context.Context, i int) error {
		_, failed := read(ctx, files[i])
		can[i] = failed == nil
		return ctx.Err()
	}); err != nil {
		return speed, nil, err
	}
	for i, path := range files {
		if can[i] {
			readable = append(readable, path)
		}
	}
	if len(readable) == 0 {
		return speed, nil, fmt.Errorf("%s reads none of %d files", program, len(files))
	}
	before, pages := parserSeconds(), atomic.Int64{}
	took, err := load(ctx, readers, times*len(readable), func(ctx context.Context, i int) error {
		n, err := read(ctx, readable[i%len(readable)])
		pages.Add(int64(n))
		return err
	})
	return readingSpeed{pages: int(pages.Load()), took: took.Seconds(), cpu: parserSeconds() - before}, readable, err
}

// parserSeconds returns the processor seconds of this process's children, and of what they
// started: a parser is a child of its sandbox.
func parserSeconds() float64 {
	total := 0.0
	for _, pid := range process.Children(os.Getpid()) {
		used, _ := process.TreeCPU(pid) // 0 if it has ended
		total += used.Seconds()
	}
	return total
}

var boxLine = regexp.MustCompile(`line boxes right: (\d+) of (\d+) lines`)

// lineBoxes runs the test that compares line boxes with the words that poppler finds
// in them.
func lineBoxes(ctx context.Context) (figure, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "TestLineBoxesHoldTheWordsOfTheirLine", "./internal/extract/pdf")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	m := boxLine.FindSubmatch(out)
	if m == nil {
		return figure{}, fmt.Errorf("count the lines with the right box: %w: %s", err, out[max(0, len(out)-1000):])
	}
	right, _ := strconv.Atoi(string(m[1])) // it is digits
	all, _ := strconv.Atoi(string(m[2]))
	return higher(fmt.Sprintf("lines of the real files with the right box, of %d", all), float64(right)/float64(all)).aim(.99), nil
}
