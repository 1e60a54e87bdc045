package ocr_test

import (
	"context"
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/extract/ocr"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// standIn returns a source whose tesseract is a shell script that has the languages
// eng, deu and chi_sim, and otherwise runs the given commands.
func standIn(t *testing.T, commands string) format.Source {
	t.Helper()
	script := "if [ \"$1\" = --list-langs ]; then echo 'List of languages (3):'; echo eng; echo deu; echo chi_sim; exit; fi\n" + commands
	return format.Source{Folder: t.TempDir(), Tools: format.Tools{Tesseract: extracttest.Script(t, "tesseract", script)}}
}

// found returns a row of tesseract's table for a word of 40 by 20 pixels.
func found(block, paragraph, line, word, left, top int, sure float64, text string) string {
	return fmt.Sprintf("5\t1\t%d\t%d\t%d\t%d\t%d\t%d\t40\t20\t%g\t%s\n", block, paragraph, line, word, left, top, sure, text)
}

func read(t *testing.T, rows string) []layout.Line {
	t.Helper()
	s := standIn(t, "cat <<'END'\nlevel\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"+rows+"END\n")
	tesseract, err := ocr.New(t.Context(), s, "a picture")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := tesseract.Read(t.Context(), image.NewGray(image.Rect(0, 0, 800, 600)), 2, knowledge.PageSize{Page: 3, Width: 400, Height: 300})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func texts(lines []layout.Line) []string {
	var list []string
	for _, l := range lines {
		list = append(list, l.Text)
	}
	return list
}

func TestLinesOfAPage(t *testing.T) {
	t.Parallel()
	lines := read(t, found(1, 1, 1, 1, 100, 40, 96, "Hello,")+found(1, 1, 1, 2, 150, 40, 95, "world")+found(1, 1, 2, 1, 790, 70, 94, "edge"))
	if diff := cmp.Diff([]string{"Hello, world", "edge"}, texts(lines)); diff != "" {
		t.Fatal(diff)
	}
	if want := (knowledge.Box{X1: 50, Y1: 20, X2: 95, Y2: 30}); lines[0].Box != want || lines[0].Page != 3 {
		t.Errorf("box %v on page %d, want %v", lines[0].Box, lines[0].Page, want)
	}
	if got := lines[1].Box.X2; got != 400 {
		t.Errorf("the box ends at %g, outside of the page", got)
	}
	if lines[0].Role.Element != lines[1].Role.Element {
		t.Error("the lines of a paragraph are not one element")
	}
}

func TestWordsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, rows string
		want            []string
	}{
		{"a page of text keeps a word that tesseract is not sure of",
			found(1, 1, 1, 1, 0, 0, 95, "Multipage") + found(1, 1, 1, 2, 50, 0, 96, "example") + found(1, 1, 2, 1, 0, 30, 15, "Page"), []string{"Multipage example", "Page"}},
		{"a photograph has none but those that it is sure of",
			found(1, 1, 1, 1, 0, 0, 30, "gle") + found(1, 1, 2, 1, 0, 30, 20, "lal") + found(1, 1, 3, 1, 0, 60, 90, "STOP") + found(1, 1, 4, 1, 0, 90, 80, "|"), []string{"STOP"}},
		{"a line without letters is a drawing", found(1, 1, 1, 1, 0, 0, 95, "Text") + found(2, 1, 1, 1, 0, 30, 95, "|—"), []string{"Text"}},
		{"words of nothing are none", found(1, 1, 1, 1, 0, 0, 95, " "), nil},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, texts(read(t, tc.rows))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestItemsAreElements(t *testing.T) {
	t.Parallel()
	lines := read(t, found(1, 1, 1, 1, 0, 0, 95, "1.")+found(1, 1, 1, 2, 50, 0, 95, "one")+found(1, 1, 2, 1, 50, 30, 95, "more")+
		found(1, 1, 3, 1, 0, 60, 95, "2.")+found(1, 1, 3, 2, 50, 60, 95, "two"))
	if len(lines) != 3 || lines[0].Role.Element != lines[1].Role.Element || lines[1].Role.Element == lines[2].Role.Element {
		t.Errorf("%+v", lines)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		wanted    []string
		languages string
		missing   string
	}{
		{"English is the default", nil, "eng", ""},
		{"those that are installed are used", []string{"deu", "xyz", "eng"}, "deu+eng", ""},
		{"none installed names the package", []string{"chi_tra"}, "", "apt-get install tesseract-ocr-chi-tra"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			s := standIn(t, "")
			s.Options.Languages = tc.wanted
			tesseract, err := ocr.New(t.Context(), s, "a picture")
			switch {
			case tc.missing != "":
				if !knowledge.IsCode(err, knowledge.CodeNeedsComponent) || !strings.Contains(err.Error(), tc.missing) {
					t.Errorf("error %v, want one with %q", err, tc.missing)
				}
			case err != nil:
				t.Error(err)
			case tesseract.Languages() != tc.languages:
				t.Errorf("languages %s, want %s", tesseract.Languages(), tc.languages)
			}
		})
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	tesseract, err := ocr.New(t.Context(), standIn(t, "exec sleep 60"), "a picture")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := tesseract.Read(ctx, image.NewGray(image.Rect(0, 0, 10, 10)), 1, knowledge.PageSize{Page: 1, Width: 10, Height: 10}); err == nil {
		t.Error("no error")
	}
}
