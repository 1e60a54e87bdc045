package question

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MaxCells bounds the configurations of an experiment, with the saved one.
const MaxCells = 32

// Grid has the values that an experiment tries, by the dotted names of settings.
type Grid map[string][]any

// GridCell is a combination of the values of a grid.
type GridCell struct {
	Values   map[string]any  // by the full names of their settings
	Override json.RawMessage // a projectConfigOverride
}

// Cells returns all combinations of the values of a grid. The settings are in the order of their full
// names, and the values of the last one vary fastest. The name of a setting may lack ai. and
// ai.retrieval.
func (g Grid) Cells() ([]GridCell, error) {
	values, err := g.settings()
	if err != nil {
		return nil, err
	}
	cells := []map[string]any{{}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var next []map[string]any
		for _, cell := range cells {
			for _, value := range values[name] {
				with := maps.Clone(cell)
				with[name] = value
				next = append(next, with)
			}
		}
		if cells = next; len(cells) >= MaxCells {
			return nil, knowledge.Invalid("body.grid", "has more than %d combinations, which is the most", MaxCells-1)
		}
	}
	list := make([]GridCell, 0, len(cells))
	for _, cell := range cells {
		override, err := json.Marshal(nested(cell))
		if err != nil {
			return nil, fmt.Errorf("encode a cell of a grid: %w", err)
		}
		list = append(list, GridCell{cell, override})
	}
	return list, nil
}

// settings returns the values by the full names of their settings.
func (g Grid) settings() (map[string][]any, error) {
	full := map[string][]any{}
	for name, values := range g {
		path, known := settingPath(name)
		_, twice := full[path]
		switch {
		case !known:
			return nil, knowledge.Invalid("body.grid", "%q is no setting of a project", name)
		case twice:
			return nil, knowledge.Invalid("body.grid", "%s is there twice", path)
		case len(values) == 0:
			return nil, knowledge.Invalid("body.grid", "%s has no value to try", path)
		case slices.Contains(values, nil):
			return nil, knowledge.Invalid("body.grid", "%s must not be null: name the value", path)
		}
		full[path] = values
	}
	for name := range full {
		for other := range full {
			if strings.HasPrefix(other, name+".") {
				return nil, knowledge.Invalid("body.grid", "%s is a part of %s", other, name)
			}
		}
	}
	return full, nil
}

// settingPath returns the full name of a setting of a project.
func settingPath(name string) (path string, known bool) {
	for _, prefix := range []string{"", "ai.", "ai.retrieval."} {
		if isField(reflect.TypeFor[knowledge.ProjectConfig](), strings.Split(prefix+name, ".")) {
			return prefix + name, true
		}
	}
	return name, false
}

// isField reports whether JSON names lead from a type to one of its fields.
func isField(t reflect.Type, names []string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(names) == 0 {
		return true
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == names[0] && name != "" {
			return isField(field.Type, names[1:])
		}
	}
	return false
}

// nested returns the object whose values have these dotted names.
func nested(values map[string]any) map[string]any {
	object := map[string]any{}
	for name, value := range values {
		parts, into := strings.Split(name, "."), object
		for _, part := range parts[:len(parts)-1] {
			inner, there := into[part].(map[string]any)
			if !there {
				inner = map[string]any{}
				into[part] = inner
			}
			into = inner
		}
		into[parts[len(parts)-1]] = value
	}
	return object
}

// SettingOf returns the value of a setting in a configuration, by its full name, nil if it has none.
func SettingOf(c knowledge.ProjectConfig, name string) (any, error) {
	encoded, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode a configuration: %w", err)
	}
	var value any
	if err := json.Unmarshal(encoded, &value); err != nil {
		return nil, fmt.Errorf("decode a configuration: %w", err)
	}
	for part := range strings.SplitSeq(name, ".") {
		inner, _ := value.(map[string]any)
		value = inner[part]
	}
	return value, nil
}
