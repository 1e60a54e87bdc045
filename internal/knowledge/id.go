package knowledge

import (
	"crypto/rand"
	"crypto/sha1"
	"fmt"
	"regexp"
	"strconv"
)

// namespace is the UUID under which Cairn derives its own version 5 UUIDs.
const namespace = "\x5a\x1c\x0d\x3e\x6b\x0f\x4d\x39\x9a\x62\x0c\x8e\x71\xd4\x55\x20"

var slugPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// NewID draws a random UUID (version 4). Workflows must not call it.
func NewID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand never fails on the platforms Go supports
	}
	return formatUUID(b, 4)
}

// DocumentID is the id of the document that a project knows by externalID:
// a version 5 UUID, so the same upload always names the same document.
func DocumentID(workspace, project, externalID string) string {
	return derivedID("document", workspace, project, externalID)
}

// ChunkID is the id of one chunk of one version of a document, so that a
// retried write meets the row of the first try.
func ChunkID(documentID string, version, ordinal int) string {
	return derivedID("chunk", documentID, strconv.Itoa(version), strconv.Itoa(ordinal))
}

// DerivedID is a version 5 UUID over a kind and its parts, for every other
// thing whose id must be the same at each retry (the run of a document's
// version, the message of a run).
func DerivedID(kind string, parts ...string) string {
	return derivedID(append([]string{kind}, parts...)...)
}

// ValidSlug reports whether s can be the id of a workspace or a project:
// lower case letters, digits, '-' and '_', at most 63 of them (a UUID is one).
func ValidSlug(s string) bool { return slugPattern.MatchString(s) }

func derivedID(parts ...string) string {
	h := sha1.New()
	h.Write([]byte(namespace))
	for _, p := range parts {
		// The length before each part keeps ("a","bc") and ("ab","c") apart.
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	var b [16]byte
	copy(b[:], h.Sum(nil))
	return formatUUID(b, 5)
}

func formatUUID(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
