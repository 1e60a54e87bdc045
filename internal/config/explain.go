package config

import (
	"fmt"
	"reflect"
	"strconv"
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
	v := reflect.ValueOf(c)
	if v, ok = valueOf(v, f, key); !ok {
		return Explanation{}, fmt.Errorf("%s is not set", key)
	}
	comments := fieldComments()
	e := Explanation{Key: key, Meaning: comments[f.commentOf(comments)], Variable: variableOf(key)}
	if e.From, err = origin(key, options); err != nil {
		return Explanation{}, err
	}
	switch {
	case f.secret && !v.IsZero():
		e.Value = mask
	default:
		text, err := yaml.Marshal(shown(f, v))
		if err != nil {
			return Explanation{}, fmt.Errorf("show %s: %w", key, err)
		}
		e.Value = strings.TrimSpace(string(text))
	}
	return e, nil
}

// valueOf returns the value of a field; for a field of a list or a map, by the number or the
// name in key.
func valueOf(c reflect.Value, f field, key string) (reflect.Value, bool) {
	if holder, inside, named := strings.Cut(f.key, "."+anyName+"."); named {
		all, _ := fieldOf(holder)
		name := strings.TrimSuffix(strings.TrimPrefix(fullKey(key), holder+"."), "."+inside)
		section := c.FieldByIndex(all.index).MapIndex(reflect.ValueOf(name))
		if !section.IsValid() {
			return section, false
		}
		return section.FieldByIndex(f.index), true
	}
	list, inside, inList := strings.Cut(f.key, "."+anyNumber+".")
	if !inList {
		return c.FieldByIndex(f.index), true
	}
	holder, _ := fieldOf(list)
	number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(key, list+"."), "."+inside))
	sections := c.FieldByIndex(holder.index)
	if err != nil || number >= sections.Len() {
		return reflect.Value{}, false
	}
	return sections.Index(number).FieldByIndex(f.index), true
}

// fieldOf returns the field of a key.
func fieldOf(key string) (field, bool) {
	for _, f := range fields() {
		if isSections(f.kind) || isNamed(f.kind) {
			for _, inside := range f.sections() {
				if inside.key == general(fullKey(key)) {
					return inside, true
				}
			}
		}
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// origin returns where the value of a key comes from.
func origin(key string, options Options) (string, error) {
	env := environment(options.Environ)
	for _, key := range []string{key, fullKey(key), shortKey(key)} {
		if _, ok := options.Overrides[key]; ok {
			return "command line", nil
		}
		if _, ok := env[variableOf(key)]; ok {
			return "environment variable " + variableOf(key), nil
		}
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
