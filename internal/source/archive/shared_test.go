package archive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestSharedArchives reads archives that other programs wrote.
func TestSharedArchives(t *testing.T) {
	t.Parallel()
	const folder = "../../../../shared/data/files/archive"
	paths, err := filepath.Glob(filepath.Join(folder, "*.zip"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		const reason = "the archives for tests are missing; put the test files at ../shared/data/files beside the repository"
		if os.Getenv("CI") != "" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, data)
		objects, _ := sourcetest.All(t, func() source.Source { return s })
		if len(objects) == 0 {
			t.Errorf("%s has no files", path)
		}
		for _, o := range objects {
			if got := outcome(t, s, o); strings.HasPrefix(got, "! ") {
				t.Errorf("%s: %s: %s", path, o.Key, got)
			}
			isChinese := strings.ContainsFunc(o.Key, func(r rune) bool { return unicode.Is(unicode.Han, r) })
			if isChinese != strings.HasSuffix(path, "gbk.zip") {
				t.Errorf("%s: got name %q", path, o.Key)
			}
			t.Log(o.Key)
		}
	}
}
