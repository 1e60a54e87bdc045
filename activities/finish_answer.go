package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// FinishAnswerInput ends the run of a question or a tool. Items are the items of its
// log that the workflow has in memory, the last ones included. Earlier items are in
// Segments stored segments.
type FinishAnswerInput struct {
	knowledge.RunRef
	Loop     Loop                `json:"loop"`
	Status   knowledge.RunStatus `json:"status"` // completed, failed or canceled
	Code     knowledge.Code      `json:"code,omitempty"`
	Message  string              `json:"message,omitempty"`
	RetryAt  time.Time           `json:"retry_at,omitzero"` // of the Failure
	Workflow string              `json:"workflow"`
	Segments int                 `json:"segments,omitempty"`
	Items    []stream.Item       `json:"items"`
}

// AnswerRecord is the stored result of a question. It has no words of passages: the
// API reads them from SQL, with the permission that the reader has then.
type AnswerRecord struct {
	MessageID      string            `json:"message_id,omitempty"`
	ConversationID string            `json:"conversation_id,omitempty"`
	ExecutionID    string            `json:"execution_id,omitempty"`
	Answer         string            `json:"answer"`
	Sources        []Source          `json:"sources"`
	Used           []int             `json:"used"` // ranks that the answer cites
	ToolCalls      []CalledTool      `json:"tool_calls"`
	Usage          knowledge.Usage   `json:"usage"`
	Model          string            `json:"model"`
	Blocks         []json.RawMessage `json:"blocks,omitempty"`      // as webhooks gave them
	Suggestions    []string          `json:"suggestions,omitempty"` // questions that may come next
	// FinishReason is that of the TurnRecord.
	FinishReason string     `json:"finish_reason,omitempty"`
	Web          *WebCounts `json:"web,omitempty"` // of a run that is a search of the web
	// Attachments are those of the question.
	Attachments []knowledge.AttachedDocument `json:"attachments,omitempty"`
	// Searches are what the searches chose by themselves, those that chose nothing left out.
	Searches []retrieve.Choices `json:"searches,omitempty"`
}

// Source names a passage that the model received. It has neither words nor the name
// of a document.
type Source struct {
	Rank       int      `json:"rank"`
	Page       *WebPage `json:"page,omitempty"` // of the web, without its text
	Used       bool     `json:"used,omitempty"` // the answer cites the page
	ChunkID    string   `json:"chunk_id,omitempty"`
	DocumentID string   `json:"document_id,omitempty"`
	Version    int      `json:"version,omitempty"`
	Score      float64  `json:"score"`

	Given *GivenSource `json:"given,omitempty"` // nil = a passage of a document
}

// GivenSource is a source whose words a webhook gave.
type GivenSource struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
	Text string `json:"text"`
}

// CalledTool is a tool call of an answer.
type CalledTool struct {
	ID        string              `json:"id"`
	Name      string              `json:"name"`
	Arguments string              `json:"arguments"`
	Status    knowledge.RunStatus `json:"status"` // completed, failed or refused
	Files     []knowledge.RunFile `json:"files,omitempty"`
}

// FinishAnswer stores the answer, the conversation and the whole log, and ends the
// run. It is a local activity, so its input never enters history.
func (a *Answering) FinishAnswer(ctx context.Context, in FinishAnswerInput) error {
	if err := a.finishAnswer(ctx, in); err != nil {
		return a.fail(ctx, in.RunRef, fmt.Errorf("finish run %s: %w", in.Run, err))
	}
	a.Metrics.WorkflowDone(in.Workflow, string(in.Status))
	log := a.Log.With("workspace", in.Workspace, "run", in.Run, "status", in.Status)
	if in.Status == knowledge.RunFailed {
		log.WarnContext(ctx, "run failed", "code", in.Code)
		return nil
	}
	log.InfoContext(ctx, "run ended")
	return nil
}

