package pdf_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// strategies are how pdfplumber finds the edges of cells: by the lines of the page, or by
// the places of its words.
var strategies = []string{"lines", "text"}

// TestTableSetBesidePdfplumber compares the figures of testdata/tables.golden with those of
// pdfplumber over the same tables (testdata/pdfplumber.golden): no fewer triples can be read
// than with the better of its two strategies. With -update-tables and a Python that has
// pdfplumber in CAIRN_BENCH_PYTHON it writes the latter anew.
func TestTableSetBesidePdfplumber(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "pdfplumber.golden")
	if python := os.Getenv("CAIRN_BENCH_PYTHON"); python != "" && *updateTables {
		writePeer(t, python, path)
	}
	own, peer := shares(t, filepath.Join("testdata", "tables.golden")), shares(t, path)
	if len(peer) != len(producers)*len(looks)*len(strategies) {
		t.Fatalf("pdfplumber has %d figures", len(peer))
	}
	for _, producer := range producers {
		for _, look := range looks {
			for _, strategy := range strategies {
				if ours, theirs := own[producer+" "+look], peer[producer+", "+strategy+" "+look]; ours < theirs {
					t.Errorf("%s, %s: %.3f can be read, and with the strategy %s of pdfplumber %.3f", producer, look, ours, strategy, theirs)
				}
			}
		}
	}
}

// shares reads the shares of a golden file, by producer and look.
func shares(t *testing.T, path string) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(line, "|")
		if len(columns) < 4 {
			continue // the version
		}
		var share float64
		if _, err := fmt.Sscan(columns[3], &share); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		found[strings.TrimSpace(columns[0])+" "+strings.TrimSpace(columns[1])] = share
	}
	return found
}

// writePeer writes the figures of pdfplumber.
func writePeer(t *testing.T, python, path string) {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), python, "-c", "import pdfplumber; print(pdfplumber.__version__)").Output()
	if err != nil {
		t.Fatalf("pdfplumber: %v", err)
	}
	lines := []string{"pdfplumber | " + strings.TrimSpace(string(version))}
	for _, producer := range producers {
		for _, look := range looks {
			tables, data := printSet(t, producer, look)
			file := filepath.Join(t.TempDir(), "tables.pdf")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, strategy := range strategies {
				f := figuresOf(producer, look, tables, byPdfplumber(t, python, strategy, file))
				f.producer += ", " + strategy
				f.missing = nil
				lines = append(lines, strings.TrimSpace(f.String()))
			}
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// byPdfplumber returns the tables that pdfplumber finds. The first row is the header, and the
// second too where a cell covers others in the first. A covered cell has the text of the one
// before it in the header, and of the one above it in the first column.
func byPdfplumber(t *testing.T, python, strategy, file string) knowledge.Layout {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "tables_peer.py"), strategy, file).Output()
	if err != nil {
		t.Fatalf("pdfplumber: %v", err)
	}
	var tables [][][]*string
	if err := json.Unmarshal(out, &tables); err != nil {
		t.Fatal(err)
	}
	var layout knowledge.Layout
	for _, rows := range tables {
		if len(rows) < 2 {
			continue
		}
		head, body := headOf(rows[0]), rows[1:]
		if len(rows) > 2 && rows[0][len(rows[0])-1] == nil {
			for i, name := range rows[1] {
				head[i] += " " + *cmp.Or(name, new(string))
			}
			body = rows[2:]
		}
		var text []string
		label := ""
		for _, row := range body {
			cells := make([]string, len(row))
			for i, c := range row {
				cells[i] = *cmp.Or(c, new(string))
			}
			label = cmp.Or(cells[0], label)
			cells[0] = label
			text = append(text, "| "+strings.Join(tightAll(cells), " | ")+" |")
		}
		layout.Blocks = append(layout.Blocks, knowledge.Block{Kind: knowledge.BlockTable, Header: "| " + strings.Join(tightAll(head), " | ") + " |", Text: strings.Join(text, "\n")})
	}
	return layout
}

// headOf returns the names of a first row.
func headOf(row []*string) []string {
	names := make([]string, len(row))
	for i, c := range row {
		switch {
		case c != nil:
			names[i] = *c
		case i > 0:
			names[i] = names[i-1]
		}
	}
	return names
}

func tightAll(cells []string) []string {
	for i := range cells {
		cells[i] = tight(cells[i])
	}
	return cells
}
