package samples_test

import (
	"encoding/csv"
	"io/fs"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/samples"
	"github.com/google/go-cmp/cmp"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	documents, err := samples.Documents()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(documents, ".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		content, err := fs.ReadFile(documents, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(content) {
			t.Errorf("%s is not UTF-8", e.Name())
		}
	}
	want := []string{"calibrations.csv", "handbook.md", "hx4-service-manual.pdf", "warranty.html"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestCalibrationsAreATable(t *testing.T) {
	t.Parallel()
	documents, err := samples.Documents()
	if err != nil {
		t.Fatal(err)
	}
	file, err := documents.Open("calibrations.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll() // ReadAll fails for rows of other lengths
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 25 {
		t.Errorf("%d rows, want a few dozen", len(rows))
	}
}
