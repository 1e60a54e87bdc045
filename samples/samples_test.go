package samples_test

import (
	"encoding/csv"
	"io/fs"
	"os"
	"regexp"
	"strings"
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

// TestExamplesNameOneDocument looks at the commands of the pages that name a sample: the
// sample exists, and an upload gives it the external id that `cairn ingest
// samples/documents` gives it. A file of /v1/files is no document.
func TestExamplesNameOneDocument(t *testing.T) {
	t.Parallel()
	documents, err := samples.Documents()
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(@?)samples/documents/([\w.-]*\w)(.*)`)
	found := 0
	for _, file := range []string{"../README.md", "../docs/deploy.md", "../docs/runbook.md", "../api/examples.go", "../api/home.html"} {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(page), -1) {
			found++
			if _, err := fs.Stat(documents, m[2]); err != nil {
				t.Errorf("%s names %s: %v", file, m[0], err)
			}
			isDocument := m[1] == "@" && !strings.Contains(m[3], "purpose=assistants")
			if isDocument && !strings.Contains(m[3], "externalId="+m[2]) {
				t.Errorf("%s uploads %s as another document than cairn ingest does", file, m[0])
			}
		}
	}
	if found < 2 {
		t.Errorf("%d examples name a sample", found)
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
