package record

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/store"
)

// Messages reads conversations.
type Messages interface {
	// History returns the summary of the principal's conversation, and its last n messages
	// behind it, oldest first.
	History(ctx context.Context, p knowledge.Principal, conversation string, n int) (store.History, error)
}

// History returns the messages of a conversation that the model is shown: its summary, if it
// has one, and the newest messages behind it that are within the limits. overlong reports that
// messages between the two are left out.
func History(ctx context.Context, m Messages, p knowledge.Principal, conversation string, limits knowledge.HistoryConfig) (list []knowledge.Message, overlong bool, err error) {
	h, err := m.History(ctx, p, conversation, *limits.Messages)
	if err != nil {
		return nil, false, fmt.Errorf("read conversation %s: %w", conversation, err)
	}
	var start []knowledge.Message
	if h.Summary != "" {
		start = append(start, prompt.Summarized(h.Summary))
	}
	said := WithWords(h.Messages)
	newest := prompt.History(said, limits.Tokens)
	return append(start, newest...), h.More || len(newest) < len(said), nil
}

// WithWords returns messages as the model is shown them, without those that have no words.
func WithWords(messages []store.Message) []knowledge.Message {
	list := make([]knowledge.Message, 0, len(messages))
	for _, m := range messages {
		if m.Text != "" {
			list = append(list, knowledge.Message{Role: m.Role, Content: prompt.WithoutReflection(citation.Strip(m.Text))})
		}
	}
	return list
}
