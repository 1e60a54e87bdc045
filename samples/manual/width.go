package manual

// widths are the widths of Helvetica's printable ASCII characters, from the
// space on, in thousandths of the font size, as in the PDF standard fonts.
var widths = [...]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // space to /
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
}

// width returns the width of text in Helvetica, in points.
func width(text string, size float64) float64 {
	total := 0.0
	for _, r := range text {
		if r >= ' ' && int(r-' ') < len(widths) {
			total += widths[r-' ']
		} else {
			total += 556
		}
	}
	return total * size / 1000
}
