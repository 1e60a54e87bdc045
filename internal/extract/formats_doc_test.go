package extract_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
)

// formatsPage describes the formats that are read, each in a row of a table whose
// first cell has their labels, and whose last one how many shared files become text.
const formatsPage = "../../docs/formats.md"

// counts counts the shared files of each format, and those that become text.
type counts struct {
	mu        sync.Mutex
	read, all map[string]int // by label
}

func (c *counts) add(path string, isRead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.read, c.all = map[string]int{}, map[string]int{}
	}
	f, _ := extract.FormatOf(typeOfShared(path))
	c.all[labelOf(f)]++
	if isRead {
		c.read[labelOf(f)]++
	}
}

// labelOf returns the name of a format in the first cell of its row.
func labelOf(f extract.Format) string {
	if f.Label == "" {
		return strings.TrimPrefix(f.Name, "a ")
	}
	return f.Label
}

// compare fails if the page states other counts. Recordings, which a model reads, are
// not counted here.
func (c *counts) compare(t *testing.T) {
	t.Helper()
	for labels, stated := range formatRows(t) {
		read, all, known := 0, 0, false
		for label := range strings.SplitSeq(labels, ", ") {
			read, all = read+c.read[label], all+c.all[label]
			known = known || isParsed(label)
		}
		if got := fmt.Sprintf("%d of %d", read, all); known && got != stated {
			t.Errorf("%s: %s files become text, and docs/formats.md says %q", labels, got, stated)
		}
	}
}

func isParsed(label string) bool {
	for _, f := range extract.Formats() {
		if labelOf(f) == label && f.IsRead() && !f.IsSpeech {
			return true
		}
	}
	return false
}

// formatRows returns the last cells of the first table of the page, by the first ones.
func formatRows(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile(formatsPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	_, table, _ := strings.Cut(string(page), "\n|---|")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if strings.TrimSpace(line) == "" {
			break
		}
		if first := strings.TrimSpace(cells[0]); first != "---" {
			rows[first] = strings.TrimSpace(cells[len(cells)-1])
		}
	}
	return rows
}

// TestEveryFormatIsDescribed checks that each format that is read has a row.
func TestEveryFormatIsDescribed(t *testing.T) {
	t.Parallel()
	described := map[string]bool{}
	for labels := range formatRows(t) {
		for label := range strings.SplitSeq(labels, ", ") {
			described[label] = true
		}
	}
	for _, f := range extract.Formats() {
		if f.IsRead() && !described[labelOf(f)] {
			t.Errorf("docs/formats.md has no row for %s (%s)", labelOf(f), f.MediaType)
		}
	}
}
