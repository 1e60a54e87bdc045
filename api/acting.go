package api

import (
	"context"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// inConversation returns the principal as it sees the attachments of a
// conversation, if the conversation is its own.
func (s *Server) inConversation(ctx context.Context, p knowledge.Principal, id string) (knowledge.Principal, error) {
	if id == "" {
		return p, nil
	}
	there, err := s.deps.Access.As(ctx, p, access.Acting{User: p.User(), ExternalUser: p.ExternalUser(), Session: id})
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return p, nil
	}
	return there, err
}
