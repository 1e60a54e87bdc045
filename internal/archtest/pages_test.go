package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinksOfPagesLead checks that each link from README.md and docs to a file of the
// repository names a file that exists, and a heading that the page has.
func TestLinksOfPagesLead(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for page, text := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			linked, err := os.ReadFile(filepath.Join(root, path))
			switch {
			case err != nil:
				t.Errorf("%s links to %s: %v", page, match[1], err)
			case heading != "" && !hasHeading(string(linked), heading):
				t.Errorf("%s links to %s, and %s has no such heading", page, match[1], path)
			}
		}
	}
}

// TestIndexNamesEveryPage checks that docs/README.md links to every file of docs.
func TestIndexNamesEveryPage(t *testing.T) {
	t.Parallel()
	index := pages(t)[filepath.Join("docs", "README.md")]
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.*"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files in docs, %v", len(files), err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
}

// TestReadmeNamesEveryFolder checks that the table of README.md has every folder of the
// repository and of internal.
func TestReadmeNamesEveryFolder(t *testing.T) {
	t.Parallel()
	readme := pages(t)["README.md"]
	_, table, found := strings.Cut(readme, "\n## Folders\n")
	table, _, _ = strings.Cut(table, "\n## ")
	if !found {
		t.Fatal("README.md has no section Folders")
	}
	for _, pattern := range []string{"*", "internal/*"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pattern, "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no folders, %v", err)
		}
		missing := map[string]bool{}
		for _, file := range files {
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../")
			missing[folder] = !strings.HasPrefix(folder, ".") && !strings.Contains(table, "`"+folder+"`")
		}
		for _, folder := range []string{"internal", "bin", "dist", "cairn-data"} { // the first has a row for each folder in it, the others are ignored by git
			delete(missing, folder)
		}
		for folder, missing := range missing {
			if missing {
				t.Errorf("the table of folders in README.md lacks %s", folder)
			}
		}
	}
}

// pages returns the text of README.md and of the pages in docs, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

// hasHeading reports whether a page has the heading of an anchor, as GitHub makes it.
func hasHeading(page, anchor string) bool {
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(page) {
		if text := strings.TrimLeft(line, "#"); text != line {
			text = dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(text)), "")
			if strings.ReplaceAll(text, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}
