package knowledge

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Matches reports whether a document meets all conditions, as the index decides it. Its
// language counts as the language of all its chunks.
func (f Filter) Matches(d Document) bool {
	return !slices.ContainsFunc(f, func(c Condition) bool { return !c.matches(d) })
}

func (c Condition) matches(d Document) bool {
	values, isList := c.valuesOf(d)
	has := func(want any) bool {
		return slices.ContainsFunc(values, func(v any) bool { return order(v, want, "=") })
	}
	one := func(op string) bool { // lists have no order, and equal nothing
		return len(values) == 1 && (!isList || c.Field == FieldTags) && order(values[0], c.Value, op)
	}
	equal := func(want any) bool { return (!isList || c.Field == FieldTags) && has(want) }
	switch c.Type {
	case OpExists:
		return (len(values) > 0) == c.Exists()
	case OpEq:
		return equal(c.Value)
	case OpNe:
		return !equal(c.Value)
	case OpIn:
		return slices.ContainsFunc(c.Values(), has)
	case OpNin:
		return !slices.ContainsFunc(c.Values(), has)
	case OpGt:
		return one(">")
	case OpGte:
		return one(">") || one("=")
	case OpLt:
		return one("<")
	case OpLte:
		return one("<") || one("=")
	case OpContains:
		if c.Field == FieldTags {
			return len(c.Values()) > 0 && !slices.ContainsFunc(c.Values(), func(want any) bool { return !has(want) })
		}
		part, isText := c.Value.(string)
		if text, ok := only(values).(string); ok && !isList {
			return isText && strings.Contains(text, part)
		}
		return isList && has(c.Value)
	}
	return false
}

// valuesOf returns what the field of a condition holds in a document, nothing if the
// document does not have it.
func (c Condition) valuesOf(d Document) (values []any, isList bool) {
	text := func(s string) []any {
		if s == "" {
			return nil
		}
		return []any{s}
	}
	switch c.Field {
	case FieldTags:
		return anys(d.Tags), true
	case FieldDocumentID:
		return text(d.ID), false
	case FieldName:
		return text(d.Name), false
	case FieldLanguage:
		return text(d.Language), false
	case FieldClassification:
		return text(d.Classification), false
	case FieldCreatedAt:
		if d.CreatedAt.IsZero() {
			return nil, false
		}
		return []any{d.CreatedAt}, false
	}
	key, _ := c.MetadataKey()
	switch v := d.Metadata[key].(type) {
	case nil:
		return nil, false
	case []any:
		return v, true
	case []string:
		return anys(v), true
	default:
		return []any{v}, false
	}
}

func only(values []any) any {
	if len(values) != 1 {
		return nil
	}
	return values[0]
}

// order reports whether two values of one type are in an order: "<", "=" or ">".
func order(a, b any, op string) bool {
	compared := 0
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		if !ok {
			return false
		}
		compared = strings.Compare(a, b)
	case float64:
		b, ok := b.(float64)
		if !ok {
			return false
		}
		compared = cmp.Compare(a, b)
	case bool:
		b, ok := b.(bool)
		return ok && op == "=" && a == b
	case time.Time:
		b, err := FilterTime(b)
		if err != nil {
			return false
		}
		compared = a.Compare(b)
	default:
		return false
	}
	return map[string]int{"<": -1, "=": 0, ">": 1}[op] == compared
}
