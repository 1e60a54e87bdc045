package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// maxDepth bounds how deep objects and lists of a body lie in each other.
const maxDepth = 64

// strictJSON is how huma reads and writes JSON here.
func strictJSON() huma.Format {
	return huma.Format{
		Marshal: func(w io.Writer, v any) error {
			encoder := json.NewEncoder(w)
			encoder.SetEscapeHTML(false)
			return encoder.Encode(v)
		},
		Unmarshal: parseJSON,
	}
}

// parseJSON decodes data into v. Its errors speak of the body, to clients.
func parseJSON(data []byte, v any) error {
	if _, first := v.(*any); first {
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
	}
	return nil
}

// depth gives how deep the objects and lists in data lie in each other, without
// asking whether it is JSON otherwise. It stops above maxDepth.
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
