package pdf

import (
	"math"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// direction returns the direction in which a character is displayed, in quarter
// turns clockwise.
func (t textPage) direction(index int) (int, error) {
	angle, err := t.lib.call("FPDFText_GetCharAngle", t.handle, uint64(index))
	if err != nil {
		return 0, err
	}
	turns := math.Round(float64(api.DecodeF32(angle)) / (math.Pi / 2)) // clockwise in user space
	if !(math.Abs(turns) <= 4) {
		turns = 0
	}
	return ((int(turns)+t.frame.quarters)%4 + 4) % 4, nil
}

// font returns the size in which a character is displayed, in points, and
// whether its font is bold.
func (t textPage) font(index int) (size float64, bold bool, err error) {
	raw, err := t.lib.call("FPDFText_GetFontSize", t.handle, uint64(index))
	if err != nil {
		return 0, false, err
	}
	size = api.DecodeF64(raw)
	ok, err := t.lib.call("FPDFText_GetMatrix", t.handle, uint64(index), t.lib.scratch)
	if err != nil {
		return 0, false, err
	}
	if ok != 0 {
		m := t.lib.floats(6)
		size *= math.Hypot(m[2], m[3])
	}
	const nameBytes = 256
	flags := t.lib.scratch + nameBytes
	n, err := t.lib.number("FPDFText_GetFontInfo", t.handle, uint64(index), t.lib.scratch, nameBytes, flags)
	if err != nil {
		return 0, false, err
	}
	info := t.lib.bytes(nameBytes + 4)
	return size, n > 0 && boldFont(string(info[:min(n, nameBytes)]), info[nameBytes:]), nil
}

// boldFont reports whether a font is bold, by its name or by its ForceBold flag
// (bit 19 of flags, little endian).
func boldFont(name string, flags []byte) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"bold", "black", "heavy", "demi"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return flags[2]&4 != 0
}
