package scim

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/elimity-com/scim/schema"
	parser "github.com/scim2/filter-parser/v2"
)

// matches reports whether attributes satisfy a filter that was validated.
func (r resource) matches(attributes object, expression parser.Expression) bool {
	switch e := expression.(type) {
	case *parser.LogicalExpression:
		if e.Operator == parser.AND {
			return r.matches(attributes, e.Left) && r.matches(attributes, e.Right)
		}
		return r.matches(attributes, e.Left) || r.matches(attributes, e.Right)
	case *parser.NotExpression:
		return !r.matches(attributes, e.Expression)
	case *parser.AttributeExpression:
		values, attribute := r.values(attributes, e.AttributePath)
		return compareAny(values, attribute, e)
	case *parser.ValuePath:
		values, attribute := r.values(attributes, e.AttributePath)
		inner := resource{core: schema.Schema{Attributes: attribute.SubAttributes()}}
		for _, value := range values {
			if element, ok := value.(object); ok && inner.matches(element, e.ValueFilter) {
				return true
			}
		}
	}
	return false
}

// values returns the values at a path, those of each element of a list, with the attribute that
// the path names.
func (r resource) values(attributes object, path parser.AttributePath) ([]any, schema.CoreAttribute) {
	attribute, of, known := r.attribute(path.URI(), path.AttributeName)
	if !known {
		return nil, attribute
	}
	if r.isExtension(of) {
		attributes, _ = attributes[of.ID].(object)
	}
	values := []any{attributes[attribute.Name()]}
	if list, ok := values[0].([]any); ok {
		values = list
	}
	sub := path.SubAttributeName()
	if sub == "" && attribute.MultiValued() && attribute.HasSubAttributes() {
		return values, attribute
	}
	if sub == "" {
		return values, attribute
	}
	subAttribute, known := attribute.SubAttributes().ContainsAttribute(sub)
	if !known {
		return nil, attribute
	}
	inner := make([]any, 0, len(values))
	for _, value := range values {
		if element, ok := value.(object); ok {
			inner = append(inner, element[subAttribute.Name()])
		}
	}
	return inner, subAttribute
}

// compareAny reports whether one of the values satisfies a comparison. An object stands for its
// attribute value.
func compareAny(values []any, attribute schema.CoreAttribute, e *parser.AttributeExpression) bool {
	for _, value := range values {
		if element, ok := value.(object); ok && e.Operator != parser.PR {
			value = element["value"]
		}
		if value != nil && compare(value, e.CompareValue, e.Operator, attribute.CaseExact()) {
			return true
		}
	}
	return e.Operator == parser.NE && len(values) == 0
}

// compare reports whether a value has a relation to another one. Values of different kinds
// have none but ne.
func compare(value, other any, operator parser.CompareOperator, caseExact bool) bool {
	if operator == parser.PR {
		return value != ""
	}
	a, b := fmt.Sprint(value), fmt.Sprint(other)
	if !caseExact {
		a, b = strings.ToLower(a), strings.ToLower(b)
	}
	switch operator {
	case parser.EQ:
		return a == b
	case parser.NE:
		return a != b
	case parser.CO:
		return strings.Contains(a, b)
	case parser.SW:
		return strings.HasPrefix(a, b)
	case parser.EW:
		return strings.HasSuffix(a, b)
	case parser.GT:
		return cmp.Compare(a, b) > 0
	case parser.GE:
		return cmp.Compare(a, b) >= 0
	case parser.LT:
		return cmp.Compare(a, b) < 0
	case parser.LE:
		return cmp.Compare(a, b) <= 0
	}
	return false
}

// equals returns the texts that a filter asks certain attributes to equal, by their paths in
// lower case: those that hold for all that it selects.
func equals(expression parser.Expression) map[string]string {
	found := map[string]string{}
	switch e := expression.(type) {
	case *parser.LogicalExpression:
		if e.Operator == parser.AND {
			for _, side := range []parser.Expression{e.Left, e.Right} {
				for path, value := range equals(side) {
					found[path] = value
				}
			}
		}
	case *parser.AttributeExpression:
		if text, ok := e.CompareValue.(string); ok && e.Operator == parser.EQ {
			path := e.AttributePath
			path.URIPrefix = nil
			found[strings.ToLower(path.String())] = text
		}
	case *parser.ValuePath:
		for path, value := range equals(e.ValueFilter) {
			found[strings.ToLower(e.AttributePath.AttributeName)+"."+path] = value
		}
	}
	return found
}
