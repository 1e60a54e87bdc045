package extract_test

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
)

// TestPhotoInHEIC reads a picture that libheif has compressed, and looks at its points.
func TestPhotoInHEIC(t *testing.T) {
	t.Parallel()
	encoder, err := exec.LookPath("heif-enc")
	tools := format.FindTools()
	if err != nil || tools.HEIF == "" {
		skipOrFail(t, "there is nothing that writes and reads HEIC; install heif-enc and heif-convert (package "+extract.HEIFPackage+")")
	}
	upload := halves(t, encoder, 160, 96)
	folder := t.TempDir()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
	result, err := pool.Extract(t.Context(), extract.Input{Name: "photo.heic", Path: upload, Folder: folder, Options: format.Options{Describe: true}})
	if err != nil || result.Layout.MediaType != extract.TypeHEIC || len(result.Assets) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	f, err := os.Open(filepath.Join(folder, result.Assets[0].File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shown, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := shown.Bounds().Size(); size != image.Pt(160, 96) {
		t.Errorf("it is shown as %v", size)
	}
	for x, want := range map[int]uint8{20: 0, 140: 255} {
		if got := color.GrayModel.Convert(shown.At(x, 48)).(color.Gray).Y; max(got, want)-min(got, want) > 16 {
			t.Errorf("at %d it has the brightness %d, want about %d", x, got, want)
		}
	}
}

// halves returns the path of a picture in HEIC that is black on the left and white on the
// right.
func halves(t *testing.T, encoder string, width, height int) string {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		for x := width / 2; x < width; x++ {
			picture.SetGray(x, y, color.Gray{Y: 255})
		}
	}
	folder := t.TempDir()
	from, to := filepath.Join(folder, "photo.png"), filepath.Join(folder, "photo.heic")
	f, err := os.Create(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, picture); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), encoder, "-q", "90", "-o", to, from).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}
