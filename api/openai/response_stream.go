package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// responseStream turns the log of a run into the events of a response. The same log yields
// the same events with the same numbers, so that a client can resume behind any of them.
type responseStream struct {
	server    *Server
	principal knowledge.Principal
	run       store.Run
	door      responseDoor
	out       *eventStream
	after     int // the last event that the client has; -1 = none

	number   int // of the next event
	outputs  int // items so far
	message  int // index of the open message, -1 = none
	drops    int // messages that the answer does not hold
	words    plainWords
	text     string
	searches map[string]search // by the id of the tool call

	reasoning reasoning
}

// search is an item that shows a search.
type search struct {
	id    string
	index int
}

// event is the data of an event of a response. Only the fields of its type are set.
type event struct {
	Type         string          `json:"type"`
	Number       int             `json:"sequence_number"`
	Response     *Response       `json:"response,omitempty"`
	OutputIndex  *int            `json:"output_index,omitempty"`
	ContentIndex *int            `json:"content_index,omitempty"`
	ItemID       string          `json:"item_id,omitempty"`
	Item         *OutputItem     `json:"item,omitempty"`
	SummaryIndex *int            `json:"summary_index,omitempty"`
	Part         any             `json:"part,omitempty"` // an OutputText or a SummaryText
	Delta        *string         `json:"delta,omitempty"`
	Text         *string         `json:"text,omitempty"`
	Logprobs     *[]struct{}     `json:"logprobs,omitempty"`
	Annotation   *FileAnnotation `json:"annotation,omitempty"`
	Place        *int            `json:"annotation_index,omitempty"`
}

