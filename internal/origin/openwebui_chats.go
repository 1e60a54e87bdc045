package origin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Chats is a file of chats that Open WebUI has exported. It has no documents.
type Chats struct{ path string }

// OpenChats returns the chats of a file. It does not read the file.
func OpenChats(path string) *Chats { return &Chats{path} }

// Documents implements System.
func (*Chats) Documents(context.Context) iter.Seq2[Document, error] {
	return func(func(Document, error) bool) {}
}

// Conversations implements System.
func (c *Chats) Conversations(ctx context.Context) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		file, err := os.Open(c.path)
		if err != nil {
			yield(Conversation{}, err)
			return
		}
		defer file.Close()
		for chat, err := range chatsOf(file) {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if !yield(chat, err) || err != nil {
				return
			}
		}
	}
}

// Conversations implements System.
func (o *OpenWebUI) Conversations(ctx context.Context) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		for _, path := range []string{"/api/v1/chats/all", "/api/v1/chats/all/archived"} {
			res, err := o.web.open(ctx, path)
			if err != nil {
				if !yield(Conversation{}, fmt.Errorf("read the chats: %w", err)) {
					return
				}
				continue
			}
			for chat, err := range chatsOf(res.Body) {
				chat.Owner = "" // the user of the key
				if !yield(chat, err) {
					res.Body.Close()
					return
				}
			}
			res.Body.Close()
		}
	}
}

// chat is a chat as Open WebUI stores it.
type chat struct {
	ID        string `json:"id"`
	UserID    string `json:"user_id"`
	Title     string `json:"title"`
	CreatedAt moment `json:"created_at"`
	Chat      struct {
		Title    string        `json:"title"`
		Messages []chatMessage `json:"messages"`
		History  struct {
			CurrentID string                 `json:"currentId"`
			Messages  map[string]chatMessage `json:"messages"`
		} `json:"history"`
	} `json:"chat"`
}

type chatMessage struct {
	ParentID  string          `json:"parentId"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"` // text, or a list of parts
	Timestamp moment          `json:"timestamp"`
	Sources   []struct {
		Source struct {
			Name string `json:"name"`
		} `json:"source"`
	} `json:"sources"`
}

// chatsOf returns the chats of an export: a list, or one chat after another. An error ends it.
func chatsOf(in io.Reader) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		buffered := bufio.NewReader(in)
		first, err := firstLetter(buffered)
		decoder := json.NewDecoder(buffered)
		if err == nil && first == '[' {
			_, err = decoder.Token()
		}
		for err == nil && (first != '[' || decoder.More()) {
			var c chat
			if err = decoder.Decode(&c); err == nil && !yield(c.conversation(), nil) {
				return
			}
		}
		if first == '[' && err == nil {
			_, err = decoder.Token() // its end
		}
		switch {
		case err == nil || errors.Is(err, io.EOF) && first != '[':
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			yield(Conversation{}, errors.New("the chats end early: export them again"))
		default:
			yield(Conversation{}, fmt.Errorf("read the chats: %w", err))
		}
	}
}

// firstLetter returns the first byte that is no space, and leaves it to be read.
func firstLetter(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !unicode.IsSpace(rune(b)) {
			return b, in.UnreadByte()
		}
	}
}

func (c chat) conversation() Conversation {
	title := c.Title
	if title == "" {
		title = c.Chat.Title
	}
	made := Conversation{ID: "openwebui/" + c.ID, Title: title, Owner: c.UserID, CreatedAt: c.CreatedAt.time()}
	for _, m := range c.branch() {
		var names []string
		for _, s := range m.Sources {
			names = append(names, s.Source.Name)
		}
		made.add(m.Role, m.text(), m.Timestamp.time(), names...)
	}
	return made
}

// branch returns the messages that the user saw last: from the current one up to the first.
// Other branches are answers that were asked for again. A circle ends where it closes.
func (c chat) branch() []chatMessage {
	var list []chatMessage
	seen := map[string]bool{}
	for id := c.Chat.History.CurrentID; id != "" && !seen[id]; {
		seen[id] = true
		m, ok := c.Chat.History.Messages[id]
		if !ok {
			break
		}
		list = append(list, m)
		id = m.ParentID
	}
	if len(list) == 0 {
		return c.Chat.Messages
	}
	slices.Reverse(list)
	return list
}

// steps matches what an answer shows of its reasoning and its tools.
const steps = `(?s)<details type="[a-z_]+".*?</details>\s*`

// text returns the words of a message.
func (m chatMessage) text() string {
	var text string
	if json.Unmarshal(m.Content, &text) != nil {
		var parts []struct{ Type, Text string }
		if json.Unmarshal(m.Content, &parts) != nil {
			return ""
		}
		for _, part := range parts {
			if part.Type == "text" {
				text += part.Text + "\n"
			}
		}
	}
	if m.Role == "assistant" && strings.Contains(text, "<details type=") {
		text = regexp.MustCompile(steps).ReplaceAllString(text, "")
	}
	return text
}
