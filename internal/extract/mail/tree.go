package mail

import (
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/jhillyerd/enmime/v2"
)

// ReadParts reads a message whose parts are known, as a file of another form states them.
// Text parts are UTF-8. Errors are the errors of Read.
func ReadParts(s format.Source, root *enmime.Part) (format.Result, error) {
	w := writer{source: s}
	if err := w.message(root, false); err != nil {
		return format.Result{}, err
	}
	return w.result, nil
}

// Parse returns the parts of a message. Errors are *knowledge.Error if the message is at
// fault.
func Parse(message []byte) (*enmime.Part, error) { return parse(message) }
