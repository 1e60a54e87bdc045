package pdf

import (
	"image"
	"math"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxBitmap is the largest number of pixels that pdfium draws at once, in its
	// memory of 512 MiB. Larger pictures are drawn smaller.
	maxBitmap = 24 << 20

	pointsPerInch = 72

	formatBGRx   = 3
	reverseBytes = 0x10 // flag: the order is RGBx
	white        = 0xffffffff
)

// draw returns the picture of a part of a page, with so many pixels a point if there
// is room for them, and the pixels a point that it has.
func (d *document) draw(p page, part knowledge.Box, perPoint float64) (*image.RGBA, float64, error) {
	if pixels := (part.X2 - part.X1) * (part.Y2 - part.Y1) * perPoint * perPoint; pixels > maxBitmap {
		perPoint *= math.Sqrt(maxBitmap / pixels)
	}
	pixels := func(points float64) int { return int(math.Round(points * perPoint)) }
	width, height := max(1, pixels(part.X2-part.X1)), max(1, pixels(part.Y2-part.Y1))
	if width*height > 2*maxBitmap { // a page of one point by a billion
		return nil, 0, noMemory()
	}
	bitmap, err := d.lib.call("FPDFBitmap_CreateEx", uint64(width), uint64(height), formatBGRx, 0, 0)
	if err != nil {
		return nil, 0, err
	}
	if bitmap == 0 {
		return nil, 0, noMemory()
	}
	if _, err := d.lib.call("FPDFBitmap_FillRect", bitmap, 0, 0, uint64(width), uint64(height), white); err != nil {
		return nil, 0, err
	}
	pageWidth, pageHeight := p.frame.size()
	if _, err := d.lib.call("FPDF_RenderPageBitmap", bitmap, p.handle, signed(-pixels(part.X1)), signed(-pixels(part.Y1)),
		uint64(max(1, pixels(pageWidth))), uint64(max(1, pixels(pageHeight))), 0, reverseBytes); err != nil {
		return nil, 0, err
	}
	picture, err := d.lib.copyBitmap(bitmap, width, height)
	if err != nil {
		return nil, 0, err
	}
	_, err = d.lib.call("FPDFBitmap_Destroy", bitmap)
	return picture, perPoint, err
}

// signed encodes a signed parameter of 32 bits.
func signed(n int) uint64 { return uint64(uint32(int32(n))) }

// copyBitmap copies a bitmap out of pdfium's memory.
func (l *library) copyBitmap(bitmap uint64, width, height int) (*image.RGBA, error) {
	stride, err := l.number("FPDFBitmap_GetStride", bitmap)
	if err != nil {
		return nil, err
	}
	buffer, err := l.call("FPDFBitmap_GetBuffer", bitmap)
	if err != nil {
		return nil, err
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		row, ok := l.module.Memory().Read(uint32(buffer)+uint32(y*stride), uint32(4*width))
		if !ok {
			return nil, noMemory()
		}
		copy(picture.Pix[y*picture.Stride:], row)
	}
	for i := 3; i < len(picture.Pix); i += 4 {
		picture.Pix[i] = 0xff // the byte has no meaning in the bitmap
	}
	return picture, nil
}