func (a *Answering) finishAnswer(ctx context.Context, in FinishAnswerInput) error {
	request, err := ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return err
	}
	items, err := wholeLog(ctx, a.Blobs, in.RunRef, in.Segments, in.Items)
	if err != nil {
		return err
	}
	record := AnswerRecord{
		MessageID: request.MessageID, ConversationID: request.ConversationID, ExecutionID: request.ExecutionID,
		Sources: []Source{}, Used: []int{}, ToolCalls: []CalledTool{}, Usage: in.Loop.Usage, Attachments: in.Loop.Attachments,
	}
	end := Ending{Kind: request.Kind}
	if in.Status == knowledge.RunCompleted {
		if err := a.complete(ctx, in, &record); err != nil {
			return err
		}
		if request.Kind == knowledge.KindQuery && request.Config.AI.PostQuery.SourceFilter {
			record.Sources = slices.DeleteFunc(record.Sources, func(s Source) bool { return !slices.Contains(record.Used, s.Rank) })
		}
		if err := a.completeFromWebhooks(ctx, in.RunRef, request, &record); err != nil {
			return err
		}
		end.Answer, end.Record = in.AnswerKey(), &record
	} else {
		record.Answer = publishedText(items)
		end = Failed(request.Kind, knowledge.Failure{Code: in.Code, Message: in.Message, RetryAt: in.RetryAt})
	}
	cost := knowledge.RunUsage{Usage: in.Loop.Usage, Model: record.Model, Seconds: math.Round(time.Since(request.Date).Seconds()*1000) / 1000}
	if request.Date.IsZero() {
		cost.Seconds = 0
	}
	if end.Usage, err = json.Marshal(cost); err != nil {
		return fmt.Errorf("encode usage: %w", err)
	}
	messages, err := conversation(in, request, record)
	if err != nil {
		return err
	}
	return RunEnder{Blobs: a.Blobs, Runs: a.Runs, Hub: a.Hub}.End(ctx, in.RunRef, items, end, messages...)
}

// complete fills the record from the model call that returned the answer.
func (a *Answering) complete(ctx context.Context, in FinishAnswerInput, record *AnswerRecord) error {
	answer, err := a.answer(ctx, in.Loop)
	if err != nil {
		return err
	}
	searches, err := a.searches(ctx, in.Loop)
	if err != nil {
		return err
	}
	record.Searches, record.Web = searches.choices, searches.web
	record.Answer, record.Model, record.FinishReason = answer.Text, answer.Model, answer.FinishReason
	record.Used = append(record.Used, answer.Used...)
	if key := in.Loop.Suggestions; key != "" {
		var suggested Suggestions
		if err := a.Blobs.GetJSON(ctx, key, &suggested); err != nil {
			return fmt.Errorf("read the suggestions: %w", err)
		}
		record.Suggestions = suggested.Questions
	}
	for _, p := range searches.all {
		if !slices.Contains(answer.LeftOut, p.Rank) {
			record.Sources = append(record.Sources, p.source(answer.Used))
		}
	}
	if len(answer.Order) > 0 {
		record.number(answer.Order)
	}
	for i, turn := range in.Loop.Turns {
		var called TurnRecord
		if err := a.Blobs.GetJSON(ctx, turn.Key, &called); err != nil {
			return fmt.Errorf("read turn %d: %w", i+1, err)
		}
		for j, c := range called.ToolCalls {
			tool := CalledTool{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Status: turn.Outputs[j].Status()}
			if tool.Files, err = a.filesOf(ctx, turn.Outputs[j]); err != nil {
				return err
			}
			record.ToolCalls = append(record.ToolCalls, tool)
		}
	}
	return nil
}

// number sets the numbers by which the answer cites the sources, and sorts them. order
// are their ranks in the order of these numbers.
func (r *AnswerRecord) number(order []int) {
	r.Used = r.Used[:0]
	for i := range order {
		r.Used = append(r.Used, i+1)
	}
	for i := range r.Sources {
		r.Sources[i].Rank = slices.Index(order, r.Sources[i].Rank) + 1
	}
	slices.SortFunc(r.Sources, func(a, b Source) int { return a.Rank - b.Rank })
}

