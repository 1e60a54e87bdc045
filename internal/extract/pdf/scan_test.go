package pdf_test

import (
	"fmt"
	"image"
	_ "image/png" // to decode figures
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const noTesseract = "pictures of text cannot be read; install tesseract (package tesseract-ocr)"

// pictureOf returns an image object that shows a text in large letters.
func pictureOf(text string) string {
	small := image.NewGray(image.Rect(0, 0, 200, 40))
	draw.Draw(small, small.Bounds(), image.White, image.Point{}, draw.Src)
	d := font.Drawer{Dst: small, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(10, 25)}
	d.DrawString(text)
	large := image.NewGray(image.Rect(0, 0, 1000, 200))
	draw.ApproxBiLinear.Scale(large, large.Bounds(), small, small.Bounds(), draw.Src, nil)
	return fmt.Sprintf("<< /Type /XObject /Subtype /Image /Width 1000 /Height 200 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length %d >>\nstream\n%s\nendstream",
		len(large.Pix), large.Pix)
}

// pictures returns a PDF whose pages show text and the picture of a text: content
// streams that may draw /I.
func pictures(picture string, streams ...string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", helvetica, pictureOf(picture)}
	var kids []string
	for _, s := range streams {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		objects = append(objects, fmt.Sprintf(
			"<< /Type /Page /Parent 2 0 R %s /Contents %d 0 R /Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >> >>", a4, n+1), stream(s))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	return build("", objects...)
}

// show returns the content stream that shows the picture in a rectangle.
func show(x, y, width, height float64) string {
	return fmt.Sprintf("q %g 0 0 %g %g %g cm /I Do Q\n", width, height, x, y)
}

func withTesseract(t *testing.T, data []byte) format.Source {
	t.Helper()
	s := source(t, data)
	if s.Tools.Tesseract = format.FindTools().Tesseract; s.Tools.Tesseract == "" {
		skipOrFail(t, noTesseract)
	}
	return s
}

func TestScannedPages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("This page has text of its own. ", 2)
	s := withTesseract(t, pictures("A scanned page", body(72, 700, long, long, long), show(100, 500, 400, 80)+body(72, 800, "Stamp 7")))
	result, err := newReader(t).Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	last := result.Layout.Blocks[len(result.Layout.Blocks)-1]
	if last.Text != "A scanned page" || last.Lines[0].Page != 2 {
		t.Errorf("%q on page %d", last.Text, last.Lines[0].Page)
	}
	// The letters are 5 by 5 pixels of 200 x 40 that fill 400 x 80 points from (100, 262) on.
	if box := last.Lines[0].Box; box.X1 < 110 || box.X2 > 330 || box.Y1 < 280 || box.Y2 > 325 {
		t.Errorf("box %v", box)
	}
	if diff := cmp.Diff(map[string]string{"ocr_pages": "1", "ocr_languages": "eng"}, result.Layout.Metadata); diff != "" {
		t.Error(diff)
	}
}

func TestScanWithoutTesseract(t *testing.T) {
	t.Parallel()
	reader := newReader(t)
	scan := show(0, 0, 595, 842)
	_, err := reader.Read(t.Context(), source(t, pictures("text", scan)))
	if !knowledge.IsCode(err, knowledge.CodeNeedsComponent) || !strings.Contains(err.Error(), "apt-get install tesseract-ocr") {
		t.Errorf("error %v", err)
	}
	result, err := reader.Read(t.Context(), source(t, pictures("text", scan, body(72, 700, "A page of text."), scan)))
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Layout.Metadata["pages_not_read"]; got != "2" || len(result.Layout.Pages) != 3 {
		t.Errorf("%q of %d pages not read", got, len(result.Layout.Pages))
	}
}

// TestPhotoWithoutText keeps the picture of a page without text for a model that
// describes it.
func TestPhotoWithoutText(t *testing.T) {
	t.Parallel()
	s := source(t, pictures("text", show(0, 0, 595, 842)))
	s.Options.Describe = true
	result, err := newReader(t).Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Assets) != 1 || len(result.Layout.Blocks) != 1 || result.Layout.Blocks[0].Figure != result.Assets[0].Name {
		t.Errorf("%d assets, blocks %+v", len(result.Assets), result.Layout.Blocks)
	}
}

func TestScanThatTesseractFailsOn(t *testing.T) {
	t.Parallel()
	s := source(t, pictures("text", show(0, 0, 595, 842)))
	s.Tools.Tesseract = extracttest.Script(t, "tesseract", "[ \"$1\" = --list-langs ] && echo eng || exit 1\n")
	if _, err := newReader(t).Read(t.Context(), s); !knowledge.IsCode(err, knowledge.CodeParseLimit) {
		t.Errorf("error %v", err)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("A page of text that has a figure in it. ", 2)
	content := show(0, 0, 595, 842) + body(72, 780, text, text, text, text, text) + show(100, 500, 300, 200) + show(500, 30, 20, 20) +
		body(72, 450, "Figure 1: The figure.") + body(72, 400, text)
	s := source(t, pictures("text", content, body(72, 700, text, text, text)+show(100, 500, 300, 200)))
	result, err := newReader(t).Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Assets) != 1 {
		t.Fatalf("%d assets, want the figure alone: not the logo, the background or its repetition", len(result.Assets))
	}
	asset := result.Assets[0]
	want := knowledge.Box{X1: 100, Y1: 142, X2: 400, Y2: 342}
	if *asset.Box != want || asset.Page != 1 || asset.MediaType != "image/png" {
		t.Errorf("%+v in %v, want it in %v", asset, *asset.Box, want)
	}
	f, err := os.Open(filepath.Join(s.Folder, asset.File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if size, _, err := image.DecodeConfig(f); err != nil || size.Width != 625 || size.Height != 417 {
		t.Errorf("the picture has %d x %d pixels: %v", size.Width, size.Height, err)
	}
	var kinds []knowledge.BlockKind
	for _, b := range result.Layout.Blocks {
		kinds = append(kinds, b.Kind)
	}
	para := knowledge.BlockParagraph
	if diff := cmp.Diff([]knowledge.BlockKind{para, knowledge.BlockFigure, knowledge.BlockCaption, para, para}, kinds); diff != "" {
		t.Error(diff)
	}
}

func TestPopplerReadsWhatPdfiumDoesNot(t *testing.T) {
	t.Parallel()
	s := source(t, []byte("%PDF-1.7\ngarbage"))
	script := `cat <<'END'
  <page width="300.000000" height="200.000000">
    <flow>
      <block xMin="20" yMin="20" xMax="200" yMax="60">
        <line xMin="20" yMin="20" xMax="120" yMax="30">
          <word xMin="20.0" yMin="20.0" xMax="60.0" yMax="30.0">Saved</word>
          <word xMin="65.0" yMin="20.0" xMax="120.0" yMax="30.0">&amp; sound</word>
        </line>
      </block>
    </flow>
  </page>
END
`
	s.Tools.PDFToText = extracttest.Script(t, "pdftotext", script)
	result, err := newReader(t).Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := knowledge.Layout{
		Reader: "poppler", Pages: []knowledge.PageSize{{Page: 1, Width: 300, Height: 200}},
		Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "Saved & sound", Lines: []knowledge.Line{
			{End: 13, Page: 1, Box: knowledge.Box{X1: 20, Y1: 20, X2: 120, Y2: 30}},
		}}},
	}
	if diff := cmp.Diff(want, result.Layout); diff != "" {
		t.Error(diff)
	}
}
