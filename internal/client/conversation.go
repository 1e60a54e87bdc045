package client

import (
	"context"
	"net/http"
	"time"
)

// Conversation is one of the caller's conversations.
type Conversation struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	ProjectID string    `json:"project_id,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ConversationQuery filters a list of conversations. Zero fields do not filter.
type ConversationQuery struct {
	Words  string // each begins a word of the title or of a message
	Cursor string
	Limit  int // 0 = the server's 50
}

// Conversations lists the caller's conversations, the newest first.
func (c *Client) Conversations(ctx context.Context, q ConversationQuery) (List[Conversation], error) {
	query := paging(q.Cursor, q.Limit)
	setString(query, "q", q.Words)
	setString(query, "external_user_id", c.user)
	var list List[Conversation]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("conversations"), query, nil, &list)
	return list, err
}
