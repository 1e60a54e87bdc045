package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"
)

// Explanation describes one key of a configuration.
type Explanation struct {
	Key      string `json:"key"`
	Value    string `json:"value"` // as it stands in the file; a secret that is set is masked
	Meaning  string `json:"meaning"`
	Variable string `json:"variable"` // that sets it
	From     string `json:"from"`     // where the value came from
}

// Explain describes a key, with the value that Load returns for the same options. Its
// errors are for the person who wrote the key, and name the nearest known one.
func Explain(key string, options Options) (Explanation, error) {
	f, ok := fieldOf(key)
	if !ok {
		return Explanation{}, unknownKey(key)
	}
	c, err := Load(options)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Key: key, Meaning: fieldComments()[f.section+"."+f.name], Variable: variableOf(key)}
	if e.From, err = origin(key, options); err != nil {
		return Explanation{}, err
	}
	v := reflect.ValueOf(c).FieldByIndex(f.index)
	switch {
	case f.secret && !v.IsZero():
		e.Value = mask
	case v.Kind() == reflect.Map && key != f.key:
		if found := v.MapIndex(reflect.ValueOf(strings.TrimPrefix(key, f.key+"."))); found.IsValid() {
			e.Value = found.String()
		}
	default:
		text, err := yaml.Marshal(shown(v))
		if err != nil {
			return Explanation{}, fmt.Errorf("show %s: %w", key, err)
		}
		e.Value = strings.TrimSpace(string(text))
	}
	return e, nil
}

// fieldOf returns the field of a key, or of the map that holds it.
func fieldOf(key string) (field, bool) {
	for _, f := range fields() {
		if f.key == key || f.kind.Kind() == reflect.Map && strings.HasPrefix(key, f.key+".") {
			return f, true
		}
	}
	return field{}, false
}

// origin returns where the value of a key comes from.
func origin(key string, options Options) (string, error) {
	env := environment(options.Environ)
	if _, ok := options.Overrides[key]; ok {
		return "command line", nil
	}
	if _, ok := env[variableOf(key)]; ok {
		return "environment variable " + variableOf(key), nil
	}
	path := options.File
	if path == "" {
		path = env[configVariable]
	}
	file := koanf.New(".")
	if err := loadFile(file, path, nil); err != nil {
		return "", err
	}
	if path != "" && file.Exists(key) {
		return "configuration file " + path, nil
	}
	return "default", nil
}
