package origin

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"strings"
	"time"
)

// System is another system. An error of a listing concerns what it names; the iteration
// continues behind it, except after a *KeyError or when ctx ends.
type System interface {
	// Documents returns the documents that the key may read.
	Documents(ctx context.Context) iter.Seq2[Document, error]
	// Conversations returns the conversations of the users that were asked for.
	Conversations(ctx context.Context) iter.Seq2[Conversation, error]
}

// Document is a document of another system.
type Document struct {
	ID         string // stays the same in every run
	Name       string
	Collection string // the name of the knowledge base or dataset
	Tags       []string
	Metadata   map[string]any
	// Version changes with the content, "" = the system does not say.
	Version string
	// Open starts to read the document. It may be called again.
	Open func(ctx context.Context) (Content, error)
}

// Content is the content of a document while it is read. An error of a Read is an *Error.
type Content struct {
	io.ReadCloser
	Name string // of the file
	// TextOnly reports that the original could not be had: this is the text that the
	// system made of it.
	TextOnly bool
}

// Conversation is a conversation of another system.
type Conversation struct {
	ID        string // stays the same in every run
	Title     string
	Owner     string // the user of the other system, "" = whose key it is
	CreatedAt time.Time
	Messages  []Message // oldest first
}

// Message is a question or an answer.
type Message struct {
	Role      string // user or assistant
	Text      string
	CreatedAt time.Time // zero = not known
}

// add appends a message, unless it has no words or is of another role.
func (c *Conversation) add(role, text string, at time.Time, sources ...string) {
	text = strings.TrimSpace(text)
	if role != "user" && role != "assistant" || text == "" {
		return
	}
	seen, names := map[string]bool{}, []string(nil)
	for _, name := range sources {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		text += "\n\nSources: " + strings.Join(names, ", ")
	}
	c.Messages = append(c.Messages, Message{Role: role, Text: text, CreatedAt: at})
}

// moment is a Unix time in seconds or, if it is too large for that, in milliseconds or
// nanoseconds.
type moment float64

func (m moment) time() time.Time {
	switch {
	case m <= 0:
		return time.Time{}
	case m > 1e17:
		return time.Unix(0, int64(m)).UTC()
	case m > 1e11:
		return time.UnixMilli(int64(m)).UTC()
	}
	return time.UnixMilli(int64(m * 1000)).UTC()
}

// UnmarshalJSON takes numbers only: a time in another form is not known.
func (m *moment) UnmarshalJSON(data []byte) error {
	var number float64
	if json.Unmarshal(data, &number) != nil {
		number = 0
	}
	*m = moment(number)
	return nil
}

// textName returns the name of a document of which only the text can be had.
func textName(name string) string {
	if strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".txt") {
		return name
	}
	return name + ".txt"
}

// written returns a reader of what write writes. Closing it ends write.
func written(write func(w io.Writer) error) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(write(writer)) }()
	return reader
}
