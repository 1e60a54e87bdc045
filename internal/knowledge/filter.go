package knowledge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Operator compares a field with a value.
type Operator string

// The operators of a filter.
const (
	OpEq       Operator = "eq"
	OpNe       Operator = "ne"
	OpIn       Operator = "in"
	OpNin      Operator = "nin"
	OpGt       Operator = "gt"
	OpGte      Operator = "gte"
	OpLt       Operator = "lt"
	OpLte      Operator = "lte"
	OpContains Operator = "contains"
	OpExists   Operator = "exists"
)

// The fields of a filter. MetadataPrefix comes before a key of the metadata's
// top level.
const (
	FieldTags           = "tags"
	FieldDocumentID     = "documentId"
	FieldName           = "name"
	FieldLanguage       = "language"
	FieldCreatedAt      = "createdAt"
	FieldClassification = "classification"
	MetadataPrefix      = "metadata."
)

// The limits of a filter.
const (
	MaxFilterConditions = 50   // that a request may give
	MaxFilterValues     = 1000 // of one condition
	MaxFilterValueBytes = 1024 // of one string
	MaxMetadataKeyBytes = 256
)

// Condition is one comparison of a filter. Value is a string, float64, bool,
// or a slice of these, as encoding/json gives them.
//
// A document without the field fails every operator but ne, nin and exists
// false. Values of different types are never equal and never in order. For
// tags, eq asks whether the document has the tag, in whether it has one of
// them, contains whether it has all. For text, contains asks for a part of it,
// case and all; for a list in the metadata, for one of its elements. A list in the
// metadata is in the values of a condition if one of its elements is. The order of
// texts is the order of their UTF-8 bytes.
type Condition struct {
	Field string   `json:"field" doc:"tags, documentId, name, language, createdAt, classification or metadata.<key>. The language is ISO 639-3 of the passage; a passage whose language cannot be told, such as a table of names and numbers in a document of such tables, has und, so a filter on a language leaves it out unless it names und too"`
	Type  Operator `json:"type"`
	Value any      `json:"value"`
}

// Filter narrows a search; all its conditions hold. An empty Filter narrows
// nothing (permission is not a filter's matter).
type Filter []Condition

// MetadataKey returns the key of a metadata.<key> field.
func (c Condition) MetadataKey() (key string, ok bool) {
	return strings.CutPrefix(c.Field, MetadataPrefix)
}

// Values returns the value as a list: of itself, or of its elements.
func (c Condition) Values() []any {
	switch v := c.Value.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string:
		return anys(v)
	case []float64:
		return anys(v)
	case []bool:
		return anys(v)
	default:
		return []any{v}
	}
}

// Exists returns the value of an exists condition; none means true.
func (c Condition) Exists() bool {
	v, ok := c.Value.(bool)
	return !ok || v
}

// FilterTime reads a createdAt value: an RFC 3339 time, or a date (its first
// moment in UTC).
func FilterTime(value any) (time.Time, error) {
	s, ok := value.(string)
	if !ok {
		return time.Time{}, fmt.Errorf("a time must be text, not %T", value)
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339Nano, s)
}

// Fields returns what is wrong with the filter of a request, as found at location
// ("body.filters").
func (f Filter) Fields(location string) []Field {
	if len(f) > MaxFilterConditions {
		return []Field{{location, fmt.Sprintf("must have at most %d conditions", MaxFilterConditions)}}
	}
	return f.ConditionFields(location)
}

// ConditionFields returns what is wrong with the conditions, however many there
// are: a request's tags are one more. An index takes only a filter with whose
// conditions nothing is wrong.
func (f Filter) ConditionFields(location string) []Field {
	var wrong []Field
	for i, c := range f {
		at := fmt.Sprintf("%s[%d]", location, i)
		allowed, message := operatorsOf(c.Field)
		if message != "" {
			wrong = append(wrong, Field{at + ".field", message})
			continue
		}
		if !slices.Contains(allowed, c.Type) {
			wrong = append(wrong, Field{at + ".type", "must be " + orList(allowed) + " for this field"})
			continue
		}
		if message := c.wrongValue(); message != "" {
			wrong = append(wrong, Field{at + ".value", message})
		}
	}
	return wrong
}

// operatorsOf returns what a field can be asked, or why there is no such field.
func operatorsOf(field string) (allowed []Operator, message string) {
	switch field {
	case FieldTags: // a set has no order
		return []Operator{OpEq, OpNe, OpIn, OpNin, OpContains, OpExists}, ""
	case FieldCreatedAt: // a time has no parts
		return []Operator{OpEq, OpNe, OpIn, OpNin, OpGt, OpGte, OpLt, OpLte, OpExists}, ""
	case FieldName, FieldLanguage, FieldClassification, FieldDocumentID:
		return everyOperator(), ""
	}
	key, ok := strings.CutPrefix(field, MetadataPrefix)
	switch {
	case !ok:
		return nil, "must be tags, documentId, name, language, createdAt, classification or metadata.<key>"
	case key == "":
		return nil, "must name a key after metadata."
	case len(key) > MaxMetadataKeyBytes:
		return nil, fmt.Sprintf("must have a key of at most %d bytes", MaxMetadataKeyBytes)
	case !plainText(key):
		return nil, "must be UTF-8 without NUL"
	}
	return everyOperator(), ""
}

func everyOperator() []Operator {
	return []Operator{OpEq, OpNe, OpIn, OpNin, OpGt, OpGte, OpLt, OpLte, OpContains, OpExists}
}

// wrongValue returns what is wrong with the value of a condition whose field and
// operator are right, "" if nothing.
func (c Condition) wrongValue() string {
	values := c.Values()
	if c.Type == OpExists {
		if _, ok := c.Value.(bool); !ok && c.Value != nil {
			return "must be true or false"
		}
		return ""
	}
	single := len(values) == 1 && !isList(c.Value)
	many := c.Type == OpIn || c.Type == OpNin || (c.Type == OpContains && c.Field == FieldTags)
	switch {
	case c.Type == OpIn || c.Type == OpNin:
		if !isList(c.Value) {
			return "must be a list"
		}
	case !many && !single:
		return "must be one value, not a list"
	}
	if len(values) == 0 || len(values) > MaxFilterValues {
		return fmt.Sprintf("must have between 1 and %d values", MaxFilterValues)
	}
	for _, v := range values {
		if message := c.wrongScalar(v); message != "" {
			return message
		}
	}
	return ""
}

func (c Condition) wrongScalar(v any) string {
	if c.Field == FieldCreatedAt {
		if _, err := FilterTime(v); err != nil {
			return "must be a time such as 2026-01-31T12:00:00Z or a date such as 2026-01-31"
		}
		return ""
	}
	_, metadata := c.MetadataKey()
	switch v := v.(type) {
	case string:
		if len(v) > MaxFilterValueBytes {
			return fmt.Sprintf("must have at most %d bytes", MaxFilterValueBytes)
		}
		if !plainText(v) {
			return "must be UTF-8 without NUL"
		}
		return ""
	case float64:
		if metadata && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return ""
		}
	case bool:
		if metadata && !slices.Contains([]Operator{OpGt, OpGte, OpLt, OpLte}, c.Type) {
			return ""
		}
	}
	if metadata {
		return "must be text, a number, or (not for gt, gte, lt, lte) true or false"
	}
	return "must be text"
}

func plainText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func isList(v any) bool {
	switch v.(type) {
	case []any, []string, []float64, []bool:
		return true
	}
	return false
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

func orList(operators []Operator) string {
	names := make([]string, len(operators))
	for i, o := range operators {
		names[i] = string(o)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
