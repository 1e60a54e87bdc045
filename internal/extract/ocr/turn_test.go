package ocr_test

import (
	"image"
	"image/color"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/extract/ocr"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const perPoint = 200.0 / 72

// letter is a page of text for a scan.
var letter = []string{
	"Inspection of the northern station", "",
	"The pressure of the main pump was below its limit on two days.",
	"A worn seal let air into the suction line, and the pump stopped.",
	"The seal was replaced, and the alarm of the station was tested.",
	"No water was lost, and the customers did not notice the event.",
}

// scan draws lines as a page of 595 by 842 points that is scanned at 200 pixels an inch.
func scan(t *testing.T, lines []string) *image.Gray {
	t.Helper()
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 12, DPI: 200})
	if err != nil {
		t.Fatal(err)
	}
	page := image.NewGray(image.Rect(0, 0, 1653, 2339))
	draw.Draw(page, page.Bounds(), image.White, image.Point{}, draw.Src)
	d := font.Drawer{Dst: page, Src: image.NewUniform(color.Black), Face: face}
	for i, line := range lines {
		d.Dot = fixed.P(200, 300+60*i)
		d.DrawString(line)
	}
	return page
}

// turn returns a picture turned clockwise by so many quarters.
func turn(picture *image.Gray, quarters int) *image.Gray {
	for range quarters {
		b := picture.Bounds()
		out := image.NewGray(image.Rect(0, 0, b.Dy(), b.Dx()))
		for y := range b.Dy() {
			for x := range b.Dx() {
				out.SetGray(b.Dy()-1-y, x, picture.GrayAt(x, y))
			}
		}
		picture = out
	}
	return picture
}

func realTesseract(t *testing.T) *ocr.Tesseract {
	t.Helper()
	s := format.Source{Folder: t.TempDir(), Tools: format.FindTools()}
	if s.Tools.Tesseract == "" {
		skipOrFail(t, "pictures of text cannot be read; install tesseract (package tesseract-ocr)")
	}
	tesseract, err := ocr.New(t.Context(), s, "a picture")
	if err != nil {
		t.Fatal(err)
	}
	return tesseract
}

// TestPagesThatLieOnTheirSide reads a page in its four directions.
func TestPagesThatLieOnTheirSide(t *testing.T) {
	t.Parallel()
	upright := scan(t, letter)
	want := strings.Join(strings.Fields(strings.Join(letter, " ")), " ")
	for quarters := range 4 {
		picture := turn(upright, quarters)
		size := knowledge.PageSize{Page: 1, Width: float64(picture.Bounds().Dx()) / perPoint, Height: float64(picture.Bounds().Dy()) / perPoint}
		tesseract := realTesseract(t)
		lines, err := tesseract.Read(t.Context(), picture, perPoint, size)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(texts(lines), " "); got != want {
			t.Errorf("turned by %d: %q", quarters, got)
			continue
		}
		var l knowledge.Layout
		if tesseract.Warn(&l); len(l.Warnings) > 0 {
			t.Errorf("turned by %d: warnings %v", quarters, l.Warnings)
		}
		// The first line begins at (200, 300) in pixels, and is about 12 points high.
		first := lines[0]
		box := layout.Upright(first.Box, first.Turned)
		if first.Turned != quarters || box.Y2-box.Y1 > 14 || box.X2-box.X1 < 100 {
			t.Errorf("turned by %d: the first line runs in direction %d in %v", quarters, first.Turned, first.Box)
		}
		if corner := []knowledge.Box{
			{X1: 72, Y1: 108}, {X1: size.Width - 108, Y1: 72}, {X1: size.Width - 72, Y1: size.Height - 108}, {X1: 108, Y1: size.Height - 72},
		}[quarters]; !near(first.Box, corner) {
			t.Errorf("turned by %d: the first line stands in %v, want it at %v", quarters, first.Box, corner)
		}
	}
}

// near reports whether a point is at a corner of a box, or a few points off.
func near(b knowledge.Box, point knowledge.Box) bool {
	const off = 5
	close := func(a, b float64) bool { return a > b-off && a < b+off }
	return (close(b.X1, point.X1) || close(b.X2, point.X1)) && (close(b.Y1, point.Y1) || close(b.Y2, point.Y1))
}

// TestPageWithoutWords does not publish the letters that tesseract finds in a page of
// strokes.
func TestPageWithoutWords(t *testing.T) {
	t.Parallel()
	rows := ""
	for i := range 20 {
		rows += found(1, 1, 1+i/5, 1+i%5, 60*(i%5), 30*(i/5), 40, "|"+string(rune('a'+i))+"x")
	}
	rows += found(1, 1, 9, 1, 0, 300, 90, "ue") + found(1, 1, 9, 2, 60, 300, 91, "Ul")
	tesseract, err := ocr.New(t.Context(), standIn(t, "cat <<'END'\n"+rows+"END\n"), "a picture")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := tesseract.Read(t.Context(), image.NewGray(image.Rect(0, 0, 800, 600)), 2, knowledge.PageSize{Page: 3, Width: 400, Height: 300})
	if err != nil || len(lines) > 0 {
		t.Errorf("%q %v", texts(lines), err)
	}
	var l knowledge.Layout
	tesseract.Warn(&l)
	if len(l.Warnings) != 1 || l.Warnings[0].Code != knowledge.WarnUnreadablePage || !slices.Equal(l.Warnings[0].Pages, []int{3}) {
		t.Errorf("warnings %v", l.Warnings)
	}
}

// skipOrFail skips a test for lack of something, or fails it in CI.
func skipOrFail(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