// answer returns the model call that returned the answer.
func (a *Answering) answer(ctx context.Context, loop Loop) (answer TurnRecord, err error) {
	if loop.Record != nil {
		return *loop.Record, nil
	}
	if err := a.Blobs.GetJSON(ctx, loop.Answer, &answer); err != nil {
		return answer, fmt.Errorf("read the answer: %w", err)
	}
	return answer, nil
}

// filesOf returns the files that a tool call produced.
func (a *Answering) filesOf(ctx context.Context, output ToolOutput) ([]knowledge.RunFile, error) {
	if output.Files == 0 {
		return nil, nil
	}
	var stored ToolWords
	if err := a.Blobs.GetJSON(ctx, output.Words, &stored); err != nil {
		return nil, fmt.Errorf("read the files of a tool call: %w", err)
	}
	return stored.Files, nil
}

// conversation returns the messages of the question and its answer, also if the
// answer was cut short.
func conversation(in FinishAnswerInput, r knowledge.Request, record AnswerRecord) ([]store.Message, error) {
	if r.ConversationID == "" {
		return nil, nil
	}
	sources, err := json.Marshal(record.Sources)
	if err != nil {
		return nil, fmt.Errorf("encode sources: %w", err)
	}
	cited := []string{}
	for _, s := range record.Sources {
		for _, rank := range record.Used {
			if s.Rank == rank && s.ChunkID != "" {
				cited = append(cited, s.ChunkID)
			}
		}
	}
	question := store.Message{
		ID: r.QuestionID, ConversationID: r.ConversationID, RunID: in.Run, Role: "user", Text: r.Question,
		Status: string(knowledge.RunCompleted), CreatedAt: r.Date,
	}
	answer := store.Message{
		ID: r.MessageID, ConversationID: r.ConversationID, RunID: in.Run, Role: "assistant", Text: record.Answer,
		Sources: sources, ChunkIDs: cited, Status: string(in.Status), CreatedAt: time.Now().UTC(),
	}
	return []store.Message{question, answer}, nil
}

// SegmentInput is a part of a log that leaves the workflow's memory.
type SegmentInput struct {
	knowledge.RunRef
	Number int           `json:"number"` // 0 = first
	Items  []stream.Item `json:"items"`
}

// StoreSegment stores a segment of a log. It is a local activity, like FinishAnswer.
func (a *Answering) StoreSegment(ctx context.Context, in SegmentInput) error {
	if _, err := a.Blobs.PutJSON(ctx, in.SegmentKey(in.Number), stream.StoredLog{Items: in.Items}); err != nil {
		return a.fail(ctx, in.RunRef, fmt.Errorf("store log segment %d: %w", in.Number, err))
	}
	return nil
}

// wholeLog returns the items of a run's stored segments, followed by held.
func wholeLog(ctx context.Context, blobs Blobs, run knowledge.RunRef, segments int, held []stream.Item) ([]stream.Item, error) {
	var items []stream.Item
	for n := range segments {
		var segment stream.StoredLog
		if err := blobs.GetJSON(ctx, run.SegmentKey(n), &segment); err != nil {
			return nil, fmt.Errorf("read log segment %d: %w", n, err)
		}
		items = append(items, segment.Items...)
	}
	return append(items, held...), nil
}

// publishedText returns the text that readers have at the end of a log.
func publishedText(items []stream.Item) string {
	var text strings.Builder
	for _, item := range items {
		event, err := stream.DecodeEvent(item.Data)
		if err != nil {
			continue
		}
		switch item.Topic {
		case stream.TopicDelta:
			text.WriteString(event.Text)
		case stream.TopicReset:
			text.Reset()
		}
	}
	return citation.Strip(text.String())
}
