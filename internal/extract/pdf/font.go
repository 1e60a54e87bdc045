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

// typeface is how a character is displayed.
type typeface struct {
	size       float64 // points
	bold, mono bool    // mono: the letters of the font have one width
}

// font returns the typeface of a character.
func (t textPage) font(index int) (f typeface, err error) {
	raw, err := t.lib.call("FPDFText_GetFontSize", t.handle, uint64(index))
	if err != nil {
		return f, err
	}
	f.size = api.DecodeF64(raw)
	ok, err := t.lib.call("FPDFText_GetMatrix", t.handle, uint64(index), t.lib.scratch)
	if err != nil {
		return f, err
	}
	if ok != 0 {
		m := t.lib.floats(6)
		f.size *= math.Hypot(m[2], m[3])
	}
	name, flags, err := t.fontInfo(index)
	if err != nil {
		return f, err
	}
	if name != "" {
		name = strings.ToLower(name)
		f.bold, f.mono = boldFont(name, flags), monoFont(name, flags)
	}
	return f, nil
}

// fontInfo returns the name of a character's font, "" if it has none, and its flags, little
// endian.
func (t textPage) fontInfo(index int) (name string, flags []byte, err error) {
	const nameBytes = 256
	n, err := t.lib.number("FPDFText_GetFontInfo", t.handle, uint64(index), t.lib.scratch, nameBytes, t.lib.scratch+nameBytes)
	if err != nil {
		return "", nil, err
	}
	info := t.lib.bytes(nameBytes + 4)
	return string(info[:min(max(n, 0), nameBytes)]), info[nameBytes:], nil
}

// thickened reports whether the outline of a character is drawn too, as programs do for
// bold text in a font without a bold one.
func (t textPage) thickened(index int) (bool, error) {
	object, err := t.lib.call("FPDFText_GetTextObject", t.handle, uint64(index))
	if err != nil || object == 0 {
		return false, err
	}
	const fillAndStroke = 2
	mode, err := t.lib.number("FPDFTextObj_GetTextRenderMode", object)
	return mode == fillAndStroke, err
}

// boldFont reports whether a font is bold, by its name in small letters or by its
// ForceBold flag (bit 19 of flags, little endian).
func boldFont(name string, flags []byte) bool {
	for _, word := range []string{"bold", "black", "heavy", "demi", "cmbx", "cmssbx", "sfbx", "ecbx"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return flags[2]&4 != 0
}

// monoFont reports whether the letters of a font have one width, by its name in small
// letters or by its FixedPitch flag (bit 1). The flag alone says little: fonts of Chinese
// and Japanese have it, whose Latin letters may have several.
func monoFont(name string, flags []byte) bool {
	for _, word := range []string{
		"courier", "mono", "consol", "menlo", "monaco", "cmtt", "sftt", "ectt", "typewriter", "lettergothic", "lucidacons", "andale", "code", "fixed", "nimbusmon",
	} {
		if strings.Contains(name, word) {
			return !strings.Contains(name, "monotype") || flags[0]&1 != 0
		}
	}
	return flags[0]&1 != 0
}
