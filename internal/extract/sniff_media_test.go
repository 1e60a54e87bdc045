package extract_test

import (
	"bytes"
	"image"
	"image/png"
	"slices"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
)

// png1 returns a picture of 40 by 20 pixels.
func png1(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSniffMedia: the content decides, whatever the name.
func TestSniffMedia(t *testing.T) {
	t.Parallel()
	const frame = "\xff\xf1\x50\x80\x01\x1f\xfc\x00" // 8 bytes
	bmp := "BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00"
	for _, tc := range []struct{ behaviour, content, want string }{
		{"WebP", "RIFF\x24\x00\x00\x00WEBPVP8L", extract.TypeWebP},
		{"BMP", bmp, extract.TypeBMP},
		{"HEIC", heic, extract.TypeHEIC},
		{"HEIF", "\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1heic", extract.TypeHEIC},
		{"AAC", frame + frame, extract.TypeAAC},
		{"AAC with a check sum", "\xff\xf8\x50\x80\x01\x1f\xfc\x00\xff\xf8", extract.TypeAAC},
		{"AAC behind tags", "ID3\x04\x00\x00\x00\x00\x00\x02\x00\x00" + frame + frame, extract.TypeAAC},
		{"MP3 behind tags", "ID3\x04\x00\x00\x00\x00\x00\x02\x00\x00\xff\xfb\x90\x44\x00\x00\x00\x00", extract.TypeMP3},
		{"WebM", "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82\x84webm\x42\x87\x81\x04", extract.TypeWebM},
		{"a text in Latin-1 that begins with BM", "BMW f\xfcr alle", extract.TypeText},
	} {
		for _, name := range []string{"a.txt", "a.pdf", "a.docx", "a"} {
			t.Run(tc.behaviour+" as "+name, func(t *testing.T) {
				t.Parallel()
				if got, err := extract.Sniff(name, "", []byte(tc.content)); err != nil || got != tc.want {
					t.Errorf("Sniff = %q, %v, want %q", got, err, tc.want)
				}
			})
		}
	}
}

func TestRecordingsHaveTranscripts(t *testing.T) {
	t.Parallel()
	pairs := extract.PairTranscripts([]string{"a.webm", "a.vtt", "b.aac", "b.srt", "c.WEBM", "c.vtt"})
	var recordings []int
	for place := range pairs {
		recordings = append(recordings, place)
	}
	if slices.Sort(recordings); !slices.Equal(recordings, []int{0, 2, 4}) {
		t.Errorf("pairs %v", pairs)
	}
}
