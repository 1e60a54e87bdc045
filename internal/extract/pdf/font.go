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
	if err != nil || len(name) == 0 {
		return f, err
	}
	look := t.lib.typeface(name, flags)
	f.bold, f.mono = look.bold, look.mono
	return f, nil
}

// fontKey is what tells fonts apart.
type fontKey struct {
	name  string
	flags [4]byte
}

// typeface returns the typeface of a font, without a size.
func (l *library) typeface(name []byte, flags [4]byte) typeface {
	f, ok := l.fonts[fontKey{string(name), flags}]
	if !ok {
		lower := strings.ToLower(string(name))
		f = typeface{bold: boldFont(lower, flags), mono: monoFont(lower, flags)}
		l.fonts[fontKey{string(name), flags}] = f
	}
	return f
}

// fontInfo returns the name of a character's font, which is empty if it has none and holds
// until the next call of pdfium, and its flags, little endian.
func (t textPage) fontInfo(index int) (name []byte, flags [4]byte, err error) {
	const nameBytes = 256
	n, err := t.lib.number("FPDFText_GetFontInfo", t.handle, uint64(index), t.lib.scratch, nameBytes, t.lib.scratch+nameBytes)
	if err != nil {
		return nil, flags, err
	}
	info, _ := t.lib.module.Memory().Read(uint32(t.lib.scratch), nameBytes+4) // within the allocated scratch space
	return info[:min(max(n, 0), nameBytes)], [4]byte(info[nameBytes:]), nil
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
func boldFont(name string, flags [4]byte) bool {
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
func monoFont(name string, flags [4]byte) bool {
	for _, word := range []string{
		"courier", "mono", "consol", "menlo", "monaco", "cmtt", "sftt", "ectt", "typewriter", "lettergothic", "lucidacons", "andale", "code", "fixed", "nimbusmon",
	} {
		if strings.Contains(name, word) {
			return !strings.Contains(name, "monotype") || flags[0]&1 != 0
		}
	}
	return flags[0]&1 != 0
}
