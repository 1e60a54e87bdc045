package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// secretStart stands before every secret, as Standard Webhooks say.
const secretStart = "whsec_"

// The length of the key in a secret, in bytes.
const (
	minKey = 24
	maxKey = 64
	newKey = 32
)

// maxAPIKey bounds an API key, in bytes.
const maxAPIKey = 1000

// NewSecret returns a random secret.
func NewSecret() string {
	key := make([]byte, newKey)
	_, _ = rand.Read(key) // Read never returns an error
	return secretStart + base64.StdEncoding.EncodeToString(key)
}

// CheckSecret returns a secret that a user gave in its full form, or CodeInvalid at
// location.
func CheckSecret(secret, location string) (string, error) {
	encoded := strings.TrimPrefix(secret, secretStart)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) < minKey || len(key) > maxKey {
		return "", knowledge.Invalid(location, "must be whsec_ and 24 to 64 bytes in base64; leave it out to have one made")
	}
	return secretStart + encoded, nil
}

// CheckAPIKey returns CodeInvalid for a key that cannot be sent in a header.
func CheckAPIKey(key, location string) error {
	if len(key) > maxAPIKey || strings.TrimSpace(key) != key || strings.ContainsFunc(key, func(c rune) bool { return c > unicode.MaxASCII || !unicode.IsPrint(c) }) {
		return knowledge.Invalid(location, "must be at most 1000 printable ASCII characters, without a space at its ends")
	}
	return nil
}

// SecretContext is the context for which the secret of a webhook is sealed.
func SecretContext(workspace, webhook string) string {
	return "webhook secret " + workspace + "/" + webhook
}

// CallbackContext is the context for which the secrets of callbacks are sealed.
func CallbackContext(workspace string) string {
	return "callback secret " + workspace
}

// HeadersContext is the context for which the headers of a callback are sealed.
func HeadersContext(workspace string) string { return "callback headers " + workspace }

// APIKeyContext is the context for which the API key of a webhook is sealed.
func APIKeyContext(workspace, webhook string) string {
	return "webhook api key " + workspace + "/" + webhook
}
