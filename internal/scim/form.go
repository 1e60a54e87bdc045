package scim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/elimity-com/scim/schema"
)

// object is a JSON object.
type object = map[string]any

// booleans are the attributes that are true or false.
const booleans = " active primary "

// textBoolean is a boolean in a filter that stands there as a text.
var textBoolean = regexp.MustCompile(`(?i)\b(primary|active)(\s+eq\s+)"(true|false)"`)

// reform returns a body in the form that the standard asks for: booleans that came as texts
// are booleans, null is left out, and an object that came as its value alone is an object. What
// is no JSON object is returned as it is, and refused later.
func reform(body []byte, extension schema.Schema) []byte {
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		return body
	}
	o = plainObject(o)
	for name, value := range o {
		if list, ok := value.([]any); ok && strings.EqualFold(name, "Operations") {
			var plain []any
			for _, one := range list {
				if operation, ok := one.(object); ok {
					plain = append(plain, ofExtension(plainOperation(operation), extension)...)
				} else {
					plain = append(plain, one)
				}
			}
			o[name] = plain
		}
	}
	reformed, err := json.Marshal(o)
	if err != nil {
		return body
	}
	return reformed
}

// plainObject reforms the members of an object.
func plainObject(o object) object {
	plain := make(object, len(o))
	for name, value := range o {
		if value = plainValue(name, value); value != nil {
			plain[name] = value
		}
	}
	return plain
}

func plainValue(name string, value any) any {
	last := name[strings.LastIndexAny(name, ".:]")+1:] // of a path
	switch v := value.(type) {
	case string:
		if text := strings.ToLower(v); strings.Contains(booleans, " "+strings.ToLower(last)+" ") && (text == "true" || text == "false") {
			return text == "true"
		}
		if strings.EqualFold(last, "manager") {
			return object{"value": v}
		}
	case object:
		return plainObject(v)
	case []any:
		list := make([]any, 0, len(v))
		for _, one := range v {
			if one = plainValue(name, one); one != nil {
				list = append(list, one)
			}
		}
		return list
	}
	return value
}

// plainOperation reforms an operation of PATCH, whose value is that of the attribute that its
// path names. One that sets null removes.
func plainOperation(o object) object {
	path, _ := o["path"].(string)
	if path = textBoolean.ReplaceAllString(path, "$1$2$3"); path != "" {
		path = lowerBooleans(path)
		o["path"] = path
	}
	value, there := o["value"]
	if there {
		value = plainValue(path, value)
	}
	if op := fmt.Sprint(o["op"]); value == nil && path != "" && !strings.EqualFold(op, "remove") {
		o["op"] = "remove"
	}
	if delete(o, "value"); value != nil {
		o["value"] = value
	}
	return o
}

// ofExtension returns an operation, of which one at the whole of an extension is taken apart.
func ofExtension(o object, extension schema.Schema) []any {
	path, _ := o["path"].(string)
	if !strings.EqualFold(path, extension.ID) {
		return []any{o}
	}
	value, there := o["value"]
	if inner, ok := value.(object); ok {
		delete(inner, "schemas") // an extension is no resource of its own
	}
	if there && !strings.EqualFold(fmt.Sprint(o["op"]), "remove") {
		return []any{object{"op": o["op"], "value": object{extension.ID: value}}}
	}
	var all []any
	for _, attribute := range extension.Attributes {
		all = append(all, object{"op": o["op"], "path": extension.ID + ":" + attribute.Name()})
	}
	return all
}

// lowerBooleans writes the booleans of a path as the standard does.
func lowerBooleans(path string) string {
	return regexp.MustCompile(`(?i)\b(eq\s+)(true|false)\b`).ReplaceAllStringFunc(path, strings.ToLower)
}
