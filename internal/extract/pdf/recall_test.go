package pdf_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// leastRecall is the least share of the unique words of poppler that must be in the
// text of a file, as the mean over all files, and leastPrecision the least share of our
// words that poppler has. poppler does not read comments.
const (
	leastRecall    = .97
	leastPrecision = .94
)

var update = flag.Bool("update", false, "write the golden files")

// lineEnd is a hyphen that may join the parts of a word on two lines.
var lineEnd = regexp.MustCompile(`[-\x{ad}\x{2010}]\s*\n\s*`)

// TestRecall compares the words of all files in which poppler finds text. The golden
// file has the figures of each.
func TestRecall(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		skipOrFail(t, "there is nothing to compare with; install pdftotext (package poppler-utils)")
	}
	reader := newReader(t)
	var table strings.Builder
	fmt.Fprintln(&table, "file\twords of poppler\tfound\tour words\tfound by poppler\tmissing")
	files, recall, precision := 0.0, 0.0, 0.0
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
		own := newWordSet(allText(result.Layout))
		theirs := newWordSet(lineEnd.ReplaceAllString(string(out), ""))
		missing, extra := own.lacks(theirs), theirs.lacks(own)
		found, known := len(theirs.words)-len(missing), len(own.words)-len(extra)
		fmt.Fprintf(&table, "%s\t%d\t%d\t%d\t%d\t%s\n", filepath.Base(path), len(theirs.words), found, len(own.words), known, strings.Join(missing[:min(len(missing), 9)], " "))
		files++
		recall += share(found, len(theirs.words))
		precision += share(known, len(own.words))
	}
	recall, precision = recall/max(files, 1), precision/max(files, 1)
	t.Logf("mean recall %.4f and precision %.4f of %g files", recall, precision, files)
	if recall < leastRecall || precision < leastPrecision {
		t.Errorf("mean recall %.4f and precision %.4f, want at least %.2f and %.2f", recall, precision, leastRecall, leastPrecision)
	}
	golden(t, "words.tsv", table.String())
}

func share(part, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// golden compares a text with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); is it better? then run with -update:\n%s", path, diff)
	}
}

// wordSet is the unique words of a text, with all its letters in one.
type wordSet struct {
	words   []string
	known   map[string]bool
	letters string
}

func newWordSet(text string) wordSet {
	s := wordSet{known: map[string]bool{}}
	words := wordsOf(text)
	for _, word := range words {
		s.known[word], s.known[sorted(word)] = true, true
	}
	s.letters = strings.Join(words, "")
	slices.Sort(words)
	s.words = slices.Compact(words)
	return s
}

// lacks returns the words of another set that this one does not have. The spaces within
// words do not count, because the tools set them differently, nor does the order of the
// letters in a word that is written from right to left.
func (s wordSet) lacks(other wordSet) []string {
	var missing []string
	for _, word := range other.words {
		if !s.known[word] && !s.known[sorted(word)] && (len(word) < 2 || !strings.Contains(s.letters, word)) {
			missing = append(missing, word)
		}
	}
	return missing
}

// sorted returns the letters of a word that is written from right to left in a fixed
// order, and other words as they are.
func sorted(word string) string {
	letters := []rune(word)
	if !slices.ContainsFunc(letters, func(r rune) bool { return unicode.In(r, unicode.Arabic, unicode.Hebrew) }) {
		return word
	}
	slices.Sort(letters)
	return string(letters)
}

func wordsOf(text string) []string {
	var list []string
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) { // poppler writes them around what runs the other way
			return ' '
		}
		return r
	}, text)
	for field := range strings.FieldsSeq(text) {
		list = append(list, strings.FieldsFunc(normal(field), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		})...)
	}
	return list
}
