package api

import (
	"io"
	"os"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Spool keeps a form in a file, and returns the code of the error that a client
// sees.
func Spool(file *os.File, body io.Reader, boundary string) knowledge.Code {
	if _, err := (&spoolFile{file: file}).take(body, boundary); err != nil {
		return edge.Classify(err).Code
	}
	return ""
}

// SignFileLinks returns the words of an answer with signed links.
func SignFileLinks(access Access, public string, p knowledge.Principal, run string, words ...string) string {
	l := (&views{publicURL: public, access: access, now: time.Now}).fileLinks(p, store.Run{ID: run})
	out := ""
	for _, w := range words {
		out += l.Write(w)
	}
	return out + l.Close()
}

// SignExpected returns what is certain of the words of an answer whose run has this file.
func SignExpected(access Access, p knowledge.Principal, run string, file knowledge.RunFile, words string) string {
	l := (&views{access: access, now: time.Now}).fileLinks(p, store.Run{ID: run})
	l.expect([]knowledge.RunFile{file})
	return l.Write(words)
}
