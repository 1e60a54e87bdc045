package knowledge

import "time"

// Share is a link to a conversation: whoever has it reads the conversation.
type Share struct {
	ID           string
	Conversation string
	CreatedAt    time.Time
	ExpiresAt    time.Time
}
