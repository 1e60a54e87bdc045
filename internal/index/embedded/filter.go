package embedded

import (
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// compile translates one condition of a checked filter into SQL.
func compile(c knowledge.Condition) (condition, error) {
	if key, ok := c.MetadataKey(); ok {
		return compileMetadata(c, key)
	}
	switch c.Field {
	case knowledge.FieldTags:
		return compileTags(c)
	case knowledge.FieldCreatedAt:
		return compileTime(c)
	case knowledge.FieldDocumentID:
		return compileText(c, "v.document_id")
	case knowledge.FieldName:
		return compileText(c, "v.name")
	case knowledge.FieldLanguage:
		return compileText(c, "COALESCE(NULLIF(e.language, ''), v.language)")
	case knowledge.FieldClassification:
		return compileText(c, "v.classification")
	}
	return condition{}, unsupported(c)
}

// compileText compares a text column. An empty column is an absent field: it
// equals nothing and contains nothing, not even the empty text.
func compileText(c knowledge.Condition, column string) (condition, error) {
	present := condition{column + " <> ''", nil}
	isOneOf := and(present, in(column, c.Values(), ""))
	switch c.Type {
	case knowledge.OpEq, knowledge.OpIn:
		return isOneOf, nil
	case knowledge.OpNe, knowledge.OpNin:
		return not(isOneOf), nil
	case knowledge.OpContains:
		return and(present, condition{"instr(" + column + ", ?) > 0", c.Values()}), nil
	case knowledge.OpExists:
		return existing(c, present), nil
	}
	if operator, ok := index.OrderOperator(c.Type); ok {
		return and(present, condition{column + " " + operator + " ?", c.Values()}), nil
	}
	return condition{}, unsupported(c)
}

func compileTags(c knowledge.Condition) (condition, error) {
	const of = " FROM tags t WHERE t.version_id = v.id"
	hasOne := in("+EXISTS (SELECT 1"+of+" AND t.tag", c.Values(), ")")
	switch c.Type {
	case knowledge.OpEq, knowledge.OpIn:
		return hasOne, nil
	case knowledge.OpNe, knowledge.OpNin:
		return not(hasOne), nil
	case knowledge.OpContains:
		return condition{"NOT EXISTS (SELECT 1 FROM json_each(?) w WHERE w.value NOT IN (SELECT t.tag" + of + "))",
			[]any{jsonList(c.Values())}}, nil
	case knowledge.OpExists:
		return existing(c, condition{"+EXISTS (SELECT 1" + of + ")", nil}), nil
	}
	return condition{}, unsupported(c)
}

func compileTime(c knowledge.Condition) (condition, error) {
	present := condition{"v.created_at <> 0", nil}
	if c.Type == knowledge.OpExists {
		return existing(c, present), nil
	}
	var times []any
	for _, value := range c.Values() {
		t, err := knowledge.FilterTime(value)
		if err != nil {
			return condition{}, fmt.Errorf("filter on %s: %w", c.Field, err)
		}
		times = append(times, micros(t))
	}
	isOneOf := and(present, in("v.created_at", times, ""))
	switch c.Type {
	case knowledge.OpEq, knowledge.OpIn:
		return isOneOf, nil
	case knowledge.OpNe, knowledge.OpNin:
		return not(isOneOf), nil
	}
	if operator, ok := index.OrderOperator(c.Type); ok {
		return and(present, condition{"v.created_at " + operator + " ?", times}), nil
	}
	return condition{}, unsupported(c)
}

// sameKind is true if the JSON values m and w can be compared: both text, both
// numbers or both booleans.
const sameKind = `CASE m.type WHEN 'text' THEN w.type = 'text'
	WHEN 'true' THEN w.type IN ('true', 'false') WHEN 'false' THEN w.type IN ('true', 'false')
	WHEN 'integer' THEN w.type IN ('integer', 'real') WHEN 'real' THEN w.type IN ('integer', 'real') ELSE 0 END`

// compileMetadata searches the object's keys for the key. It does not build a
// JSON path from it, so a key is never interpreted.
func compileMetadata(c knowledge.Condition, key string) (condition, error) {
	const of = "+EXISTS (SELECT 1 FROM json_each(v.metadata) m WHERE m.key = ? AND "
	against := func(operator string) condition {
		return condition{"+EXISTS (SELECT 1 FROM json_each(v.metadata) m, json_each(?) w WHERE m.key = ? AND m.value " +
			operator + " w.value AND " + sameKind + ")", []any{jsonList(c.Values()), key}}
	}
	equal, element := against("="), condition{hasElement, []any{jsonList(c.Values()), key}}
	isIn := condition{equal.sql + " OR " + element.sql, slices.Concat(equal.args, element.args)}
	switch c.Type {
	case knowledge.OpEq:
		return equal, nil
	case knowledge.OpNe:
		return not(equal), nil
	case knowledge.OpIn:
		return isIn, nil
	case knowledge.OpNin:
		return not(isIn), nil
	case knowledge.OpExists:
		return existing(c, condition{of + "m.type <> 'null')", []any{key}}), nil
	case knowledge.OpContains:
		if text, ok := c.Value.(string); ok {
			part := condition{of + "m.type = 'text' AND instr(m.value, ?) > 0)", []any{key, text}}
			return condition{part.sql + " OR " + element.sql, append(part.args, element.args...)}, nil
		}
		return element, nil
	}
	if operator, ok := index.OrderOperator(c.Type); ok {
		return against(operator), nil
	}
	return condition{}, unsupported(c)
}

// hasElement is true if a list in the metadata contains the value. It binds a
// JSON list with the value, then the key.
const hasElement = `+EXISTS (SELECT 1 FROM json_each(?) w, json_each(v.metadata) o,
	json_each(CASE o.type WHEN 'array' THEN o.value ELSE '[]' END) m
	WHERE o.key = ? AND m.value = w.value AND ` + sameKind + `)`

// existing returns present, negated if the condition is exists false.
func existing(c knowledge.Condition, present condition) condition {
	if c.Exists() {
		return present
	}
	return not(present)
}

func unsupported(c knowledge.Condition) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "the index cannot filter %s with %s", c.Field, c.Type)
}
