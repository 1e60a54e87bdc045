package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of the objects and lists of a body.
const maxDepth = 64

// strictNames makes huma tell Text from text. encoding/json does not: a second
// spelling of a field would pass unchecked and win. (huma keeps this for the
// whole process.)
var strictNames = sync.OnceFunc(func() { huma.ValidateStrictCasing = true })

// strictJSON is how huma reads and writes JSON here.
func strictJSON() huma.Format {
	return huma.Format{
		Marshal: func(w io.Writer, v any) error {
			encoder := json.NewEncoder(w)
			encoder.SetEscapeHTML(false)
			return encoder.Encode(v)
		},
		Unmarshal: ParseJSON,
	}
}

// ParseJSON decodes data into v. The texts of its errors are for clients, and
// continue a sentence that begins with the place of the JSON. Into *any it is
// strict: UTF-8, a bounded depth, and no field twice in an object.
func ParseJSON(data []byte, v any) error {
	_, first := v.(*any)
	if first {
		if !utf8.Valid(data) {
			return errors.New("is not UTF-8")
		}
		if depth(data) > maxDepth {
			return fmt.Errorf("is nested deeper than %d levels", maxDepth)
		}
	}
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("is not JSON: %s (at byte %d)", syntax.Error(), syntax.Offset)
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("has a value at %s that does not fit", wrong.Field)
	case errors.As(err, &wrong):
		return errors.New("has a number that is out of range")
	case err != nil:
		return errors.New("has a value that does not fit")
	case first:
		return distinct(data)
	}
	return nil
}

// distinct refuses JSON in which an object has the same field twice: only the
// last would count, and readers differ in which they take.
func distinct(data []byte) error {
	// Half a surrogate pair is none of its business.
	decoder := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true))
	_, err := decoder.ReadValue()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("has the field %s twice", syntax.JSONPointer)
	}
	return nil
}

// depth returns how deep the objects and lists in data are nested, without checking
// that data is JSON otherwise. It stops above maxDepth.
func depth(data []byte) int {
	open, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			open++
			if deepest = max(deepest, open); deepest > maxDepth {
				return deepest
			}
		case c == '}' || c == ']':
			open--
		}
	}
	return deepest
}
