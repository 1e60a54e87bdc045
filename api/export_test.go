package api

import (
	"io"
	"os"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Spool keeps a form in a file, and returns the code of the error that a client
// sees.
func Spool(file *os.File, body io.Reader, boundary string) knowledge.Code {
	if _, err := (&spoolFile{file: file}).take(body, boundary); err != nil {
		return edge.Classify(err).Code
	}
	return ""
}
