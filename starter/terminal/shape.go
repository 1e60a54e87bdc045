package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Shape returns v, which is encoded as JSON, with field names in snake_case: the API names
// fields in two ways, the command in one. Names that people gave, and names of settings
// that are passed to "cairn projects set", stay.
func Shape(v any) (any, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(encoded)))
	decoder.UseNumber() // an integer stays one
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	return shape(decoded), nil
}

// givenNames are the fields in which the names are not ours.
var givenNames = map[string]bool{"metadata": true, "arguments": true, "ai": true, "tools": true, "limits": true, "privacy": true, "retention": true}

func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		named := make(map[string]any, len(v))
		for name, value := range v {
			if givenNames[name] {
				named[name] = value
			} else {
				named[snakeCase(name)] = shape(value)
			}
		}
		return named
	case []any:
		for i := range v {
			v[i] = shape(v[i])
		}
	}
	return v
}

func snakeCase(name string) string {
	var out strings.Builder
	lower := false // the letter before is a small one, or a digit
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			out.WriteByte('_')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// YAML writes v, which is encoded as JSON, as one YAML document.
func YAML(out io.Writer, v any) error {
	decoded, err := Shape(v)
	if err != nil {
		return err
	}
	var text strings.Builder
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(yamlValue(decoded)); err != nil {
		return fmt.Errorf("encode as YAML: %w", err)
	}
	_, err = io.WriteString(out, escape(text.String()))
	return err
}

// yamlValue returns a decoded JSON value for the encoder of YAML: numbers as numbers, and
// text that could drive a terminal in quotes, inside which it is escaped.
func yamlValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = yamlValue(v[name])
		}
	case []any:
		for i := range v {
			v[i] = yamlValue(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if n, err := v.Float64(); err == nil {
			return n
		}
	case string:
		if strings.ContainsFunc(v, drives) {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: v}
		}
	}
	return v
}
