package knowledge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of what describes a document.
const (
	maxTags        = 64
	maxTagLength   = 128      // code points
	MaxMetadata    = 16 << 10 // bytes of JSON
	maxExternalID  = 1024     // bytes
	maxAccessNames = 200      // of users, and of groups
	maxAccessName  = 256      // bytes
)

// TagFields returns what is wrong with a list of tags that stands at location.
func TagFields(location string, tags []string) []Field {
	if len(tags) > maxTags {
		return []Field{{Location: location, Message: fmt.Sprintf("must have at most %d tags", maxTags)}}
	}
	var wrong []Field
	for i, tag := range tags {
		if strings.TrimSpace(tag) == "" || utf8.RuneCountInString(tag) > maxTagLength || HasControl(tag) {
			wrong = append(wrong, Field{
				Location: fmt.Sprintf("%s[%d]", location, i),
				Message:  fmt.Sprintf("must have 1 to %d characters, none of them a control character", maxTagLength),
			})
		}
	}
	return wrong
}

// MetadataFields returns what is wrong with metadata that stands at location.
func MetadataFields(location string, metadata map[string]any) []Field {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false) // the caller did not send the escapes
	if err := encoder.Encode(metadata); err != nil || encoded.Len()-len("\n") > MaxMetadata {
		return []Field{{Location: location, Message: fmt.Sprintf("must have at most %d bytes as JSON", MaxMetadata)}}
	}
	return nil
}

// ExternalIDFields returns what is wrong with an application's own id of a
// document.
func ExternalIDFields(location, id string) []Field {
	if len(id) > maxExternalID || !utf8.ValidString(id) || HasControl(id) {
		return []Field{{Location: location, Message: fmt.Sprintf("must have at most %d bytes, none of them a control character", maxExternalID)}}
	}
	return nil
}

// Fields returns what is wrong with the names in an access that stands at
// location.
func (a Access) Fields(location string) []Field {
	wrong := accessNames(location+".users", a.Users)
	return append(wrong, accessNames(location+".groups", a.Groups)...)
}

func accessNames(location string, names []string) []Field {
	if len(names) > maxAccessNames {
		return []Field{{Location: location, Message: fmt.Sprintf("must have at most %d names", maxAccessNames)}}
	}
	var wrong []Field
	for i, name := range names {
		wrong = append(wrong, UserFields(fmt.Sprintf("%s[%d]", location, i), name)...)
	}
	return wrong
}

// UserFields returns what is wrong with the name of a user or a group.
func UserFields(location, name string) []Field {
	if name == "" || len(name) > maxAccessName || HasControl(name) {
		return []Field{{Location: location, Message: fmt.Sprintf("must be 1 to %d bytes without control characters", maxAccessName)}}
	}
	return nil
}

// HasControl reports whether s has an ASCII control character.
func HasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}
