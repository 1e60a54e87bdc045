package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The limits of what describes a document.
const (
	maxTags          = 64
	maxTagLength     = 128      // code points
	maxMetadata      = 16 << 10 // bytes of JSON
	maxExternalID    = 1024     // bytes
	maxAccessNames   = 200      // of users, and of groups
	maxAccessName    = 256      // bytes
	maxSourceAddress = 2048     // bytes
)

// accessBody is who may read a document, as a request says it.
type accessBody struct {
	Workspace bool     `json:"workspace,omitempty" doc:"Everybody in the workspace"`
	Users     []string `json:"users,omitempty"`
	Groups    []string `json:"groups,omitempty"`
}

func (a accessBody) access() knowledge.Access {
	return knowledge.Access{Workspace: a.Workspace, Users: a.Users, Groups: a.Groups}
}

func (a accessBody) fields(location string) []knowledge.Field {
	wrong := nameFields(location+".users", a.Users)
	return append(wrong, nameFields(location+".groups", a.Groups)...)
}

func nameFields(location string, names []string) []knowledge.Field {
	if len(names) > maxAccessNames {
		return []knowledge.Field{{Location: location, Message: fmt.Sprintf("must have at most %d names", maxAccessNames)}}
	}
	var wrong []knowledge.Field
	for i, name := range names {
		if name == "" || len(name) > maxAccessName || hasControl(name) {
			wrong = append(wrong, knowledge.Field{
				Location: fmt.Sprintf("%s[%d]", location, i),
				Message:  fmt.Sprintf("must be 1 to %d bytes without control characters", maxAccessName),
			})
		}
	}
	return wrong
}

func tagFields(tags []string) []knowledge.Field {
	const location = "body.tags"
	if len(tags) > maxTags {
		return []knowledge.Field{{Location: location, Message: fmt.Sprintf("must have at most %d tags", maxTags)}}
	}
	var wrong []knowledge.Field
	for i, tag := range tags {
		if strings.TrimSpace(tag) == "" || utf8.RuneCountInString(tag) > maxTagLength || hasControl(tag) {
			wrong = append(wrong, knowledge.Field{
				Location: fmt.Sprintf("%s[%d]", location, i),
				Message:  fmt.Sprintf("must have 1 to %d characters, none of them a control character", maxTagLength),
			})
		}
	}
	return wrong
}

func metadataFields(location string, metadata map[string]any) []knowledge.Field {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false) // it is not what the caller sent
	if err := encoder.Encode(metadata); err != nil || encoded.Len()-len("\n") > maxMetadata {
		return []knowledge.Field{{Location: location, Message: fmt.Sprintf("must have at most %d bytes as JSON", maxMetadata)}}
	}
	return nil
}

func externalIDFields(location, id string) []knowledge.Field {
	if len(id) > maxExternalID || !utf8.ValidString(id) || hasControl(id) {
		return []knowledge.Field{{Location: location, Message: fmt.Sprintf("must have at most %d bytes, none of them a control character", maxExternalID)}}
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}
