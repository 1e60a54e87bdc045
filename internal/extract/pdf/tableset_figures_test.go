package pdf_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// readable returns which of the triples can be read from one block of a layout.
func readable(layout knowledge.Layout, wanted []triple) (found int, missing []triple) {
	type place struct{ row, value string }
	names := map[place][]string{}
	for _, b := range layout.Blocks {
		if b.Kind != knowledge.BlockTable {
			continue
		}
		names0, _, _ := strings.Cut(b.Header, "\n")
		header := cellsOf(names0)
		for line := range strings.Lines(b.Text) {
			cells := cellsOf(line)
			for i, c := range cells {
				name := ""
				if i < len(header) {
					name = header[i]
				}
				at := place{cells[0], c}
				names[at] = append(names[at], name)
			}
		}
	}
	tight := func(s string) string { return strings.Join(strings.Fields(s), "") }
	for _, w := range wanted {
		seen := false
		for _, name := range names[place{tight(w.row), tight(w.value)}] {
			seen = seen || strings.Contains(name, tight(w.column)) && strings.Contains(name, tight(w.group))
		}
		if seen {
			found++
		} else {
			missing = append(missing, w)
		}
	}
	return found, missing
}

func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " |")
	for i := range cells {
		cells[i] = strings.Join(strings.Fields(cells[i]), "")
	}
	return cells
}

func TestTableSet(t *testing.T) {
	reader := newReader(t)
	for _, producer := range []string{"chromium tagged", "chromium", "soffice"} {
		program, _, tagged := strings.Cut(producer, " ")
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("%s is not installed", program)
			continue
		}
		for n, look := range looks {
			maker := newSetMaker(uint64(n + 1 + seedShift()))
			var tables []setTable
			for i := range perLook {
				tables = append(tables, maker.table(look, i))
				if kinds[i] == "beside" {
					tables = append(tables, maker.table(look, i))
				}
			}
			data := convert(t, program, setHTML(tables, program == "chromium"), tagged)
			if dir := os.Getenv("TABLES_OUT"); dir != "" {
				os.WriteFile(filepath.Join(dir, strings.ReplaceAll(producer, " ", "-")+"-"+look+".pdf"), data, 0o600)
			}
			result, err := reader.Read(t.Context(), source(t, data))
			if err != nil {
				t.Fatal(err)
			}
			sum, all := 0, 0
			var by strings.Builder
			for _, table := range tables {
				wanted := table.triples()
				found, missing := readable(result.Layout, wanted)
				sum, all = sum+found, all+len(wanted)
				if len(missing) > 0 {
					fmt.Fprintf(&by, " %s %d/%d;", table.kind, found, len(wanted))
				}
			}
			t.Logf("%-16s %-7s %.3f %d/%d %s", producer, look, float64(sum)/float64(all), sum, all, by.String())
		}
	}
}

func TestPagesWithoutTables(t *testing.T) {
	reader := newReader(t)
	for _, producer := range []string{"chromium", "soffice"} {
		for name, page := range withoutTables() {
			data := convert(t, producer, page, false)
			if dir := os.Getenv("TABLES_OUT"); dir != "" {
				os.WriteFile(filepath.Join(dir, "no-"+producer+"-"+strings.ReplaceAll(name, " ", "-")+".pdf"), data, 0o600)
			}
			result, err := reader.Read(t.Context(), source(t, data))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, found := range tablesOf(result.Layout) {
				t.Errorf("%s, %s: %.300s", producer, name, found)
			}
		}
	}
}

func seedShift() int { n := 0; fmt.Sscan(os.Getenv("SEED"), &n); return n }
