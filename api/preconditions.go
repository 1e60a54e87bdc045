package api

import (
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MatchHeader is the header with which a request changes only what its caller has read.
type MatchHeader struct {
	IfMatch string `header:"If-Match" maxLength:"100" doc:"The ETag of what is to be changed, which is its time of change in quotes. If it was changed since, the answer is 409 and nothing is changed"`
}

// etagOf returns the ETag of what was changed last at a time.
func etagOf(changed time.Time) string {
	return `"` + storedTime(changed).Format(time.RFC3339Nano) + `"`
}

// storedTime returns a time as it is read from the store.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// since returns the time of change that the header names; nil = any.
func (h MatchHeader) since() (*time.Time, error) {
	if h.IfMatch == "" || h.IfMatch == "*" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339Nano, strings.Trim(h.IfMatch, `"`))
	if err != nil {
		return nil, knowledge.Invalid("header.If-Match", "must be the ETag of what is to be changed")
	}
	return &at, nil
}

// changedMeanwhile returns the error of a change of what was changed since the caller read it.
func changedMeanwhile(what, name string, at time.Time) error {
	return knowledge.Errorf(knowledge.CodeConflict, "the %s %q was changed meanwhile, at %s: read it again, and decide whether your change still holds", what, name, storedTime(at).Format(time.RFC3339))
}
