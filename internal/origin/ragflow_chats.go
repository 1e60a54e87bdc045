package origin

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"regexp"
)

// ragflowSession is a conversation with an assistant.
type ragflowSession struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	UserID     string            `json:"user_id"`
	CreateTime moment            `json:"create_time"`
	Messages   []ragflowMessage  `json:"messages"`
	References []json.RawMessage `json:"reference"` // of each answer, in some versions
}

type ragflowMessage struct {
	Role      string          `json:"role"`
	Content   string          `json:"content"`
	CreatedAt moment          `json:"created_at"`
	Reference json.RawMessage `json:"reference"`
}

// Conversations implements System.
func (r *RAGFlow) Conversations(ctx context.Context) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		for assistant, err := range ragflowPages[dataset](ctx, r, "/api/v1/chats", true) {
			if err != nil {
				yield(Conversation{}, fmt.Errorf("list the chat assistants: %w", err))
				return
			}
			path := "/api/v1/chats/" + url.PathEscape(assistant.ID) + "/sessions"
			for session, err := range ragflowPages[ragflowSession](ctx, r, path, true) {
				if err == nil && session.Messages == nil { // newer versions list sessions without their messages
					err = r.get(ctx, path+"/"+url.PathEscape(session.ID), nil, &session)
				}
				if err != nil {
					err = fmt.Errorf("read the sessions of the assistant %q: %w", assistant.Name, err)
				}
				if !yield(session.conversation(), err) {
					return
				}
			}
		}
	}
}

// marks matches the citations in an answer, which point at chunks by number.
const marks = `\s*(##\d+\$\$|\[ID:\s*\d+\])`

func (s ragflowSession) conversation() Conversation {
	c := Conversation{ID: "ragflow/" + s.ID, Title: s.Name, Owner: s.UserID, CreatedAt: s.CreateTime.time()}
	citation := regexp.MustCompile(marks)
	begun := false
	for _, m := range s.Messages {
		begun = begun || m.Role == "user"
		if !begun {
			continue // the assistant's greeting
		}
		reference := m.Reference
		if m.Role == "assistant" && reference == nil && len(s.References) > 0 {
			reference, s.References = s.References[0], s.References[1:]
		}
		c.add(m.Role, citation.ReplaceAllString(m.Content, ""), m.CreatedAt.time(), referenced(reference)...)
	}
	return c
}

// referenced returns the names of the documents of a reference: a list of chunks, or an object
// with them.
func referenced(reference json.RawMessage) []string {
	type chunk struct {
		DocumentName string `json:"document_name"`
	}
	var chunks []chunk
	if json.Unmarshal(reference, &chunks) != nil {
		var in struct {
			Chunks []chunk `json:"chunks"`
		}
		if json.Unmarshal(reference, &in) != nil {
			return nil
		}
		chunks = in.Chunks
	}
	var names []string
	for _, c := range chunks {
		names = append(names, c.DocumentName)
	}
	return names
}
