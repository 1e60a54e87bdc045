package pdf_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/pdf"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

var updateTables = flag.Bool("update-tables", false, "write testdata/tables.golden")

// producers print the tables: the tests themselves, or a program, with or without tags.
var producers = []string{"drawn", "chromium tagged", "chromium", "soffice"}

// leastReadable is the least share of the triples that must be readable, by look.
var leastReadable = map[string]float64{"ruled": .97, "rules": .93, "shaded": .93, "none": .93}

// figures are the results of one producer and look.
type figures struct {
	producer, look string
	found, all     int
	missing        []string // the kinds of tables in which triples are missing
}

func (f figures) share() float64 { return float64(f.found) / float64(f.all) }

func (f figures) String() string {
	return fmt.Sprintf("%-15s | %-6s | %4d of %4d | %.3f | %s", f.producer, f.look, f.found, f.all, f.share(), strings.Join(f.missing, ", "))
}

// TestTableSet reads 60 tables of four looks, as the tests draw them and as Chromium and
// LibreOffice print them, and counts the triples of column, row and value that one block
// holds. testdata/tables.golden holds the figures; figures of another version of a program
// need not be the same.
func TestTableSet(t *testing.T) {
	t.Parallel()
	reader := newReader(t)
	golden := map[string][]string{}
	old, err := os.ReadFile(filepath.Join("testdata", "tables.golden"))
	if err != nil && !*updateTables {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(old)) {
		producer, _, _ := strings.Cut(line, " |")
		producer = strings.TrimSpace(producer)
		golden[producer] = append(golden[producer], strings.TrimSpace(line))
	}
	var all []string
	for _, producer := range producers {
		lines := golden[producer]
		if program, _, _ := strings.Cut(producer, " "); program == "drawn" || installed(program) {
			lines = []string{fmt.Sprintf("%-15s | %s", producer, version(t, program))}
			for _, look := range looks {
				f := measureSet(t, reader, producer, look)
				lines = append(lines, strings.TrimSpace(f.String()))
				if f.share() < leastReadable[look] {
					t.Errorf("%s, want at least %.2f", f, leastReadable[look])
				}
			}
			if old := golden[producer]; !*updateTables && (len(old) == 0 || old[0] == strings.TrimSpace(lines[0])) {
				if diff := cmp.Diff(old, lines); diff != "" {
					t.Errorf("the figures changed; are they better? then run with -update-tables (-want +got):\n%s", diff)
				}
			}
		}
		all = append(all, lines...)
	}
	if *updateTables {
		if err := os.WriteFile(filepath.Join("testdata", "tables.golden"), []byte(strings.Join(all, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// version returns the version of a program.
func version(t *testing.T, program string) string {
	t.Helper()
	if program == "drawn" {
		return "by the tests"
	}
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// printSet returns the tables of a look, and a PDF with them.
func printSet(t *testing.T, producer, look string) (tables []setTable, data []byte) {
	t.Helper()
	maker := newSetMaker(uint64(slices.Index(looks, look) + 1))
	for i := range perLook {
		tables = append(tables, maker.table(look, i))
		if kinds[i] == "beside" {
			tables = append(tables, maker.table(look, i))
		}
	}
	program, _, tagged := strings.Cut(producer, " ")
	if program == "drawn" {
		return tables, drawSet(tables)
	}
	return tables, convert(t, program, setHTML(tables, program == "chromium"), tagged)
}

// measureSet reads the tables of a look.
func measureSet(t *testing.T, reader *pdf.Reader, producer, look string) figures {
	t.Helper()
	tables, data := printSet(t, producer, look)
	result, err := reader.Read(t.Context(), source(t, data))
	if err != nil {
		t.Fatal(err)
	}
	return figuresOf(producer, look, tables, result.Layout)
}

// figuresOf counts the triples of the tables of a look that can be read from a layout.
func figuresOf(producer, look string, tables []setTable, layout knowledge.Layout) figures {
	f := figures{producer: producer, look: look}
	for _, table := range tables {
		if producer == "drawn" && table.kind == "right to left" {
			continue
		}
		wanted := table.triples()
		found := readable(layout, wanted)
		f.found, f.all = f.found+found, f.all+len(wanted)
		if found < len(wanted) {
			f.missing = append(f.missing, fmt.Sprintf("%s %d of %d", table.kind, found, len(wanted)))
		}
	}
	return f
}

func tight(s string) string { return strings.Join(strings.Fields(s), "") }

// readable returns how many of the triples can be read from one block of a layout.
func readable(layout knowledge.Layout, wanted []triple) int {
	type place struct{ row, value string }
	names := map[place][]string{}
	for _, b := range layout.Blocks {
		if b.Kind != knowledge.BlockTable {
			continue
		}
		row, _, _ := strings.Cut(b.Header, "\n")
		header := cellsOf(row)
		for line := range strings.Lines(b.Text) {
			cells := cellsOf(line)
			for i, c := range cells {
				if i < len(header) {
					at := place{cells[0], c}
					names[at] = append(names[at], header[i])
				}
			}
		}
	}
	found := 0
	for _, w := range wanted {
		for _, name := range names[place{tight(w.row), tight(w.value)}] {
			if strings.Contains(name, tight(w.column)) && strings.Contains(name, tight(w.group)) {
				found++
				break
			}
		}
	}
	return found
}

// cellsOf returns the cells of a row of a table, without spaces.
func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " |")
	for i := range cells {
		cells[i] = tight(cells[i])
	}
	return cells
}

// TestPagesWithoutTables reads pages that look a little as if they had tables.
func TestPagesWithoutTables(t *testing.T) {
	t.Parallel()
	reader := newReader(t)
	for _, program := range []string{"chromium", "soffice"} {
		t.Run(program, func(t *testing.T) {
			if !installed(program) {
				t.Skip("there is nothing that prints the pages; install " + program)
			}
			result, err := reader.Read(t.Context(), source(t, convert(t, program, withoutTables(), false)))
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range tablesOf(result.Layout) {
				t.Errorf("a table: %.300s", found)
			}
		})
	}
}
