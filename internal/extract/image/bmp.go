package image

import (
	"encoding/binary"
	"errors"
	"image"

	"golang.org/x/image/bmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// openBMP opens a BMP. Models refuse its bytes.
func (f *file) openBMP() error {
	f.data = plainBMP(f.data)
	if err := f.single(bmp.DecodeConfig, bmp.Decode, bmpResolution(f.data)); err != nil {
		if errors.Is(err, bmp.ErrUnsupported) {
			return knowledge.Errorf(knowledge.CodeUnsupportedFormat, "this BMP is compressed in a way that is not read; save it as PNG and send that").WithCause(err)
		}
		return err
	}
	f.showable = false
	decode := f.decode
	f.decode = func(index int) (image.Image, error) {
		img, err := decode(index)
		return filled(img), err
	}
	return nil
}

// filled returns a picture as opaque if no pixel of it is seen: programs leave the alpha
// of a BMP empty.
func filled(img image.Image) image.Image {
	p, ok := img.(*image.NRGBA)
	if !ok {
		return img
	}
	const bytesOfPixel = 4
	for i := bytesOfPixel - 1; i < len(p.Pix); i += bytesOfPixel {
		if p.Pix[i] != 0 {
			return img
		}
	}
	for i := bytesOfPixel - 1; i < len(p.Pix); i += bytesOfPixel {
		p.Pix[i] = 0xff
	}
	return img
}

// bmpResolution returns the pixels of an inch that a BMP states, 0 if it does not.
func bmpResolution(data []byte) float64 {
	const perMetre = 38 // offset of the resolution
	if len(data) < perMetre+4 || binary.LittleEndian.Uint32(data[14:]) < 40 {
		return 0
	}
	return float64(binary.LittleEndian.Uint32(data[perMetre:])) * .0254
}

// Parts of a BMP.
const (
	bmpFileHeader = 14
	bmpHeader     = 40 // the smallest that is read
	bmpMasks      = 12 // that follow the smallest header
)

// plainBMP returns a BMP without the gaps that programs leave before its pixels, and
// without masks of colours that say the usual. It returns other files as they are.
func plainBMP(data []byte) []byte {
	const offsetAt, sizeAt, bitsAt, kindAt, coloursAt = 10, 14, 28, 30, 46
	if len(data) < bmpFileHeader+bmpHeader {
		return data
	}
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint32(data[at:])) }
	pixels, size, bits, colours := number(offsetAt), number(sizeAt), binary.LittleEndian.Uint16(data[bitsAt:]), number(coloursAt)
	const isMasked = 3
	usual := string([]byte{0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0})
	masked := number(kindAt) == isMasked && size == bmpHeader && bits == 32 && len(data) >= bmpFileHeader+bmpHeader+bmpMasks &&
		string(data[bmpFileHeader+bmpHeader:][:bmpMasks]) == usual
	if number(kindAt) != 0 && !masked || size < bmpHeader || size > 124 {
		return data
	}
	end := bmpFileHeader + size
	if bits <= 8 {
		if colours == 0 {
			colours = 1 << bits
		}
		end += 4 * min(colours, 256)
	}
	if pixels <= end || pixels > int64(len(data)) {
		return data
	}
	plain := append(append([]byte(nil), data[:end]...), data[pixels:]...)
	binary.LittleEndian.PutUint32(plain[offsetAt:], uint32(end))
	binary.LittleEndian.PutUint32(plain[kindAt:], 0)
	return plain
}
