package openai

import (
	"net/http"

	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/stream"
)

// ChatChunk is a piece of a streamed completion.
type ChatChunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []ChunkChoice `json:"choices"`
	Usage   *ChatUsage    `json:"usage,omitempty"`
}

// ChunkChoice is what a chunk adds to the answer.
type ChunkChoice struct {
	Index        int        `json:"index"`
	Delta        ChunkDelta `json:"delta"`
	FinishReason *string    `json:"finish_reason"`
}

// ChunkDelta is what a chunk adds to the message. The last one has the citations, and what
// searches chose.
type ChunkDelta struct {
	Role        string        `json:"role,omitempty"`
	Content     *string       `json:"content,omitempty"`
	Reasoning   string        `json:"reasoning_content,omitempty" doc:"The next part of the reasoning of a model that thinks before it answers"`
	Annotations []URLCitation `json:"annotations,omitempty"`
	Citations   []Citation    `json:"citations,omitempty"`

	Searches []retrieve.Choices `json:"searches,omitempty"`
}

// chunks writes a run as the chunks of a completion.
type chunks struct {
	*completion

	out   *eventStream
	role  bool // the chunk with the role was sent
	words plainWords
	wrote bool // words, since the last break
	usage bool // the client wants the usage
}

// stream relays the run as chunks. The run continues without its reader.
func (c *completion) stream(w http.ResponseWriter, r *http.Request, usage bool) error {
	s := &chunks{completion: c, out: newStream(w), usage: usage, words: plainWords{links: c.server.deps.Runs.Links(c.principal, c.run)}}
	err := c.server.deps.Runs.Follow(r.Context(), c.run, s.out.alive, func(item stream.Item) error {
		switch item.Topic {
		case stream.TopicDelta, stream.TopicReasoning:
			event, err := stream.DecodeEvent(item.Data)
			switch {
			case err != nil:
				return err
			case item.Topic == stream.TopicReasoning:
				return s.chunk(ChunkDelta{Reasoning: event.Text}, nil)
			}
			return s.say(s.words.Write(event.Text))
		case stream.TopicReset:
			return s.reset()
		case stream.TopicCompleted:
			return s.complete(r, item)
		case stream.TopicError:
			return runError(item)
		}
		return nil
	})
	if err != nil {
		return s.out.fail(r, err)
	}
	return nil
}

func (s *chunks) say(text string) error {
	if text == "" {
		return nil
	}
	s.wrote = true
	return s.chunk(ChunkDelta{Content: &text}, nil)
}

// reset separates words that the answer does not hold, such as those before a call of a
// tool, from those that follow: the protocol cannot take words back.
func (s *chunks) reset() error {
	if err := s.say(s.words.Close()); err != nil || !s.wrote {
		return err
	}
	if err := s.say(s.words.Write("\n\n")); err != nil {
		return err
	}
	s.wrote = false
	return nil
}

// complete sends the citations, the finish reason and the usage.
func (s *chunks) complete(r *http.Request, item stream.Item) error {
	if err := s.say(s.words.Close()); err != nil {
		return err
	}
	out, err := s.server.outcome(r.Context(), s.principal, s.run, item)
	if err != nil {
		return err
	}
	reason := out.finish()
	if err := s.chunk(ChunkDelta{Annotations: out.annotations(s.words.Cited, s.server.deps.Address(r)), Citations: out.citations(), Searches: out.Choices}, &reason); err != nil {
		return err
	}
	if s.usage {
		last := s.envelope()
		last.Choices, last.Usage = []ChunkChoice{}, newUsage(out.Usage)
		if err := s.out.object(last); err != nil {
			return err
		}
	}
	s.out.done()
	return nil
}

// chunk sends a chunk. The first one has the role, so that an error before the first words
// is an answer with its status.
func (s *chunks) chunk(delta ChunkDelta, finish *string) error {
	if !s.role {
		s.role = true
		empty := ""
		if err := s.chunk(ChunkDelta{Role: "assistant", Content: &empty}, nil); err != nil {
			return err
		}
	}
	chunk := s.envelope()
	chunk.Choices = []ChunkChoice{{Delta: delta, FinishReason: finish}}
	return s.out.object(chunk)
}

func (s *chunks) envelope() ChatChunk {
	return ChatChunk{ID: s.id(), Object: "chat.completion.chunk", Created: s.run.CreatedAt.Unix(), Model: s.model}
}
