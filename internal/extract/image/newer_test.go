package image_test

import (
	"bytes"
	"encoding/binary"
	stdimage "image"
	"testing"

	"golang.org/x/image/bmp"

	"github.com/cairn-rag/cairn/internal/extract/image"
	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// bits writes numbers from their lowest bit on.
type bits struct {
	out  []byte
	used int // bits of out
}

func (b *bits) put(value uint32, count int) {
	for i := range count {
		if b.used%8 == 0 {
			b.out = append(b.out, 0)
		}
		b.out[len(b.out)-1] |= byte(value>>i&1) << (b.used % 8)
		b.used++
	}
}

// lossless returns the body of a VP8L chunk: black and white, a bit for each colour of a
// pixel.
func lossless(p *stdimage.Gray) []byte {
	b := &bits{}
	b.put(0x2f, 8)
	b.put(uint32(p.Bounds().Dx()-1), 14)
	b.put(uint32(p.Bounds().Dy()-1), 14)
	b.put(0, 1+3) // no alpha, version 0
	b.put(0, 1+1+1)
	for range 3 { // green, red and blue: the two symbols 0 and 255
		b.put(1, 1)
		b.put(1, 1)
		b.put(1, 1)
		b.put(0, 8)
		b.put(255, 8)
	}
	b.put(1|0<<1|1<<2|255<<3, 3+8) // alpha: one symbol
	b.put(1, 3+1)                  // distances: one symbol
	for _, grey := range p.Pix {
		b.put(uint32(grey>>7)*7, 3)
	}
	return b.out
}

func riff(name string, body []byte) []byte {
	out := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body))), body...)
	return append(out, make([]byte, len(body)&1)...)
}

func webpOf(chunks ...[]byte) []byte {
	return riff("RIFF", append([]byte("WEBP"), bytes.Join(chunks, nil)...))
}

// size3 returns the sides of a picture less one, in three bytes each.
func size3(p *stdimage.Gray) []byte {
	w, h := p.Bounds().Dx()-1, p.Bounds().Dy()-1
	return []byte{byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)}
}

// animation returns a WebP with a frame for each picture.
func animation(frames ...*stdimage.Gray) []byte {
	chunks := [][]byte{riff("VP8X", append([]byte{2, 0, 0, 0}, size3(frames[0])...)), riff("ANIM", make([]byte, 6))}
	for _, f := range frames {
		head := append(append(make([]byte, 6), size3(f)...), 100, 0, 0, 0)
		chunks = append(chunks, riff("ANMF", append(head, riff("VP8L", lossless(f))...)))
	}
	return webpOf(chunks...)
}

func asBMP(t *testing.T, img stdimage.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, img) })
}

// withGap returns a BMP that has a gap before its pixels.
func withGap(data []byte) []byte {
	at := int(binary.LittleEndian.Uint32(data[10:]))
	out := append(append(append([]byte(nil), data[:at]...), 0, 0), data[at:]...)
	binary.LittleEndian.PutUint32(out[10:], uint32(at+2))
	return out
}