// send numbers an event and sends it, unless the client has it.
func (s *responseStream) send(e event) error {
	e.Number = s.number
	s.number++
	if e.Number <= s.after {
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return s.out.event(e.Type, data)
}

// sendAll sends events in their order.
func (s *responseStream) sendAll(events ...event) error {
	for _, e := range events {
		if err := s.send(e); err != nil {
			return err
		}
	}
	return nil
}

// item sends the events of an item of the run's log.
func (s *responseStream) item(ctx context.Context, item stream.Item) error {
	e, err := stream.DecodeEvent(item.Data)
	if err != nil {
		return fmt.Errorf("item %d of run %s: %w", item.Offset, s.run.ID, err)
	}
	if item.Topic == stream.TopicReasoning {
		return s.think(e)
	}
	if err := s.endReasoning("completed"); err != nil {
		return err
	}
	switch item.Topic {
	case stream.TopicStarted:
		r := newResponse(s.run, s.door)
		return s.sendAll(event{Type: "response.created", Response: &r}, event{Type: "response.in_progress", Response: &r})
	case stream.TopicDelta:
		return s.say(s.words.Write(e.Text))
	case stream.TopicReset:
		return s.drop()
	case stream.TopicToolCall:
		return s.toolCall(e)
	case stream.TopicCompleted:
		return s.complete(ctx, e)
	case stream.TopicError:
		response := newResponse(s.run, s.door).fail(knowledge.AsError(runError(item)))
		return s.sendAll(event{Type: "response.failed", Response: &response})
	}
	return nil
}

// complete ends the message with its citations, and sends the whole response.
func (s *responseStream) complete(ctx context.Context, e stream.Event) error {
	out, err := s.server.deps.Runs.Outcome(ctx, s.principal, s.run, e.Ref)
	if err != nil {
		return err
	}
	if s.message < 0 && !s.words.Holds() { // nothing was streamed
		if err := s.say(s.words.Write(out.Text)); err != nil {
			return err
		}
	}
	text := s.words.Close()
	annotations := []FileAnnotation{}
	for _, m := range s.words.Cited {
		annotations = append(annotations, out.newAnnotation(m))
	}
	if err := s.say(text); err != nil {
		return err
	}
	whole := newResponse(s.run, s.door).complete(s.run, s.door, out)
	whole.Output[len(whole.Output)-1].ID = s.messageID()
	if err := s.closeMessage(OutputItem{Status: whole.Status}, annotations); err != nil {
		return err
	}
	return s.send(event{Type: "response." + whole.Status, Response: &whole})
}

// say adds words to the message, which the first ones open.
func (s *responseStream) say(text string) error {
	if text == "" {
		return nil
	}
	zero := 0
	if s.message < 0 {
		s.message, s.text = s.outputs, ""
		s.outputs++
		item := OutputItem{ID: s.messageID(), Type: "message", Status: "in_progress", Role: "assistant", Content: &[]OutputText{}}
		part := newPart("")
		err := s.sendAll(
			event{Type: "response.output_item.added", OutputIndex: s.at(), Item: &item},
			event{Type: "response.content_part.added", ItemID: item.ID, OutputIndex: s.at(), ContentIndex: &zero, Part: part},
		)
		if err != nil {
			return err
		}
	}
	s.text += text
	return s.send(event{Type: "response.output_text.delta", ItemID: s.messageID(), OutputIndex: s.at(), ContentIndex: &zero, Delta: &text, Logprobs: &[]struct{}{}})
}

func newPart(text string) OutputText {
	return OutputText{Type: "output_text", Text: text, Annotations: []FileAnnotation{}, Logprobs: []struct{}{}}
}

// messageID returns the id of the open message, or of the next one. That of the answer is
// messageID of the run, unless messages before it were dropped.
func (s *responseStream) messageID() string {
	if s.drops == 0 {
		return messageID(s.run)
	}
	return messageID(s.run) + "_" + strconv.Itoa(s.drops)
}

// drop ends the open message, which the answer does not hold.
func (s *responseStream) drop() error {
	if err := s.say(s.words.Close()); err != nil {
		return err
	}
	if s.message >= 0 {
		defer func() { s.drops++ }()
	}
	return s.closeMessage(OutputItem{Status: "incomplete"}, nil)
}

func (s *responseStream) at() *int {
	index := s.message
	return &index
}

// closeMessage ends the open message, if there is one. item has its status.
func (s *responseStream) closeMessage(item OutputItem, annotations []FileAnnotation) error {
	if err := s.say(s.words.Close()); err != nil || s.message < 0 {
		s.words.PlainText = citation.PlainText{}
		return err
	}
	zero, text, part := 0, s.text, newPart(s.text)
	part.Annotations = append(part.Annotations, annotations...)
	item.ID, item.Type, item.Role, item.Content = s.messageID(), "message", "assistant", &[]OutputText{part}
	for i, a := range annotations {
		err := s.send(event{Type: "response.output_text.annotation.added", ItemID: item.ID, OutputIndex: s.at(), ContentIndex: &zero, Place: &i, Annotation: &a})
		if err != nil {
			return err
		}
	}
	err := s.sendAll(
		event{Type: "response.output_text.done", ItemID: item.ID, OutputIndex: s.at(), ContentIndex: &zero, Text: &text, Logprobs: &[]struct{}{}},
		event{Type: "response.content_part.done", ItemID: item.ID, OutputIndex: s.at(), ContentIndex: &zero, Part: part},
		event{Type: "response.output_item.done", OutputIndex: s.at(), Item: &item},
	)
	s.message, s.words.PlainText = -1, citation.PlainText{}
	return err
}

// toolCall shows a search. Other tools of a project are not shown: the protocol has no
// item for them.
func (s *responseStream) toolCall(e stream.Event) error {
	var call record.ToolCallData
	if err := json.Unmarshal(e.Data, &call); err != nil {
		return fmt.Errorf("tool call of run %s: %w", s.run.ID, err)
	}
	if !SearchesDocuments(call.Name) {
		return nil
	}
	found, known := s.searches[call.ID]
	if !known {
		found = search{searchID(s.run, len(s.searches)), s.outputs}
		s.searches[call.ID], s.outputs = found, s.outputs+1
	}
	item := OutputItem{ID: found.id, Type: "file_search_call", Status: "in_progress", Queries: &[]string{}}
	switch {
	case !known:
		return s.sendAll(
			event{Type: "response.output_item.added", OutputIndex: &found.index, Item: &item},
			event{Type: "response.file_search_call.in_progress", OutputIndex: &found.index, ItemID: found.id},
			event{Type: "response.file_search_call.searching", OutputIndex: &found.index, ItemID: found.id},
		)
	case call.Status == "started": // again, by another try
		return nil
	}
	item.Status = string(call.Status)
	return s.sendAll(
		event{Type: "response.file_search_call.completed", OutputIndex: &found.index, ItemID: found.id},
		event{Type: "response.output_item.done", OutputIndex: &found.index, Item: &item},
	)
}
