package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxDepth  = 500  // levels of nesting
	blockSize = 1500 // bytes after which a block of JSON lines is closed
)

// JSON flattens a JSON document to lines of "path: value", in the order of the
// file, so that each line can be found and understood on its own:
//
//	customer.name: Ann
//	customer.orders[0].total: 12.50
//
// Each element of a top level array begins a new block. Errors are
// *knowledge.Error: malformed, parse_limit or too_large.
func JSON(s string) ([]knowledge.Block, error) {
	f := flattener{decoder: json.NewDecoder(strings.NewReader(s)), source: s, number: 1}
	f.decoder.UseNumber()
	if err := f.document(); err != nil {
		return nil, jsonError(err, fmt.Sprintf("at byte %d", f.decoder.InputOffset()))
	}
	return f.blocks, nil
}

// Lines reads JSON lines: every line that is not empty is a document and becomes
// at least one block. It returns the errors of JSON.
func Lines(s string) ([]knowledge.Block, error) {
	var f flattener
	number := 0
	for line := range strings.Lines(s) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		f.decoder = json.NewDecoder(strings.NewReader(line))
		f.source, f.counted, f.number = line, 0, number
		f.decoder.UseNumber()
		if err := f.document(); err != nil {
			return nil, jsonError(err, fmt.Sprintf("in line %d", number))
		}
	}
	return f.blocks, nil
}

func jsonError(err error, where string) error {
	if _, ok := errors.AsType[*knowledge.Error](err); ok {
		return err
	}
	return knowledge.Errorf(knowledge.CodeMalformed, "the file is not valid JSON %s; correct it, or send it as text", where).WithCause(err)
}

// flattener turns the tokens of JSON documents into blocks.
type flattener struct {
	decoder *json.Decoder
	path    []byte
	depth   int
	lines   strings.Builder
	total   int
	blocks  []knowledge.Block
	origin  knowledge.Origin // of lines

	source  string // what decoder reads
	counted int    // bytes of source up to which number has counted
	number  int    // of the line there
}

// here returns the number of the line that the last token is on.
func (f *flattener) here() int {
	end := int(f.decoder.InputOffset())
	f.number += strings.Count(f.source[f.counted:end], "\n")
	f.counted = end
	return f.number
}

var errTrailing = errors.New("more than one JSON value")

func (f *flattener) document() error {
	f.path = f.path[:0]
	if err := f.value(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	f.flush()
	if _, err := f.decoder.Token(); err != io.EOF {
		return errTrailing
	}
	return nil
}

func (f *flattener) value() error {
	token, err := f.decoder.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return f.container(v)
	case string:
		return f.line(strings.TrimSpace(charset.Clean(v)))
	case json.Number:
		return f.line(v.String())
	case bool:
		return f.line(strconv.FormatBool(v))
	default: // null
		return nil
	}
}

func (f *flattener) container(open json.Delim) error {
	if f.depth++; f.depth > maxDepth {
		return knowledge.Errorf(knowledge.CodeParseLimit, "the JSON is nested more than %d levels deep; flatten it", maxDepth)
	}
	defer func() { f.depth-- }()
	base := len(f.path)
	for i := 0; f.decoder.More(); i++ {
		if open == '[' {
			f.path = append(f.path, '[')
			f.path = strconv.AppendInt(f.path, int64(i), 10)
			f.path = append(f.path, ']')
		} else {
			key, err := f.decoder.Token()
			if err != nil {
				return err
			}
			if base > 0 {
				f.path = append(f.path, '.')
			}
			f.path = append(f.path, oneLine(charset.Clean(fmt.Sprint(key)))...)
		}
		if err := f.value(); err != nil {
			return err
		}
		f.path = f.path[:base]
		if f.depth == 1 && open == '[' || f.lines.Len() > blockSize {
			f.flush()
		}
	}
	_, err := f.decoder.Token()
	return err
}

func (f *flattener) line(value string) error {
	if value == "" {
		return nil
	}
	f.origin.Last = f.here()
	if f.lines.Len() > 0 {
		f.lines.WriteByte('\n')
	} else {
		f.origin.First = f.origin.Last
	}
	if len(f.path) > 0 {
		f.lines.Write(f.path)
		f.lines.WriteString(": ")
	}
	f.lines.WriteString(value)
	if f.total += len(f.path) + len(value); f.total > charset.MaxText {
		return charset.TooLong()
	}
	return nil
}

func (f *flattener) flush() {
	if f.lines.Len() > 0 {
		f.blocks = append(f.blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: f.lines.String(), Origin: f.origin})
		f.lines.Reset()
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
