// Package ocr recognises the text in pictures with tesseract, which runs as a program
// of its own beside the parser.
package ocr

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// defaultLanguage is the language of the text in pictures if the options name none.
const defaultLanguage = "eng"

// Tesseract recognises the text in the pictures of one file.
type Tesseract struct {
	source     format.Source
	languages  string // as tesseract takes them, "eng+deu"
	elements   int    // paragraphs so far
	unreadable []int  // pages with text that was not recognised
}

// New returns the Tesseract of a file, for the languages of its options that are
// installed. Its error is needs_component if tesseract is not installed, or none of
// the languages is. subject is the kind of the file with its article.
func New(ctx context.Context, s format.Source, subject string) (*Tesseract, error) {
	if s.Tools.Tesseract == "" {
		return nil, s.Tools.Missing(subject, "tesseract", "tesseract-ocr")
	}
	wanted := s.Options.Languages
	if len(wanted) == 0 {
		wanted = []string{defaultLanguage}
	}
	listed, err := s.Run(ctx, s.Tools.Tesseract, "--list-langs")
	if err != nil {
		return nil, fmt.Errorf("list the languages of tesseract: %w", err)
	}
	installed := strings.Fields(string(listed))
	usable := slices.DeleteFunc(slices.Clone(wanted), func(l string) bool { return !slices.Contains(installed, l) })
	if len(usable) == 0 {
		pkg := "tesseract-ocr-" + strings.ReplaceAll(wanted[0], "_", "-")
		return nil, s.Tools.Missing(subject, "tesseract's language "+wanted[0], pkg)
	}
	return &Tesseract{source: s, languages: strings.Join(usable, "+")}, nil
}

// Languages returns the languages that are recognised, as "eng+deu".
func (t *Tesseract) Languages() string { return t.languages }

// Read returns the lines of a picture that shows a page, in reading order. perPoint
// is the pixels of a point, and size the size of the page. A page that lies on its side
// or its head is turned first; its lines stand where they are on the page as it is.
func (t *Tesseract) Read(ctx context.Context, picture *image.Gray, perPoint float64, size knowledge.PageSize) ([]layout.Line, error) {
	found, err := t.recognise(ctx, picture, perPoint)
	if err != nil {
		return nil, fmt.Errorf("recognise the text of page %d: %w", size.Page, err)
	}
	best := t.turned(ctx, reading{words: found}, picture, perPoint)
	words, readable := credible(best.words)
	if !readable {
		t.unreadable = append(t.unreadable, size.Page)
	}
	return best.onPage(t.lines(words, perPoint, best.size(size)), size), nil
}

// Warn warns in a layout of the pages whose text was not recognised.
func (t *Tesseract) Warn(l *knowledge.Layout) {
	if t != nil && len(t.unreadable) > 0 {
		l.Warn(knowledge.WarnUnreadablePage, t.unreadable,
			"no words were recognised in the picture of a page that seems to show text, so text may be missing; "+
				"send a clearer scan, or name its languages with override.ocrLanguages (now %s)", t.languages)
	}
}

// recognise returns the words that tesseract finds in a picture.
func (t *Tesseract) recognise(ctx context.Context, picture *image.Gray, perPoint float64) ([]word, error) {
	table, err := t.run(ctx, picture, perPoint, "--psm", "3", "-l", t.languages, "tsv")
	return parse(table), err
}

// run runs tesseract on a picture and returns what it prints.
func (t *Tesseract) run(ctx context.Context, picture *image.Gray, perPoint float64, arguments ...string) (string, error) {
	const name = "recognise.pgm"
	path := filepath.Join(t.source.Folder, name)
	defer func() { _ = os.Remove(path) }() // the caller removes the folder too
	if err := writePGM(path, picture); err != nil {
		return "", fmt.Errorf("write the picture: %w", err)
	}
	arguments = append([]string{name, "stdout", "--dpi", strconv.Itoa(max(70, int(perPoint*72)))}, arguments...)
	out, err := t.source.Run(ctx, t.source.Tools.Tesseract, arguments...)
	return string(out), err
}

// writePGM writes a picture in the simplest format that tesseract reads.
func writePGM(path string, picture *image.Gray) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	bounds := picture.Bounds()
	_, _ = fmt.Fprintf(w, "P5\n%d %d\n255\n", bounds.Dx(), bounds.Dy()) // Flush returns the error
	for y := range bounds.Dy() {
		start := picture.PixOffset(bounds.Min.X, bounds.Min.Y+y)
		_, _ = w.Write(picture.Pix[start : start+bounds.Dx()]) // Flush returns the error
	}
	err = w.Flush()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
