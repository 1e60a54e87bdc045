package scim

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	scim "github.com/elimity-com/scim"
	"github.com/elimity-com/scim/errors"
	"github.com/elimity-com/scim/schema"
	parser "github.com/scim2/filter-parser/v2"
)

// apply changes attributes by the operations of a PATCH, which were validated.
func (r resource) apply(attributes object, operations []scim.PatchOperation) error {
	for _, o := range operations {
		if o.Path != nil {
			if err := r.applyAt(attributes, *o.Path, o.Op, o.Value); err != nil {
				return err
			}
			continue
		}
		value, ok := o.Value.(object)
		if !ok {
			return errors.ScimErrorInvalidValue
		}
		if err := r.applyAll(attributes, o.Op, value); err != nil {
			return err
		}
	}
	return nil
}

// applyAll applies an operation without a path: the names of its value are paths.
func (r resource) applyAll(attributes object, op string, value object) error {
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if inner, ok := value[name].(object); ok && r.hasExtension(name) {
			for sub, one := range inner {
				path := parser.Path{AttributePath: parser.AttributePath{URIPrefix: &name, AttributeName: sub}}
				if err := r.applyAt(attributes, path, op, one); err != nil {
					return err
				}
			}
			continue
		}
		path, err := parser.ParsePath([]byte(name))
		if err != nil {
			return errors.ScimErrorInvalidPath
		}
		if err := r.applyAt(attributes, path, op, value[name]); err != nil {
			return err
		}
	}
	return nil
}

func (r resource) hasExtension(id string) bool {
	return slices.ContainsFunc(r.extensions, func(s schema.Schema) bool { return s.ID == id })
}

// applyAt applies an operation at a path.
func (r resource) applyAt(attributes object, path parser.Path, op string, value any) error {
	attribute, of, known := r.attribute(path.AttributePath.URI(), path.AttributePath.AttributeName)
	if !known {
		return errors.ScimErrorInvalidPath
	}
	if r.isExtension(of) {
		inner, ok := attributes[of.ID].(object)
		if !ok {
			inner = object{}
			attributes[of.ID] = inner
		}
		attributes = inner
	}
	name := attribute.Name()
	sub, err := subName(attribute, path)
	switch {
	case err != nil:
		return err
	case path.ValueExpression != nil:
		attributes[name] = applySome(listOf(attributes[name]), attribute, path.ValueExpression, sub, op, value)
	case sub != "":
		return applySub(attributes, attribute, sub, op, value)
	case attribute.MultiValued():
		attributes[name] = applyList(listOf(attributes[name]), op, value)
	case op == scim.PatchOperationRemove:
		delete(attributes, name)
	default:
		attributes[name] = merged(attributes[name], value)
	}
	if list, ok := attributes[name].([]any); ok && len(list) == 0 {
		delete(attributes, name)
	}
	return nil
}

// subName returns the name of the sub-attribute that a path has, as the schema writes it.
func subName(attribute schema.CoreAttribute, path parser.Path) (string, error) {
	sub := path.AttributePath.SubAttributeName()
	if path.SubAttribute != nil {
		sub = *path.SubAttribute
	}
	if sub == "" {
		return "", nil
	}
	known, ok := attribute.SubAttributes().ContainsAttribute(sub)
	if !ok {
		return "", errors.ScimErrorInvalidPath
	}
	return known.Name(), nil
}

// applySub changes a sub-attribute of an object.
func applySub(attributes object, attribute schema.CoreAttribute, sub, op string, value any) error {
	if attribute.MultiValued() {
		return errors.ScimErrorNoTarget
	}
	inner, _ := attributes[attribute.Name()].(object)
	inner = maps.Clone(inner)
	if inner == nil {
		inner = object{}
	}
	set(inner, sub, op, value)
	if attributes[attribute.Name()] = inner; len(inner) == 0 {
		delete(attributes, attribute.Name())
	}
	return nil
}

func set(o object, name, op string, value any) {
	if op == scim.PatchOperationRemove {
		delete(o, name)
		return
	}
	o[name] = value
}

// merged returns an object with the members of a new value, and any other value as it is.
func merged(before, value any) any {
	old, isObject := before.(object)
	added, ok := value.(object)
	if !isObject || !ok {
		return value
	}
	all := maps.Clone(old)
	maps.Copy(all, added)
	return all
}

// applyList changes a whole list. A removal with values removes these elements alone, as Entra
// ID asks for it.
func applyList(list []any, op string, value any) []any {
	values := listOf(value)
	switch op {
	case scim.PatchOperationReplace:
		return values
	case scim.PatchOperationAdd:
		for _, one := range values {
			if !slices.ContainsFunc(list, func(other any) bool { return isSame(other, one) }) {
				list = append(list, one)
			}
		}
		return list
	}
	if value == nil {
		return nil
	}
	return slices.DeleteFunc(list, func(other any) bool {
		return slices.ContainsFunc(values, func(one any) bool { return isSame(other, one) })
	})
}

// isSame reports whether two elements of a list are the same one: objects are if they have the
// same value and, if both have one, the same type.
func isSame(a, b any) bool {
	x, ok := a.(object)
	y, both := b.(object)
	if !ok || !both || x["value"] == nil || y["value"] == nil {
		return reflect.DeepEqual(a, b)
	}
	return x["value"] == y["value"] && (x["type"] == nil || y["type"] == nil || x["type"] == y["type"])
}

// applySome changes the elements of a list that a filter selects. If there are none, add and
// replace make one that it would select, as identity providers expect.
func applySome(list []any, attribute schema.CoreAttribute, filter parser.Expression, sub, op string, value any) []any {
	inner := resource{core: schema.Schema{Attributes: attribute.SubAttributes()}}
	var changed []any
	some := false
	for _, one := range list {
		element, ok := one.(object)
		if !ok || !inner.matches(element, filter) {
			changed = append(changed, one)
			continue
		}
		some = true
		if op == scim.PatchOperationRemove && sub == "" {
			continue
		}
		changed = append(changed, changedElement(element, sub, op, value))
	}
	if some || op == scim.PatchOperationRemove {
		return changed
	}
	return append(changed, changedElement(selected(attribute, filter), sub, op, value))
}

func changedElement(element object, sub, op string, value any) any {
	if sub == "" {
		if list, ok := value.([]any); ok && len(list) == 1 {
			value = list[0]
		}
		return merged(element, value)
	}
	element = maps.Clone(element)
	set(element, sub, op, value)
	return element
}

// selected returns an element that a filter of equalities selects.
func selected(attribute schema.CoreAttribute, filter parser.Expression) object {
	element := object{}
	for path, value := range equals(filter) {
		if known, ok := attribute.SubAttributes().ContainsAttribute(path); ok {
			element[known.Name()] = value
		}
	}
	if e, ok := filter.(*parser.AttributeExpression); ok && strings.EqualFold(e.AttributePath.AttributeName, "primary") {
		element["primary"] = e.CompareValue
	}
	return element
}

// listOf returns a list as it is, an object as a list of it, and nothing as an empty list.
func listOf(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return slices.Clone(v)
	}
	return []any{value}
}
