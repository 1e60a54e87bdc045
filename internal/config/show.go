package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mask stands for a secret that is set.
const mask = "********"

// Masked returns the whole configuration as YAML, with a mask in the place of
// each secret that is set. Secrets that variables hold are not in it at all, only
// the names of the variables. The masks have to be replaced before it can be read.
func (c Config) Masked() string {
	root := &yaml.Node{Kind: yaml.MappingNode}
	if c.Auth.JWT.SecretEnv != "" {
		c.Auth.JWT.Secret = "" // it is the variable's
	}
	value := reflect.ValueOf(c)
	for _, f := range fields() {
		parts := strings.Split(f.key, ".")
		section := root
		for _, part := range parts[:len(parts)-1] {
			section = child(section, part)
		}
		v := value.FieldByIndex(f.index)
		node := &yaml.Node{}
		switch {
		case f.secret && !v.IsZero():
			node.SetString(mask)
		default:
			if err := node.Encode(shown(f, v)); err != nil {
				node.SetString(fmt.Sprint(v.Interface())) // no type of ours comes here
			}
		}
		section.Content = append(section.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: parts[len(parts)-1]}, node)
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return "# " + err.Error() + "\n"
	}
	return out.String()
}

// shown is the value of a field as somebody would write it into the file.
func shown(f field, v reflect.Value) any {
	switch {
	case isSections(v.Type()):
		list := []yaml.Node{}
		for i := range v.Len() {
			list = append(list, shownSection(f, v.Index(i)))
		}
		return list
	case isNamed(v.Type()):
		named := map[string]yaml.Node{}
		for _, name := range v.MapKeys() {
			named[name.String()] = shownSection(f, v.MapIndex(name))
		}
		return named
	case v.Kind() == reflect.Slice:
		list := []string{}
		for i := range v.Len() {
			list = append(list, fmt.Sprint(v.Index(i).Interface()))
		}
		return list
	default:
		if s, ok := v.Interface().(fmt.Stringer); ok {
			return s.String()
		}
		return v.Interface()
	}
}

// shownSection is a section of the list or map in a field. Its keys hold no secrets.
func shownSection(in field, v reflect.Value) yaml.Node {
	section := yaml.Node{Kind: yaml.MappingNode}
	for _, f := range in.sections() {
		node := &yaml.Node{}
		if err := node.Encode(shown(f, v.FieldByIndex(f.index))); err != nil {
			node.SetString(err.Error()) // as in Masked
		}
		name := f.key[strings.LastIndex(f.key, ".")+1:]
		section.Content = append(section.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, node)
	}
	return section
}

// child returns the section of a name inside another, and makes it if it is missing.
func child(section *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(section.Content); i += 2 {
		if section.Content[i].Value == name {
			return section.Content[i+1]
		}
	}
	made := &yaml.Node{Kind: yaml.MappingNode}
	section.Content = append(section.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, made)
	return made
}
