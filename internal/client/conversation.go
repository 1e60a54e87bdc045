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

// NewConversation is a conversation that was held elsewhere.
type NewConversation struct {
	ExternalID string       `json:"external_id"`
	Project    string       `json:"project_id,omitempty"`
	Title      string       `json:"title,omitempty"`
	CreatedAt  *time.Time   `json:"created_at,omitempty"` // nil = now
	Messages   []NewMessage `json:"messages"`             // oldest first
	// UserID or ExternalUserID is the person of the workspace, or the user of the
	// application, whose conversation it is. Without either it is the caller's own.
	UserID         string `json:"userId,omitempty"`
	ExternalUserID string `json:"externalUserId,omitempty"`
}

// NewMessage is a message of a conversation that was held elsewhere.
type NewMessage struct {
	Role      string     `json:"role"` // user or assistant
	Text      string     `json:"text"`
	CreatedAt *time.Time `json:"created_at,omitempty"` // nil = as the one before
}

// ImportedConversation is what such a conversation became.
type ImportedConversation struct {
	Conversation
	Unchanged bool `json:"unchanged"` // it was there already
}

// ImportConversation makes a conversation of messages from elsewhere. If the connection is
// lost, it repeats the request until Config.Patience has passed.
func (c *Client) ImportConversation(ctx context.Context, n NewConversation) (made ImportedConversation, err error) {
	err = c.retryRequest(ctx, func() error {
		_, err := c.call(ctx, http.MethodPost, c.inWorkspace("conversations", "import"), nil, n, &made)
		return err
	})
	return made, err
}
