package scim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxName is how long a name is at most, in bytes.
	maxName = 256
	// maxAttributes bounds what is stored of a user, in bytes.
	maxAttributes = 64 << 10
)

// checkName refuses a name that a member or a group cannot have.
func checkName(attribute, name string) error {
	if strings.TrimSpace(name) == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return knowledge.Invalid(attribute, "must be 1 to %d bytes, without control characters", maxName)
	}
	return nil
}

// isEmpty reports whether an attribute of this value counts as not there.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}

// listed returns the value of an attribute of a user: an object in the place of a list is the
// list of it.
func listed(name string, value any) any {
	switch name {
	case "emails", "phoneNumbers", "addresses", roles:
		return listOf(value)
	}
	return value
}
