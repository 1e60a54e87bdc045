package question

import (
	"context"
	"io"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Attachment is what comes with a question: a document that the asker may read, or the
// content of a new one.
type Attachment struct {
	ID        string // of the document, "" = a new one
	Name      string
	Text      *string
	URL       *string // http or https; the ingestion fetches it
	Base64    *string
	File      io.Reader // of a file that came in a form; it is read once
	MediaType string
}

// Attachments takes in what comes with questions.
type Attachments interface {
	// Attach makes the new attachments documents of the conversation, with the permissions
	// of an upload into it, and makes the conversation if there is none. It returns the
	// principal as it sees the conversation, and the ids of all attachments. The same run
	// again makes no other documents. A document that the principal may not read is
	// CodeNotFound.
	Attach(ctx context.Context, p knowledge.Principal, c store.Conversation, run string, list []Attachment) (knowledge.Principal, []string, error)
}

func (r Request) checkAttachments() error {
	switch {
	case len(r.Attachments) == 0:
		return nil
	case len(r.Attachments) > knowledge.MaxAttachments:
		return knowledge.Invalid("body.attachments", "must have at most %d entries", knowledge.MaxAttachments)
	}
	return nil
}

// attach takes in the attachments of the question of a run. It returns the principal and
// the request with which the question continues, and the ids of the attachments.
func (s *Starter) attach(ctx context.Context, p knowledge.Principal, id, project string, r Request) (knowledge.Principal, Request, []string, error) {
	if len(r.Attachments) == 0 {
		return p, r, nil, nil
	}
	c := conversationOf(p, id, project, r, s.deps.Now())
	if r.Conversation != "" {
		c.ID = r.Conversation
	}
	p, ids, err := s.deps.Attachments.Attach(ctx, p, c, id, r.Attachments)
	if err != nil {
		return p, r, nil, err
	}
	if len(r.Documents) > 0 {
		r.Documents = slices.Concat(r.Documents, ids)
	}
	return p, r, ids, nil
}
