package pdf_test

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/text/unicode/norm"
)

// The PDFs for tests, and the reason for skipping if they are missing.
const (
	files   = "../../../../shared/data/files/pdf"
	noFiles = "the PDFs for tests are missing; put the test files at ../shared/data/files beside the repository"
)

// floor is the smallest share of lines whose box must contain the words of the
// line.
const floor = .99

// TestLineBoxesHoldTheWordsOfTheirLine compares every line of every file with
// the words that poppler finds inside the box of the line. It counts the files
// in which both tools find text and logs the others. Comments are not printed, so
// there is nothing to compare them with.
func TestLineBoxesHoldTheWordsOfTheirLine(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		skipOrFail(t, "there is nothing to compare with; install pdftotext (package poppler-utils)")
	}
	paths := testFiles(t)
	reader := newReader(t)
	total, right := 0, 0
	for _, path := range paths {
		name := filepath.Base(path)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		result, err := reader.Read(t.Context(), source(t, data))
		if err != nil {
			t.Logf("%s: not counted, pdfium finds no text: %v", name, message(err))
			continue
		}
		pages, err := popplerWords(path)
		if err != nil || len(pages) == 0 {
			t.Logf("%s: not counted, poppler finds no text: %v", name, err)
			continue
		}
		n, good := compare(t, name, result.Layout, pages)
		total, right = total+n, right+good
		if good < n {
			t.Logf("%s: %d of %d lines", name, good, n)
		}
	}
	share := float64(right) / float64(total)
	t.Logf("line boxes right: %d of %d lines, %.4f", right, total, share)
	if share < floor {
		t.Errorf("line boxes right for %.4f of the lines, want at least %.2f", share, floor)
	}
}

// compare counts the lines of a layout and those whose box contains their
// words.
func compare(t *testing.T, name string, layout knowledge.Layout, pages map[int][]word) (total, right int) {
	t.Helper()
	sizes := map[int]knowledge.PageSize{}
	for _, p := range layout.Pages {
		sizes[p.Page] = p
	}
	for _, b := range layout.Blocks {
		runes := []rune(b.Text)
		for _, l := range b.Lines {
			size := sizes[l.Page]
			if l.Box.X1 < 0 || l.Box.Y1 < 0 || l.Box.X2 > size.Width || l.Box.Y2 > size.Height {
				t.Errorf("%s page %d: box %v is outside of %v x %v", name, l.Page, l.Box, size.Width, size.Height)
			}
			ours := strings.Fields(normal(asPrinted(runes, l)))
			theirs := inside(pages[l.Page], l.Box)
			if len(theirs) == 0 && !printed(pages[l.Page], ours) {
				t.Logf("%s page %d: not counted, it is not printed on the page: %q", name, l.Page, ours)
				continue
			}
			total++
			if holds(theirs, ours) {
				right++
			} else if testing.Verbose() {
				t.Logf("%s page %d: in %.1f: %q, poppler has %q", name, l.Page, l.Box, ours, theirs)
			}
		}
	}
	return total, right
}

type word struct {
	text string
	x, y float64 // its middle
}

var (
	pageTag = regexp.MustCompile(`<page width=`)
	wordTag = regexp.MustCompile(`<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>`)
)

// popplerWords returns the words of each page that has any.
func popplerWords(path string) (map[int][]word, error) {
	out, err := exec.Command("pdftotext", "-q", "-cropbox", "-bbox", path, "-").Output()
	if err != nil {
		return nil, fmt.Errorf("pdftotext: %w", err)
	}
	pages, page := map[int][]word{}, 0
	for line := range strings.Lines(string(out)) {
		if pageTag.MatchString(line) {
			page++
		}
		m := wordTag.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var at [4]float64
		for i := range at {
			if at[i], err = strconv.ParseFloat(m[i+1], 64); err != nil {
				return nil, err
			}
		}
		pages[page] = append(pages[page], word{html.UnescapeString(m[5]), (at[0] + at[2]) / 2, (at[1] + at[3]) / 2})
	}
	return pages, nil
}

func inside(words []word, b knowledge.Box) []string {
	var found []string
	for _, w := range words {
		if w.x >= b.X1 && w.x <= b.X2 && w.y >= b.Y1 && w.y <= b.Y2 {
			found = append(found, strings.Fields(normal(w.text))...)
		}
	}
	return found
}

// printed reports whether all words of a line stand on a page. The words of a
// comment do not.
func printed(page []word, line []string) bool {
	words := map[string]bool{}
	for _, w := range page {
		words[normal(w.text)] = true
	}
	return !slices.ContainsFunc(line, func(w string) bool { return !words[w] })
}

// asPrinted returns a line as it is printed on its page.
func asPrinted(text []rune, l knowledge.Line) string {
	s := string(text[l.Start:l.End])
	if l.Hyphen {
		s += "-"
	}
	return s
}

// normal makes the spellings of the two tools comparable: it normalises
// compatibility forms and case, and drops accents without a letter and characters
// that are not drawn.
func normal(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Sk) || unicode.IsControl(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(s))
}

// holds reports whether the words in a box are the words of a line: at least nine in
// ten letters of the line are in words that the box has, and it has few others.
// The spaces do not count, because the tools set them differently.
func holds(box, line []string) bool {
	found := strings.Join(box, "")
	held, all := 0, 0
	for _, w := range line {
		n := utf8.RuneCountInString(w)
		if all += n; strings.Contains(found, w) || slices.ContainsFunc(box, func(b string) bool { return sameLetters(b, w) }) {
			held += n
		}
	}
	return float64(held) >= .9*float64(all) && float64(utf8.RuneCountInString(found)) <= 1.2*float64(all)+1
}

// sameLetters reports whether two words of a script that is written from right to
// left have the same letters. poppler returns them from left to right, but not
// the letters of a ligature.
func sameLetters(a, b string) bool {
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return unicode.In(x[len(x)-1], unicode.Arabic, unicode.Hebrew) && slices.Equal(x, y)
}

func testFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(files, "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		skipOrFail(t, noFiles)
	}
	return paths
}

// skipOrFail skips a test for lack of something, or fails it in CI.
func skipOrFail(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

func message(err error) string {
	if e, ok := errors.AsType[*knowledge.Error](err); ok {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return err.Error()
}
