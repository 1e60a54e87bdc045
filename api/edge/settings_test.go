package edge_test

import (
	"reflect"
	"testing"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestSettingsAreDescribed: each type of a project's settings is described, field
// by field, and nothing is described that is no setting.
func TestSettingsAreDescribed(t *testing.T) {
	t.Parallel()
	settings := map[reflect.Type]bool{}
	for _, part := range reflect.VisibleFields(reflect.TypeFor[knowledge.ProjectConfig]()) {
		addStructs(settings, part.Type)
	}
	described := edge.DescribedSettings()
	for setting := range settings {
		as, ok := described[setting]
		if !ok {
			t.Errorf("%s is not described", setting)
			continue
		}
		// Types are convertible if their fields differ in tags alone.
		if as.Name() != setting.Name() || !setting.ConvertibleTo(as) {
			t.Errorf("%s is described as a type with other fields:\n%s\n%s", setting, fieldsOf(setting), fieldsOf(as))
			continue
		}
		for i := range setting.NumField() {
			field := setting.Field(i)
			if want, got := field.Tag.Get("json"), as.Field(i).Tag.Get("json"); want != got {
				t.Errorf("%s.%s is %q in JSON and is described as %q", setting, field.Name, want, got)
			}
		}
	}
	for setting := range described {
		if !settings[setting] {
			t.Errorf("%s is described, but no project has it", setting)
		}
	}
}

// addStructs adds a struct type, or that of the elements of a list or map, and those of its
// fields.
func addStructs(to map[reflect.Type]bool, t reflect.Type) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	to[t] = true
	for _, field := range reflect.VisibleFields(t) {
		addStructs(to, field.Type)
	}
}

// fieldsOf returns the names and types of a struct's fields.
func fieldsOf(t reflect.Type) (fields []string) {
	for _, field := range reflect.VisibleFields(t) {
		fields = append(fields, field.Name+" "+field.Type.String())
	}
	return fields
}
