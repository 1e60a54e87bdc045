package pdf

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf16"

	"github.com/cairn-rag/cairn/internal/extract/charset"

	"github.com/klippa-app/go-pdfium"
	"github.com/tetratelabs/wazero/api"
)

// library calls the functions of one instance of pdfium. go-pdfium compiles and
// instantiates the module, but it looks up the function and allocates its
// result at each call. With one call per character that dominates the time, so
// library does both once. A pointer into pdfium's memory is a uint64.
type library struct {
	ctx       context.Context
	module    api.Module
	functions map[string]function
	scratch   uint64 // scratchBytes of pdfium's memory for results
	text      uint64 // textBytes of pdfium's memory for the text of a page
	textBytes int
	stack     [8]uint64
	glyphs    []glyph // of the last page, whose space the next one uses
	fonts     map[fontKey]typeface
	previous  uint64 // page that closeLater keeps open

	// The functions that are called for every character.
	unicode, looseBox function
}

// function is a function of pdfium. Its definition is a copy for each call that asks for it.
type function struct {
	api.Function

	hasResult bool
}

const scratchBytes = 16 << 10

// trapError is a failure of the WebAssembly code itself, such as an access out
// of bounds or exhausted memory. The instance must not be used again.
type trapError struct{ cause error }

func (e *trapError) Error() string { return "pdfium trapped: " + e.cause.Error() }
func (e *trapError) Unwrap() error { return e.cause }

// newLibrary returns a library for the module of an instance.
func newLibrary(ctx context.Context, instance pdfium.Pdfium) (*library, error) {
	field := reflect.Indirect(reflect.ValueOf(instance.GetImplementation())).FieldByName("Module")
	if !field.IsValid() {
		return nil, errors.New("go-pdfium does not show its module; is it another version?")
	}
	module, ok := field.Interface().(api.Module)
	if !ok {
		return nil, errors.New("the module of go-pdfium is not one of wazero")
	}
	l := &library{ctx: ctx, module: module, functions: map[string]function{}, fonts: map[fontKey]typeface{}}
	var err error
	if l.unicode, err = l.function("FPDFText_GetUnicode"); err != nil {
		return nil, err
	}
	if l.looseBox, err = l.function("FPDFText_GetLooseCharBox"); err != nil {
		return nil, err
	}
	l.scratch, err = l.call("malloc", scratchBytes)
	return l, err
}

func (l *library) function(name string) (function, error) {
	if f, ok := l.functions[name]; ok {
		return f, nil
	}
	exported := l.module.ExportedFunction(name)
	if exported == nil {
		return function{}, fmt.Errorf("pdfium has no function %s", name)
	}
	f := function{exported, len(exported.Definition().ResultTypes()) > 0}
	l.functions[name] = f
	return f, nil
}

// call calls a function by name. It returns 0 for a function without a result.
func (l *library) call(name string, params ...uint64) (uint64, error) {
	f, err := l.function(name)
	if err != nil {
		return 0, err
	}
	return l.run(f, params...)
}

func (l *library) run(f function, params ...uint64) (uint64, error) {
	l.stack[0] = 0
	copy(l.stack[:], params)
	if err := f.CallWithStack(l.ctx, l.stack[:]); err != nil {
		return 0, &trapError{err}
	}
	if !f.hasResult {
		return 0, nil
	}
	return l.stack[0], nil
}

// number calls a function whose result is a signed integer.
func (l *library) number(name string, params ...uint64) (int, error) {
	result, err := l.call(name, params...)
	return int(api.DecodeI32(result)), err
}

// floats reads n numbers of 32 bits from the scratch space.
func (l *library) floats(n int) [6]float64 {
	var out [6]float64
	for i := range n {
		x, _ := l.module.Memory().ReadFloat32Le(uint32(l.scratch) + uint32(4*i)) // the range is within the allocated scratch space
		out[i] = float64(x)
	}
	return out
}

// words reads n unsigned numbers of 32 bits, four at most, from the scratch space.
func (l *library) words(n int) [4]uint32 {
	var out [4]uint32
	for i := range n {
		out[i], _ = l.module.Memory().ReadUint32Le(uint32(l.scratch) + uint32(4*i)) // the range is within the allocated scratch space
	}
	return out
}

// doubles reads two numbers of 64 bits from the scratch space.
func (l *library) doubles() (a, b float64) {
	a, _ = l.module.Memory().ReadFloat64Le(uint32(l.scratch)) // within the allocated scratch space
	b, _ = l.module.Memory().ReadFloat64Le(uint32(l.scratch) + 8)
	return a, b
}

// bytes returns a copy of the first n bytes of the scratch space.
func (l *library) bytes(n int) []byte {
	view, _ := l.module.Memory().Read(uint32(l.scratch), uint32(max(0, min(n, scratchBytes))))
	return append([]byte(nil), view...)
}

// load copies data into pdfium's memory. ok is false if there is no room.
func (l *library) load(data []byte) (pointer uint64, ok bool, err error) {
	pointer, err = l.call("malloc", uint64(len(data)))
	if err != nil || pointer == 0 {
		return 0, false, err
	}
	return pointer, l.module.Memory().Write(uint32(pointer), data), nil
}

// memorySize returns the present size of pdfium's memory in bytes.
func (l *library) memorySize() int { return int(l.module.Memory().Size()) }

// closeLater closes a page with the next call of closeLater. pdfium drops a font
// with the last open page that uses it, and would load it again for the next.
func (l *library) closeLater(page uint64) error {
	previous := l.previous
	l.previous = page
	if previous == 0 {
		return nil
	}
	_, err := l.call("FPDF_ClosePage", previous)
	return err
}

// writeString writes a string with a zero behind it to the scratch space and
// returns its address, or 0 if it is too long or contains a zero.
func (l *library) writeString(s string) uint64 {
	if len(s) >= scratchBytes/2 || strings.ContainsRune(s, 0) || !l.module.Memory().WriteString(uint32(l.scratch), s+"\x00") {
		return 0
	}
	return l.scratch
}

// maxWide bounds a text that wideText returns, in bytes of UTF-16.
const maxWide = 1 << 20

// wideText returns the text that a function writes as UTF-16 with a zero behind
// it, and "" if it is longer than maxWide. The function's last parameters are a
// buffer and its size, and it returns the bytes of the text.
func (l *library) wideText(name string, params ...uint64) (string, error) {
	buffer, room := l.scratch+scratchBytes/2, scratchBytes/2
	n, err := l.number(name, append(params, buffer, uint64(room))...)
	if err != nil || n <= 2 || n > maxWide {
		return "", err
	}
	if n > room { // it wrote nothing
		if buffer, err = l.call("malloc", uint64(n)); err != nil || buffer == 0 {
			return "", err
		}
		if _, err = l.call(name, append(params, buffer, uint64(n))...); err != nil {
			return "", err
		}
	}
	data, _ := l.module.Memory().Read(uint32(buffer), uint32(n)) // the range is allocated
	units := make([]uint16, 0, n/2)
	for i := 0; i+1 < len(data)-2; i += 2 { // without the zero at the end
		units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
	}
	if n > room {
		if _, err := l.call("free", buffer); err != nil {
			return "", err
		}
	}
	return charset.Clean(string(utf16.Decode(units))), nil
}
