package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is one key of the configuration.
type field struct {
	key     string // "temporal.listen"
	section string // the name of the struct that holds it
	name    string // the name of its field there
	index   []int  // where it is in a Config
	kind    reflect.Type
	secret  bool
	holders []holder // the fields that hold its section, the outermost first
}

// holder is a field that holds a section. Its comment can give keys of the section another
// meaning, and its tag without lists the keys of the struct that are none in this section.
type holder struct {
	field   string // "Models.Rerank"
	key     string // "models.rerank"
	without []string
}

// inside returns a key of the section without what stands before it, and without the
// number of a failover: "failover.type".
func (h holder) inside(key string) string {
	return strings.ReplaceAll(strings.TrimPrefix(key, h.key+"."), anyNumber+".", "")
}

// fields lists the keys in the order of the structs.
func fields() []field { return fieldsOf(reflect.TypeFor[Config](), field{}) }

// fieldsOf lists the keys of a struct that is the value of in.
func fieldsOf(t reflect.Type, in field) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("koanf")
		if name == "-" {
			continue
		}
		at := field{
			key: strings.TrimPrefix(in.key+"."+name, "."), section: t.Name(), name: f.Name, index: append(slices.Clone(in.index), i),
			kind: f.Type, secret: f.Tag.Get("secret") == "true", holders: in.holders,
		}
		held := holder{field: t.Name() + "." + f.Name, key: at.key, without: strings.Fields(f.Tag.Get("without"))}
		switch {
		case f.Anonymous: // its keys are keys of t
			at.key = in.key
			all = append(all, fieldsOf(f.Type, at)...)
		case f.Type.Kind() == reflect.Struct:
			at.holders = append(slices.Clone(in.holders), held)
			all = append(all, fieldsOf(f.Type, at)...)
		case !at.excluded():
			all = append(all, at)
		}
	}
	return all
}

// excluded reports whether a section of the key does not have it.
func (f field) excluded() bool {
	return slices.ContainsFunc(f.holders, func(h holder) bool { return slices.Contains(h.without, h.inside(f.key)) })
}

// commentOf returns where in comments the meaning of a key is: in the comment of a holder,
// else of the field itself.
func (f field) commentOf(comments map[string]string) string {
	for _, h := range f.holders {
		if name := h.field + "." + h.inside(f.key); comments[name] != "" {
			return name
		}
	}
	return f.section + "." + f.name
}

// isSections reports whether a type is a list of sections.
func isSections(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t.Elem().PkgPath() == reflect.TypeFor[Config]().PkgPath()
}

// isNamed reports whether a type is of sections by their names.
func isNamed(t reflect.Type) bool { return t.Kind() == reflect.Map }

// The placeholders in a key for the number of a section in a list and for its name in a map.
const (
	anyNumber = "<n>"
	anyName   = "<name>"
)

// sections returns the keys of a section in a list or a map. Their index is that in the
// section.
func (f field) sections() []field {
	in := field{key: f.key + "." + anyNumber}
	if isNamed(f.kind) {
		in.key = f.key + "." + anyName
	}
	in.holders = append(slices.Clone(f.holders), holder{field: f.section + "." + f.name, key: in.key})
	return fieldsOf(f.kind.Elem(), in)
}

// general returns a key with anyNumber in the place of each number, and with anyName in
// the place of the name of a secret.
func general(key string) string {
	parts := strings.Split(key, ".")
	if strings.HasPrefix(key, secretKeys) {
		parts[1] = anyName
		return strings.Join(parts, ".")
	}
	for i, part := range parts {
		if n, err := strconv.ParseUint(part, 10, 8); err == nil && strconv.FormatUint(n, 10) == part {
			parts[i] = anyNumber
		}
	}
	return strings.Join(parts, ".")
}

// knownKeys returns the type of each key.
func knownKeys() map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for _, f := range fields() {
		known[f.key] = f.kind
		if isSections(f.kind) || isNamed(f.kind) {
			for _, inside := range f.sections() {
				known[inside.key] = inside.kind
			}
		}
	}
	return known
}

// kindOf returns the type of a key.
func kindOf(key string) (reflect.Type, bool) {
	kind, ok := knownKeys()[general(fullKey(key))]
	return kind, ok && !isNamed(kind)
}

// unknownKey returns an error that names the nearest known key, the keys of the section
// that key names, or where it has moved to.
func unknownKey(key string) error {
	if now, moved := movedKey(key); moved {
		return fmt.Errorf("%s has moved: write its hosts as %s (in the environment %s)", key, now, variableOf(now))
	}
	known := slices.Sorted(maps.Keys(knownKeys()))
	var inside []string
	for _, k := range known {
		if strings.HasPrefix(k, key+".") {
			inside = append(inside, k)
		}
	}
	if len(inside) > 0 {
		return fmt.Errorf("%q is a section; its keys are %s", key, strings.Join(inside, ", "))
	}
	nearest := slices.MinFunc(known, func(a, b string) int { return distance(general(key), a) - distance(general(key), b) })
	return fmt.Errorf("unknown key %q; the nearest is %q (in the environment %s)", key, nearest, variableOf(nearest))
}

// distance counts the letters to insert, remove or replace between two keys. A
// key without its section, or in a wrong one, counts by its last part too.
func distance(a, b string) int {
	d := 2 * editDistance(a, b)
	lastA, lastB := a[strings.LastIndex(a, ".")+1:], b[strings.LastIndex(b, ".")+1:]
	return min(d, 2*editDistance(lastA, lastB)+3)
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
