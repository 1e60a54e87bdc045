package openai

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// ReasoningOptions ask for the reasoning of the model.
type ReasoningOptions struct {
	_       struct{} `json:"-" additionalProperties:"true"`
	Summary string   `json:"summary,omitempty" doc:"auto, concise or detailed: the events of a stream have the reasoning of the model"`
	Effort  string   `json:"effort,omitempty" doc:"Not supported"`
}

// SummaryText is a part of the reasoning.
type SummaryText struct {
	Type string `json:"type" enum:"summary_text"`
	Text string `json:"text"`
}

// onlySummary is the rule of the field reasoning.
func onlySummary(value json.RawMessage) string {
	var options ReasoningOptions
	switch err := json.Unmarshal(value, &options); {
	case err != nil:
		return "must be an object"
	case options.Effort != "":
		return "must not have effort: " + ownModel
	case !slices.Contains([]string{"", "auto", "concise", "detailed"}, options.Summary):
		return "must have a summary of auto, concise or detailed"
	}
	return ""
}

// reasoning is an item of a response's stream that shows how the model reasons.
type reasoning struct {
	count int // of the items so far
	id    string
	index int // among the outputs
	text  strings.Builder
	open  bool
}

// think adds words to the open item, which the first ones open.
func (s *responseStream) think(e stream.Event) error {
	if !s.door.Reasoning {
		return nil
	}
	var data record.ReasoningData
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return err
		}
	}
	if data.Reset {
		if err := s.endReasoning("incomplete"); err != nil {
			return err
		}
	}
	r, zero := &s.reasoning, 0
	if !r.open {
		r.id, r.index, r.open = "rs_"+s.run.ID+"_"+strconv.Itoa(r.count), s.outputs, true
		r.text.Reset()
		r.count++
		s.outputs++
		item := OutputItem{ID: r.id, Type: "reasoning", Status: "in_progress", Summary: &[]SummaryText{}}
		err := s.sendAll(
			event{Type: "response.output_item.added", OutputIndex: r.at(), Item: &item},
			event{Type: "response.reasoning_summary_part.added", ItemID: r.id, OutputIndex: r.at(), SummaryIndex: &zero, Part: SummaryText{Type: "summary_text"}},
		)
		if err != nil {
			return err
		}
	}
	r.text.WriteString(e.Text)
	return s.send(event{Type: "response.reasoning_summary_text.delta", ItemID: r.id, OutputIndex: r.at(), SummaryIndex: &zero, Delta: &e.Text})
}

func (r *reasoning) at() *int {
	index := r.index
	return &index
}

// endReasoning ends the open item, if there is one.
func (s *responseStream) endReasoning(status string) error {
	r, zero := &s.reasoning, 0
	if !r.open {
		return nil
	}
	r.open = false
	text := r.text.String()
	part := SummaryText{Type: "summary_text", Text: text}
	item := OutputItem{ID: r.id, Type: "reasoning", Status: status, Summary: &[]SummaryText{part}}
	return s.sendAll(
		event{Type: "response.reasoning_summary_text.done", ItemID: r.id, OutputIndex: r.at(), SummaryIndex: &zero, Text: &text},
		event{Type: "response.reasoning_summary_part.done", ItemID: r.id, OutputIndex: r.at(), SummaryIndex: &zero, Part: part},
		event{Type: "response.output_item.done", OutputIndex: r.at(), Item: &item},
	)
}
