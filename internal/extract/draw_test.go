package extract_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestPoolMarksBoxes(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a.pdf": onePage([]byte("0 0 150 200 re f"), ""), "a.png": picture.Bytes()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			in := extract.Input{Name: name, Path: write(t, "upload", content), Folder: folder}
			boxes := []knowledge.Box{{X1: 50, Y1: 20, X2: 100, Y2: 40}, {X1: -1e300, Y1: 150, X2: 1e300, Y2: 160}}
			file, err := pool.Draw(t.Context(), in, extract.Drawing{Page: 1, Resolution: 144, Boxes: boxes})
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			drawn, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			for place, want := range map[image.Point]string{
				image.Pt(150, 60): "filled", image.Pt(97, 60): "edge", image.Pt(90, 60): "page", image.Pt(10, 310): "filled",
			} {
				r, g, _, _ := drawn.At(place.X, place.Y).RGBA()
				got := "filled"
				switch {
				case r == 0:
					got = "page"
				case g < r/2:
					got = "edge"
				}
				if got != want {
					t.Errorf("at %v is %s, want %s", place, got, want)
				}
			}
		})
	}
}

func TestPoolDrawsPages(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	pdf := onePage([]byte("0 0 150 200 re f"), "") // the left half of the page is black
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 72, 36))); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		behaviour, name string
		content         []byte
		drawing         extract.Drawing
		width, height   int
		code            knowledge.Code
	}{
		{"a page of a PDF", "a.pdf", pdf, extract.Drawing{Page: 1, Resolution: 144}, 600, 400, ""},
		{"a page that the PDF does not have", "a.pdf", pdf, extract.Drawing{Page: 2, Resolution: 144}, 0, 0, knowledge.CodeNotFound},
		{"a picture", "a.png", picture.Bytes(), extract.Drawing{Page: 1, Resolution: 144}, 144, 72, ""},
		{"a page of a PDF for a model", "a.pdf", pdf, extract.Drawing{Page: 1, Side: 150}, 150, 100, ""},
		{"a picture that is too large for a model", "a.png", picture.Bytes(), extract.Drawing{Page: 1, Side: 20}, 20, 10, ""},
		{"a picture that is not enlarged for a model", "a.png", picture.Bytes(), extract.Drawing{Page: 1, Side: 1000}, 72, 36, ""},
		{"a page that the picture does not have", "a.png", picture.Bytes(), extract.Drawing{Page: 2, Resolution: 144}, 0, 0, knowledge.CodeNotFound},
		{"a text", "a.txt", []byte("text"), extract.Drawing{Page: 1, Resolution: 144}, 0, 0, knowledge.CodeNotFound},
		{"a damaged PDF", "a.pdf", pdf[:60], extract.Drawing{Page: 1, Resolution: 144}, 0, 0, knowledge.CodeCorrupt},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			name, err := pool.Draw(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", tc.content), Folder: folder}, tc.drawing)
			if tc.code != "" {
				wantCode(t, err, tc.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			drawn, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			if size := drawn.Bounds().Size(); size != image.Pt(tc.width, tc.height) {
				t.Errorf("%v pixels, want %d x %d", size, tc.width, tc.height)
			}
			if got := color.GrayModel.Convert(drawn.At(10, 10)).(color.Gray); got.Y != 0 {
				t.Errorf("the left half is %v, want black", got)
			}
		})
	}
}
