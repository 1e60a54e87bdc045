package pdf_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// leastRecall is the least share of the unique words of poppler that must be in the
// text, over all files.
const leastRecall = .98

// lineEnd is a hyphen that may join the parts of a word on two lines.
var lineEnd = regexp.MustCompile(`[-\x{ad}\x{2010}]\s*\n\s*`)

// TestRecall compares the words of all files in which poppler finds text.
func TestRecall(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		skipOrFail(t, "there is nothing to compare with; install pdftotext (package poppler-utils)")
	}
	reader := newReader(t)
	files, found, all := 0, 0, 0
	for _, path := range testFiles(t) {
		out, err := exec.CommandContext(t.Context(), "pdftotext", "-q", path, "-").Output()
		if err != nil || strings.TrimSpace(string(out)) == "" {
			continue // damaged, encrypted, or without text
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		result, err := reader.Read(t.Context(), source(t, data))
		if err != nil {
			t.Logf("%s: %s", filepath.Base(path), message(err))
		}
		own := map[string]bool{}
		for _, b := range result.Layout.Blocks {
			// A hyphen at the end of a line may belong to the word.
			addWords(own, b.Text)
			addWords(own, strings.ReplaceAll(b.Text, "-", ""))
		}
		words := map[string]bool{}
		addWords(words, lineEnd.ReplaceAllString(string(out), ""))
		var missing []string
		for word := range words {
			if all++; own[word] {
				found++
			} else {
				missing = append(missing, word)
			}
		}
		if files++; len(missing) > 0 {
			t.Logf("%s lacks %d of %d words: %q", filepath.Base(path), len(missing), len(words), missing[:min(len(missing), 20)])
		}
	}
	recall := float64(found) / float64(max(all, 1))
	t.Logf("recall %.4f: %d of %d words in %d files", recall, found, all, files)
	if recall < leastRecall {
		t.Errorf("recall %.4f, want at least %.2f", recall, leastRecall)
	}
}

func addWords(words map[string]bool, text string) {
	for field := range strings.FieldsSeq(text) {
		for _, word := range strings.FieldsFunc(normal(field), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			words[word] = true
		}
	}
}
