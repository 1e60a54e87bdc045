package milvus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// always and never are expressions that every and no entry fulfils.
const (
	always = fieldVersion + " >= 0"
	never  = fieldVersion + " < 0"
)

// scope returns the expression for the entries that the query may find: entries of
// its workspace and projects that share a token with its principal, narrowed by
// its documents and its filter.
func scope(q index.Query) (string, error) {
	list := append([]string{ofWorkspace(q.Principal.Workspace())}, permitted(q)...)
	if projects := q.InProjects(); len(projects) > 0 {
		list = append(list, oneOf(fieldProject, projects))
	}
	if len(q.Documents) > 0 {
		list = append(list, oneOf(fieldDocument, q.Documents))
	}
	for _, c := range q.Filter {
		compiled, err := compile(c)
		if err != nil {
			return "", err
		}
		list = append(list, compiled)
	}
	return and(list...), nil
}

// permitted returns the expressions for the entries that the principal may read: its clearance
// covers their classification, their tokens or a grant let it in, and no grant denies them.
func permitted(q index.Query) []string {
	admitted := containsAny(fieldACL, q.Principal.Tokens())
	if !q.Granted.Allowed.IsEmpty() {
		admitted = anyOf(append(objects(q.Granted.Allowed), admitted))
	}
	list := []string{admitted}
	if !q.Granted.Denied.IsEmpty() {
		list = append(list, not(anyOf(objects(q.Granted.Denied))))
	}
	if !q.Principal.CoversEveryLevel() {
		list = append(list, oneOf(fieldClassification, q.Principal.Covered()))
	}
	return list
}

// objects returns the expressions of which the entries that grants name meet one.
func objects(o knowledge.Objects) []string {
	var list []string
	if len(o.Documents) > 0 {
		list = append(list, oneOf(fieldDocument, o.Documents))
	}
	if len(o.Projects) > 0 {
		list = append(list, oneOf(fieldProject, o.Projects))
	}
	if len(o.Tags) > 0 {
		list = append(list, containsAny(fieldTags, o.Tags))
	}
	return list
}

func ofWorkspace(workspace string) string { return fieldWorkspace + " == " + literal(workspace) }

func ofDocument(workspace, document string) string {
	return and(ofWorkspace(workspace), fieldDocument+" == "+literal(document))
}

func and(list ...string) string  { return "(" + strings.Join(list, ") && (") + ")" }
func anyOf(list []string) string { return "(" + strings.Join(list, ") || (") + ")" }
func not(expression string) string {
	return "not (" + expression + ")"
}

func oneOf(field string, values []string) string { return field + " in " + literals(values) }

func containsAny(field string, values []string) string {
	return "array_contains_any(" + field + ", " + literals(values) + ")"
}

// compile translates one condition of a checked filter.
func compile(c knowledge.Condition) (string, error) {
	if key, ok := c.MetadataKey(); ok {
		return compileMetadata(c, key)
	}
	switch c.Field {
	case knowledge.FieldTags:
		return compileTags(c)
	case knowledge.FieldCreatedAt:
		return compileTime(c)
	case knowledge.FieldDocumentID:
		return compileText(c, fieldDocument)
	case knowledge.FieldName:
		return compileText(c, fieldName)
	case knowledge.FieldLanguage:
		return compileText(c, fieldLanguage)
	case knowledge.FieldClassification:
		return compileText(c, fieldClassification)
	}
	return "", unsupported(c)
}

// compileText compares a text field. An empty field is absent: it equals
// nothing and contains nothing, not even the empty text.
func compileText(c knowledge.Condition, field string) (string, error) {
	present := field + ` != ""`
	values := slices.DeleteFunc(textValues(c), func(v string) bool { return v == "" })
	switch c.Type {
	case knowledge.OpEq, knowledge.OpIn:
		if len(values) == 0 {
			return never, nil
		}
		return oneOf(field, values), nil
	case knowledge.OpNe, knowledge.OpNin:
		if len(values) == 0 {
			return always, nil
		}
		return field + " not in " + literals(values), nil
	case knowledge.OpContains:
		if len(values) == 0 {
			return present, nil
		}
		return containsText(field, values[0]), nil
	case knowledge.OpExists:
		return existing(c, present, field+` == ""`), nil
	}
	if operator, ok := index.OrderOperator(c.Type); ok {
		return and(present, field+" "+operator+" "+literal(textValues(c)[0])), nil
	}
	return "", unsupported(c)
}

