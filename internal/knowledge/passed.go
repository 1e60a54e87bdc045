package knowledge

import (
	"encoding/json"
	"fmt"
)

// maxPassed bounds each field of Passed, in bytes of JSON.
const maxPassed = 64 << 10

// Passed is JSON that an asker sends to the queries webhook of the project. Cairn itself
// does not read it.
type Passed struct {
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	WebhookPayload json.RawMessage `json:"webhookPayload,omitempty"`
	Interface      json.RawMessage `json:"interface,omitempty"`
}

// IsZero reports whether there is nothing to pass.
func (p Passed) IsZero() bool {
	return len(p.Metadata)+len(p.WebhookPayload)+len(p.Interface) == 0
}

// Fields returns what is wrong with the fields of a body at location.
func (p Passed) Fields(location string) []Field {
	var wrong []Field
	for _, f := range []struct {
		name  string
		value json.RawMessage
	}{{"metadata", p.Metadata}, {"webhookPayload", p.WebhookPayload}, {"interface", p.Interface}} {
		if len(f.value) > maxPassed {
			wrong = append(wrong, Field{location + "." + f.name, fmt.Sprintf("must have at most %d bytes as JSON", maxPassed)})
		}
	}
	return wrong
}