// withMasks returns a BMP of 32 bits a pixel whose colours have masks.
func withMasks(p *stdimage.Gray) []byte {
	b := p.Bounds()
	out := append([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x42\x00\x00\x00\x28\x00\x00\x00"), make([]byte, 36)...)
	binary.LittleEndian.PutUint32(out[18:], uint32(b.Dx()))
	binary.LittleEndian.PutUint32(out[22:], uint32(-b.Dy())) // from the top
	out[26], out[28], out[30] = 1, 32, 3
	out = append(out, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0)
	for _, grey := range p.Pix {
		out = append(out, grey, grey, grey, 0)
	}
	return out
}

// withoutAlpha returns a BMP of 32 bits a pixel whose newer header allows for alpha, and
// whose alpha is empty.
func withoutAlpha(p *stdimage.Gray) []byte {
	const size, pixels = 124, 14 + 124
	old := withMasks(p)
	out := append(append([]byte(nil), old[:14+40]...), make([]byte, size-40)...)
	out[10], out[14], out[30] = pixels, size, 0
	return append(out, old[14+40+12:]...)
}

func TestTextInNewerPictures(t *testing.T) {
	t.Parallel()
	fox := drawn("The quick brown fox")
	exif := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x03\x00\x00\x00\x00\x00\x00")
	turnedOver := stdimage.NewGray(fox.Bounds())
	for i := range fox.Pix {
		turnedOver.Pix[len(fox.Pix)-1-i] = fox.Pix[i]
	}
	for _, tc := range []struct {
		behaviour, mediaType string
		data                 []byte
	}{
		{"WebP", "image/webp", webpOf(riff("VP8L", lossless(fox)))},
		{"WebP with a header", "image/webp", webpOf(riff("VP8X", append(make([]byte, 4), size3(fox)...)), riff("VP8L", lossless(fox)))},
		{"an animation shows its first picture", "image/webp", animation(fox, drawn("Another"))},
		{"a WebP is turned as its tag says", "image/webp", webpOf(riff("VP8X", append([]byte{8, 0, 0, 0}, size3(fox)...)), riff("VP8L", lossless(turnedOver)), riff("EXIF", exif))},
		{"BMP", "image/bmp", asBMP(t, fox)},
		{"BMP with a gap", "image/bmp", withGap(asBMP(t, fox))},
		{"BMP with masks", "image/bmp", withMasks(fox)},
		{"BMP with an alpha that is empty", "image/bmp", withoutAlpha(fox)},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			s := source(t, tc.mediaType, tc.data)
			needTesseract(t, s)
			result, err := image.Read(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			wantPicture(t, s, result, []knowledge.PageSize{{Page: 1, Width: 960, Height: 240}}, knowledge.Box{X1: 80, Y1: 60, X2: 612, Y2: 115})
			if _, err := image.Draw(s, 1, picture.Scale{Resolution: 72}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNewerPicturesEndAsStated(t *testing.T) {
	t.Parallel()
	fox := drawn("The quick brown fox")
	good, flat := webpOf(riff("VP8L", lossless(fox))), asBMP(t, fox)
	changed := func(data []byte, at int, with string) []byte {
		out := append([]byte(nil), data...)
		copy(out[at:], with)
		return out
	}
	bomb := lossless(fox)
	copy(bomb[1:], "\xff\xff\xff\x0f")
	for _, tc := range []struct {
		behaviour, mediaType string
		data                 []byte
		code                 knowledge.Code
	}{
		{"nothing, WebP", "image/webp", nil, knowledge.CodeCorrupt},
		{"cut off, WebP", "image/webp", good[:len(good)/2], knowledge.CodeCorrupt},
		{"only a header, WebP", "image/webp", []byte("RIFF\x04\x00\x00\x00WEBP"), knowledge.CodeCorrupt},
		{"a chunk that is longer than the file", "image/webp", changed(good, 16, "\xff\xff\xff\x7f"), knowledge.CodeCorrupt},
		{"a frame that is cut off", "image/webp", animation(fox)[:90], knowledge.CodeCorrupt},
		{"dimensions of a bomb, WebP", "image/webp", webpOf(riff("VP8L", bomb)), knowledge.CodeParseLimit},
		{"a bomb in a small header", "image/webp", webpOf(riff("VP8X", make([]byte, 10)), riff("VP8L", bomb)), knowledge.CodeParseLimit},
		{"a bomb in an animation", "image/webp", webpOf(riff("VP8X", append([]byte{2, 0, 0, 0}, make([]byte, 6)...)), riff("ANMF", append(make([]byte, 16), riff("VP8L", bomb)...))), knowledge.CodeParseLimit},
		{"nothing, BMP", "image/bmp", nil, knowledge.CodeCorrupt},
		{"cut off, BMP", "image/bmp", flat[:len(flat)/2], knowledge.CodeCorrupt},
		{"dimensions of a bomb, BMP", "image/bmp", changed(asBMP(t, fox), 18, "\xff\xff\x00\x00\xff\xff\x00\x00"), knowledge.CodeParseLimit},
		{"pixels outside the file", "image/bmp", changed(flat, 10, "\xff\xff\xff\x7f"), knowledge.CodeUnsupportedFormat},
		{"compressed", "image/bmp", changed(flat, 30, "\x01"), knowledge.CodeUnsupportedFormat},
		{"more colours than there are", "image/bmp", changed(flat, 46, "\xff\xff\xff\xff"), knowledge.CodeUnsupportedFormat},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if _, err := image.Read(t.Context(), source(t, tc.mediaType, tc.data)); !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %s", err, tc.code)
			}
		})
	}
}