// containsText asks whether a text of the JSON field contains part.
func containsText(key, part string) string {
	return member(key) + ` like "%` + letters(part) + `%"`
}

func member(key string) string { return fieldMetadata + `["` + key + `"]` }

func compileTags(c knowledge.Condition) (string, error) {
	switch c.Type {
	case knowledge.OpEq, knowledge.OpIn:
		return containsAny(fieldTags, textValues(c)), nil
	case knowledge.OpNe, knowledge.OpNin:
		return not(containsAny(fieldTags, textValues(c))), nil
	case knowledge.OpContains:
		return "array_contains_all(" + fieldTags + ", " + literals(textValues(c)) + ")", nil
	case knowledge.OpExists:
		return existingFact(c, hash(factTagged)), nil
	}
	return "", unsupported(c)
}

func compileTime(c knowledge.Condition) (string, error) {
	present := fieldCreated + " != 0"
	if c.Type == knowledge.OpExists {
		return existing(c, present, fieldCreated+" == 0"), nil
	}
	var times []string
	for _, value := range c.Values() {
		t, err := knowledge.FilterTime(value)
		if err != nil {
			return "", fmt.Errorf("filter on %s: %w", c.Field, err)
		}
		times = append(times, strconv.FormatInt(micros(t), 10))
	}
	isOneOf := and(present, fieldCreated+" in ["+strings.Join(times, ", ")+"]")
	switch c.Type {
	case knowledge.OpEq, knowledge.OpIn:
		return isOneOf, nil
	case knowledge.OpNe, knowledge.OpNin:
		return not(isOneOf), nil
	}
	if operator, ok := index.OrderOperator(c.Type); ok {
		return and(present, fieldCreated+" "+operator+" "+times[0]), nil
	}
	return "", unsupported(c)
}

func compileMetadata(c knowledge.Condition, key string) (string, error) {
	switch c.Type {
	case knowledge.OpEq:
		return containsAny(fieldFacts, factsAbout(factEquals, key, c)), nil
	case knowledge.OpNe:
		return not(containsAny(fieldFacts, factsAbout(factEquals, key, c))), nil
	case knowledge.OpIn:
		return containsAny(fieldFacts, factsIn(key, c)), nil
	case knowledge.OpNin:
		return not(containsAny(fieldFacts, factsIn(key, c))), nil
	case knowledge.OpExists:
		return existingFact(c, hash(factExists, key)), nil
	case knowledge.OpContains:
		element := containsAny(fieldFacts, factsAbout(factElement, key, c))
		switch text, ok := c.Value.(string); {
		case !ok:
			return element, nil
		case text == "":
			return containsAny(fieldFacts, append(factsAbout(factElement, key, c), hash(factText, key))), nil
		default:
			return containsText(textKey(key), text) + " or " + element, nil
		}
	}
	operator, ok := index.OrderOperator(c.Type)
	if !ok {
		return "", unsupported(c)
	}
	switch v := c.Value.(type) {
	case string:
		return member(textKey(key)) + " " + operator + " " + literal(letters(v)), nil
	case float64:
		return member(numberKey(key)) + " " + operator + " " + floating(v), nil
	}
	return "", unsupported(c)
}

// floating returns a number in the form of a floating point constant, which
// Milvus compares with all numbers of a JSON field.
func floating(v float64) string {
	number := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(number, ".e") {
		number += ".0"
	}
	return number
}

func factsAbout(kind, key string, c knowledge.Condition) []string {
	var facts []string
	for _, v := range c.Values() {
		facts = append(facts, factOf(kind, key, v))
	}
	return facts
}

// factsIn are the facts of values that are one of the condition's, or lists with one.
func factsIn(key string, c knowledge.Condition) []string {
	return append(factsAbout(factEquals, key, c), factsAbout(factElement, key, c)...)
}

func textValues(c knowledge.Condition) []string {
	var list []string
	for _, v := range c.Values() {
		if text, ok := v.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// existing returns present, or absent if the condition is exists false.
func existing(c knowledge.Condition, present, absent string) string {
	if c.Exists() {
		return present
	}
	return absent
}

func existingFact(c knowledge.Condition, fact string) string {
	present := containsAny(fieldFacts, []string{fact})
	return existing(c, present, not(present))
}

func unsupported(c knowledge.Condition) error {
	return invalid("the index cannot filter %s with %s", c.Field, c.Type)
}
