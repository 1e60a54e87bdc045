package notion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// property is a property of a page with its value, or of a table without one.
type property struct {
	ID    string
	Type  string
	value json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler. The value has the name of its type.
func (p *property) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	p.ID, p.Type = stringIn(fields["id"]), stringIn(fields["type"])
	p.value = fields[p.Type]
	return nil
}

// stringIn returns a string in JSON, "" for another value.
func stringIn(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// option is something that has a name: a value of a list, a person, a file.
type option struct {
	Name   string `json:"name"`
	Person struct {
		Email string `json:"email"`
	} `json:"person"`
	fileObject
}

// options returns a value that is a list, or one of them.
func (p property) options() []option {
	var list []option
	if json.Unmarshal(p.value, &list) == nil {
		return list
	}
	var one option
	if json.Unmarshal(p.value, &one) == nil && one.Name != "" {
		return []option{one}
	}
	return nil
}

// text returns the value of a property as people read it. Relations have ids alone, which
// are no text.
func (p property) text() string { return p.textAt(maxComputed) }

// textAt is text, of computed values that are nested at most so deep.
func (p property) textAt(depth int) string {
	switch p.Type {
	case "title", "rich_text":
		return plain(texts(p.value))
	case "select", "status", "multi_select", "people", "files", "created_by", "last_edited_by":
		var names []string
		for _, o := range p.options() {
			names = append(names, o.Name)
		}
		return strings.Join(names, ", ")
	case "date":
		return dateIn(p.value)
	case "number", "checkbox":
		return scalar(p.value)
	case "url", "email", "phone_number", "created_time", "last_edited_time", "string":
		return stringIn(p.value)
	case "boolean":
		return scalar(p.value)
	case "formula", "rollup":
		return computedIn(p.value, depth)
	case "unique_id":
		var id struct {
			Prefix string      `json:"prefix"`
			Number json.Number `json:"number"`
		}
		if json.Unmarshal(p.value, &id) != nil || id.Number == "" {
			return ""
		}
		return strings.TrimPrefix(id.Prefix+"-"+id.Number.String(), "-")
	}
	return ""
}

// scalar returns a number or a truth value, "" for null.
func scalar(raw json.RawMessage) string {
	if text := strings.TrimSpace(string(raw)); text != "null" && !strings.ContainsAny(text, `"{[`) {
		return text
	}
	return ""
}

func dateIn(raw json.RawMessage) string {
	var d struct {
		Start string `json:"start"`
		End   string `json:"end"`
	}
	if json.Unmarshal(raw, &d) != nil {
		return ""
	}
	if d.End != "" {
		return d.Start + " – " + d.End
	}
	return d.Start
}

// maxComputed bounds how deep computed values are nested.
const maxComputed = 5

// computedIn returns the value of a formula, or of a rollup.
func computedIn(raw json.RawMessage, depth int) string {
	var inner property
	if depth == 0 || json.Unmarshal(raw, &inner) != nil {
		return ""
	}
	var list []json.RawMessage
	if inner.Type != "array" || json.Unmarshal(inner.value, &list) != nil {
		return inner.textAt(depth - 1)
	}
	var parts []string
	for _, one := range list {
		if text := computedIn(one, depth-1); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// fileObject is a file that Notion keeps, or a link to one elsewhere.
type fileObject struct {
	Type string `json:"type"`
	File struct {
		URL string `json:"url"` // is signed, for an hour
	} `json:"file"`
	External struct {
		URL string `json:"url"`
	} `json:"external"`
}

// isHosted reports whether Notion keeps the file.
func (f fileObject) isHosted() bool { return f.Type == "file" && f.File.URL != "" }

// name returns the name of a file in its address.
func (f fileObject) name() string {
	u, err := url.Parse(f.File.URL + f.External.URL)
	if err != nil {
		return ""
	}
	return path.Base("/" + u.Path)
}

// tag changes with the file: Notion keeps each under an address of its own, of which the
// signature alone changes.
func (f fileObject) tag() string {
	u, err := url.Parse(f.File.URL)
	if err != nil {
		return ""
	}
	return short(u.Host + u.Path)
}

// short returns a short name of a text.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// attachment is a file that Notion keeps, as the index knows it.
type attachment struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Tag  string `json:"tag"`
	At   string `json:"at"` // behind "#" in its address
}

// attached returns the files in a property of a page, with their places in it.
func (p property) attached(page string) []attachment {
	var list []attachment
	p.eachFile(page, func(key string, o option) {
		list = append(list, attachment{Key: key, Name: o.Name, Tag: o.tag(), At: strings.ReplaceAll(url.PathEscape(p.ID), "%", "")})
	})
	return list
}

// eachFile calls f for each file in a property of a page, with its key. Two files of one name
// are told apart by their order.
func (p property) eachFile(page string, f func(key string, o option)) {
	if p.Type != "files" {
		return
	}
	var before []string
	for _, o := range p.options() {
		if !o.isHosted() {
			continue
		}
		if o.Name == "" {
			o.Name = o.name()
		}
		same := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return name != o.Name })
		f(fmt.Sprintf("%s%s:%s:%d", keyFile, page, short(p.ID+" "+o.Name), len(same)), o)
		before = append(before, o.Name)
	}
}
