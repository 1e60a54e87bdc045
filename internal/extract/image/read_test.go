package image_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	stdimage "image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/image"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// drawn returns a picture of a text, in letters of 28 by 52 pixels from (80, 60) on.
func drawn(text string) *stdimage.Gray {
	const zoom, left, baseline = 4, 20, 26
	small := stdimage.NewGray(stdimage.Rect(0, 0, 240, 60))
	draw.Draw(small, small.Bounds(), stdimage.White, stdimage.Point{}, draw.Src)
	d := font.Drawer{Dst: small, Src: stdimage.Black, Face: basicfont.Face7x13, Dot: fixed.P(left, baseline)}
	d.DrawString(text)
	large := stdimage.NewGray(stdimage.Rect(0, 0, zoom*240, zoom*60))
	draw.ApproxBiLinear.Scale(large, large.Bounds(), small, small.Bounds(), draw.Src, nil)
	return large
}

func source(t *testing.T, mediaType string, data []byte) format.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return format.Source{
		Name: "original", MediaType: mediaType, Path: path, Size: int64(len(data)), Folder: t.TempDir(),
		Tools: format.FindTools(), MoreTime: func() {},
	}
}

// needTesseract skips a test without tesseract, or fails it in CI.
func needTesseract(t *testing.T, s format.Source) {
	t.Helper()
	const reason = "pictures of text cannot be read; install tesseract (package tesseract-ocr)"
	switch {
	case s.Tools.Tesseract != "":
	case os.Getenv("CI") != "":
		t.Fatal(reason)
	default:
		t.Skip(reason)
	}
}

func encoded(t *testing.T, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(t *testing.T, img stdimage.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, img) })
}

// chunk returns a chunk of a PNG.
func chunk(name string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// withResolution returns a PNG that states its resolution in pixels of a metre.
func withResolution(data []byte, perMetre uint32) []byte {
	const header = 8 + 25
	body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, perMetre), perMetre)
	return append(append(append([]byte(nil), data[:header]...), chunk("pHYs", append(body, 1))...), data[header:]...)
}

// tiffOf returns an uncompressed TIFF with a page for each picture. Its last directory
// names the first as the next one.
func tiffOf(pages ...*stdimage.Gray) []byte {
	data := []byte("II*\x00\x00\x00\x00\x00")
	at := 4 // where the offset of the next directory belongs
	for _, p := range pages {
		strip := len(data)
		data = append(data, p.Pix...)
		binary.LittleEndian.PutUint32(data[at:], uint32(len(data)))
		entries := [][2]uint32{
			{256, uint32(p.Bounds().Dx())}, {257, uint32(p.Bounds().Dy())}, {258, 8}, {259, 1}, {262, 1},
			{273, uint32(strip)}, {277, 1}, {278, uint32(p.Bounds().Dy())}, {279, uint32(len(p.Pix))},
		}
		data = binary.LittleEndian.AppendUint16(data, uint16(len(entries)))
		for _, e := range entries {
			data = binary.LittleEndian.AppendUint16(data, uint16(e[0]))
			data = binary.LittleEndian.AppendUint16(data, 4) // long
			data = binary.LittleEndian.AppendUint32(data, 1)
			data = binary.LittleEndian.AppendUint32(data, e[1])
		}
		at = len(data)
		data = binary.LittleEndian.AppendUint32(data, 0)
	}
	binary.LittleEndian.PutUint32(data[at:], binary.LittleEndian.Uint32(data[4:]))
	return data
}

// turned returns a JPEG of a picture that lies on its side, with the Exif tag that
// turns it back.
func turned(t *testing.T, img stdimage.Image) []byte {
	t.Helper()
	b := img.Bounds()
	side := stdimage.NewGray(stdimage.Rect(0, 0, b.Dy(), b.Dx()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			side.Set(y, b.Dx()-1-x, img.At(x, y)) // a quarter turn against the clock
		}
	}
	data := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, side, nil) })
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00")
	segment := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return append(append(append([]byte(nil), data[:2]...), segment...), data[2:]...)
}

func TestTextInPictures(t *testing.T) {
	t.Parallel()
	fox := drawn("The quick brown fox")
	for _, tc := range []struct {
		behaviour, mediaType string
		data                 []byte
		pages                []knowledge.PageSize
		letters              knowledge.Box // around which the first line is
	}{
		{"a pixel is a point", "image/png", asPNG(t, fox), []knowledge.PageSize{{Page: 1, Width: 960, Height: 240}}, knowledge.Box{X1: 80, Y1: 60, X2: 612, Y2: 115}},
		{"unless the file states its resolution", "image/png", withResolution(asPNG(t, fox), 5669), // 144 an inch
			[]knowledge.PageSize{{Page: 1, Width: 480.03, Height: 120.01}}, knowledge.Box{X1: 40, Y1: 30, X2: 306, Y2: 58}},
		{"a JPEG is turned as its tag says", "image/jpeg", turned(t, fox), []knowledge.PageSize{{Page: 1, Width: 960, Height: 240}}, knowledge.Box{X1: 80, Y1: 60, X2: 612, Y2: 115}},
		{"a TIFF has pages, and ends where it names an earlier one", "image/tiff", tiffOf(fox, drawn("A second page")),
			[]knowledge.PageSize{{Page: 1, Width: 960, Height: 240}, {Page: 2, Width: 960, Height: 240}}, knowledge.Box{X1: 80, Y1: 60, X2: 612, Y2: 115}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			s := source(t, tc.mediaType, tc.data)
			needTesseract(t, s)
			result, err := image.Read(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			wantPicture(t, s, result, tc.pages, tc.letters)
		})
	}
}

