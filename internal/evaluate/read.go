package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// Format is how a file holds items.
type Format string

// The formats of items.
const (
	FormatJSON      Format = "json"  // an array, or an object with the array in "items"
	FormatJSONLines Format = "jsonl" // an object a line
	FormatCSV       Format = "csv"   // a header, then a row an item; commas, semicolons or tabs
)

// FormatOf returns the format of a file by the end of its name, else by the beginning of its
// content.
func FormatOf(name string, head []byte) Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return FormatJSON
	case ".jsonl", ".ndjson":
		return FormatJSONLines
	case ".csv", ".tsv":
		return FormatCSV
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(byteOrderMark)), " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("[")):
		return FormatJSON
	case bytes.HasPrefix(head, []byte("{")):
		if first, _, more := bytes.Cut(head, []byte("\n")); more && json.Valid(first) {
			return FormatJSONLines
		}
		return FormatJSON
	}
	return FormatCSV
}

const byteOrderMark = "\ufeff"

// Read reads the items of a file and checks them with Check. Items without an id get one from
// their question. The error is a *Problems, with the lines of the file, if the file could be
// read but its items are wrong. An unknown field or column is a problem, so that a misspelt one
// is not ignored.
func Read(r io.Reader, format Format) ([]Item, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	var f file
	switch {
	case len(data) > MaxFile:
		f.problems.add(Problem{Item: -1, Message: fmt.Sprintf("the file has more than %d MB", MaxFile>>20)})
	case !utf8.Valid(data):
		f.problems.add(Problem{Line: firstInvalid(data), Item: -1, Message: "the file is not in UTF-8: save it as “CSV UTF-8” or as JSON in UTF-8"})
	default:
		data = bytes.TrimPrefix(data, []byte(byteOrderMark))
		switch format {
		case FormatJSON:
			f.readJSON(data)
		case FormatJSONLines:
			f.readLines(data)
		case FormatCSV:
			f.readCSV(data)
		default:
			return nil, fmt.Errorf("there is no format %q of items", format)
		}
	}
	if err := f.problems.orNil(); err != nil {
		return nil, err
	}
	f.items = WithIDs(f.items)
	f.problems.check(f.items, f.lines)
	if err := f.problems.orNil(); err != nil {
		return nil, err
	}
	return f.items, nil
}

// file is the items of a file that is read.
type file struct {
	items    []Item
	lines    []int // of the items
	problems Problems
}

// add adds an item, and reports whether more may follow.
func (f *file) add(item Item, line int) bool {
	f.items, f.lines = append(f.items, item), append(f.lines, line)
	return len(f.items) <= MaxItems
}

func (f *file) wrong(line int, format string, values ...any) {
	f.problems.add(Problem{Line: line, Item: -1, Message: fmt.Sprintf(format, values...)})
}

func firstInvalid(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return 1 + bytes.Count(data[:at], []byte("\n"))
}

// readJSON reads an array of items, or the array in the field "items" of an object.
func (f *file) readJSON(data []byte) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	lineOf := func(offset int64) int { return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n")) }
	if err := openItems(decoder); err != nil {
		f.wrong(lineOf(decoder.InputOffset()), "%s", jsonProblem(err))
		return
	}
	line, counted := 1, int64(0) // of the byte at counted
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			f.wrong(lineOf(decoder.InputOffset()), "%s", jsonProblem(err))
			return
		}
		begin := decoder.InputOffset() - int64(len(raw))
		line, counted = line+bytes.Count(data[counted:begin], []byte("\n")), begin
		if !f.decode(raw, line) {
			return
		}
	}
	if _, err := decoder.Token(); err != nil {
		f.wrong(lineOf(decoder.InputOffset()), "%s", jsonProblem(err))
	}
}

// openItems reads up to the beginning of the array of items.
func openItems(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil || token == json.Delim('[') {
		return err
	}
	if token != json.Delim('{') {
		return errors.New("the file is neither a list of items nor an object with one in “items”")
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		if key == "items" {
			if token, err = decoder.Token(); err == nil && token != json.Delim('[') {
				err = errors.New("“items” is no list")
			}
			return err
		}
		var other json.RawMessage // a name, a version
		if err := decoder.Decode(&other); err != nil {
			return err
		}
	}
	return errors.New("the object has no “items”")
}

// readLines reads JSON lines.
func (f *file) readLines(data []byte) {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) > 0 && !f.decode(line, number) {
			return
		}
	}
}

// decode adds the item of a JSON object, and reports whether more may follow.
func (f *file) decode(raw []byte, line int) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var item Item
	if err := decoder.Decode(&item); err != nil {
		f.wrong(line, "%s", jsonProblem(err))
		return len(f.problems.List) < MaxProblems
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		f.wrong(line, "something stands behind the item")
	}
	return f.add(item, line)
}

// jsonProblem returns what is wrong with JSON in the words of a person.
func jsonProblem(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the file ends too early"
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("%s is a %s, not a %s", kind.Field, kind.Value, kind.Type.Kind())
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}
