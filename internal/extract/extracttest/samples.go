package extracttest

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// EachSample runs a parallel subtest for each txtar archive in testdata, with the
// contents of its files by their names.
func EachSample(t *testing.T, check func(t *testing.T, files map[string]string)) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			check(t, files)
		})
	}
}