func wantPicture(t *testing.T, s format.Source, result format.Result, pages []knowledge.PageSize, letters knowledge.Box) {
	t.Helper()
	if result.Layout.Modality != knowledge.ModalityImage || len(result.Layout.Pages) != len(pages) || len(result.Assets) != len(pages) {
		t.Fatalf("modality %q, %d pages, %d assets", result.Layout.Modality, len(result.Layout.Pages), len(result.Assets))
	}
	for i, p := range pages {
		if got := result.Layout.Pages[i]; got != p {
			t.Errorf("page %+v, want %+v", got, p)
		}
		if _, err := os.Stat(filepath.Join(s.Folder, result.Assets[i].File)); err != nil {
			t.Error(err)
		}
	}
	figures := 0
	for _, b := range result.Layout.Blocks {
		switch {
		case b.Figure != "":
			figures++
		case b.Lines[0].Page == 1:
			if box := b.Lines[0].Box; b.Text != "The quick brown fox" || !near(box, letters) {
				t.Errorf("%q in %v, want the fox in %v", b.Text, box, letters)
			}
		case b.Text != "A second page":
			t.Errorf("the second page says %q", b.Text)
		}
	}
	if figures != len(pages) {
		t.Errorf("%d figures", figures)
	}
}

// near reports whether the sides of two boxes are at most 12 points apart.
func near(a, b knowledge.Box) bool {
	apart := max(abs(a.X1-b.X1), abs(a.Y1-b.Y1), abs(a.X2-b.X2), abs(a.Y2-b.Y2))
	return apart <= 12
}

func abs(x float64) float64 { return max(x, -x) }

func TestPicturesEndAsStated(t *testing.T) {
	t.Parallel()
	white := stdimage.NewGray(stdimage.Rect(0, 0, 200, 100))
	draw.Draw(white, white.Bounds(), stdimage.NewUniform(color.White), stdimage.Point{}, draw.Src)
	header := func(width, height uint32) []byte {
		body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
		return append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(body, 8, 2, 0, 0, 0))...)
	}
	huge := tiffOf(white)
	copy(huge[8+200*100+2+8:], "\xff\xff\xff\x7f") // its width
	for _, tc := range []struct {
		behaviour, mediaType string
		data                 []byte
		code                 knowledge.Code
	}{
		{"no text", "image/png", asPNG(t, white), knowledge.CodeEmpty},
		{"dimensions of a bomb, PNG", "image/png", header(100_000, 100_000), knowledge.CodeParseLimit},
		{"dimensions of a bomb, TIFF", "image/tiff", huge, knowledge.CodeParseLimit},
		{"dimensions of a bomb, GIF", "image/gif", []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), knowledge.CodeParseLimit},
		{"cut off", "image/png", asPNG(t, white)[:60], knowledge.CodeCorrupt},
		{"a TIFF without a directory", "image/tiff", []byte("II*\x00\xff\x00\x00\x00"), knowledge.CodeCorrupt},
		{"nothing", "image/jpeg", nil, knowledge.CodeCorrupt},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			s := source(t, tc.mediaType, tc.data)
			if tc.code == knowledge.CodeEmpty {
				needTesseract(t, s)
			}
			if _, err := image.Read(t.Context(), s); !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %s", err, tc.code)
			}
		})
	}
}

func TestPictureWithoutTesseract(t *testing.T) {
	t.Parallel()
	s := source(t, "image/png", asPNG(t, drawn("text")))
	s.Tools = format.Tools{}
	_, err := image.Read(t.Context(), s)
	if !knowledge.IsCode(err, knowledge.CodeNeedsComponent) || !strings.Contains(err.Error(), "apt-get install tesseract-ocr") {
		t.Errorf("error %v", err)
	}
	s.Options.Describe = true
	result, err := image.Read(t.Context(), s)
	if err != nil || len(result.Assets) != 1 || len(result.Layout.Blocks) != 1 || result.Layout.Blocks[0].Figure != result.Assets[0].Name {
		t.Errorf("%+v, %v, want the picture for a model", result, err)
	}
}
