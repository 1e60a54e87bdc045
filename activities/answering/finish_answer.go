package answering

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Finishing holds the activities that end runs and store their logs.
type Finishing struct {
	stepLog

	Metrics   Metrics
	Blobs     step.Blobs
	Hub       Hub
	Runs      step.RunEnds
	Workflows Workflows
	passages  *passages
}

// FinishAnswerInput ends the run of a question or a tool. Items are the items of its
// log that the workflow has in memory, the last ones included. Earlier items are in
// Segments stored segments.
type FinishAnswerInput struct {
	knowledge.RunRef
	Loop     record.Loop         `json:"loop"`
	Status   knowledge.RunStatus `json:"status"` // completed, failed or canceled
	Code     knowledge.Code      `json:"code,omitempty"`
	Message  string              `json:"message,omitempty"`
	RetryAt  time.Time           `json:"retry_at,omitzero"` // of the Failure
	Detail   string              `json:"detail,omitempty"`
	Workflow string              `json:"workflow"`
	Segments int                 `json:"segments,omitempty"`
	Items    []stream.Item       `json:"items"`
}

// FinishAnswer stores the answer, the conversation and the whole log, and ends the
// run. It is a local activity, so its input never enters history.
func (a *Finishing) FinishAnswer(ctx context.Context, in FinishAnswerInput) error {
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

func (a *Finishing) finishAnswer(ctx context.Context, in FinishAnswerInput) error {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return err
	}
	items, err := step.WholeLog(ctx, a.Blobs, in.RunRef, in.Segments, in.Items)
	if err != nil {
		return err
	}
	result := record.Answer{
		MessageID: request.MessageID, ConversationID: request.ConversationID, ExecutionID: request.ExecutionID,
		Sources: []record.Source{}, Used: []int{}, ToolCalls: []record.CalledTool{}, Usage: in.Loop.Usage, Attachments: in.Loop.Attachments,
	}
	end := record.Ending{Kind: request.Kind}
	if in.Status == knowledge.RunCompleted {
		if err := a.complete(ctx, in, &result); err != nil {
			return err
		}
		if request.Kind == knowledge.KindQuery && request.Config.AI.PostQuery.SourceFilter {
			result.Sources = slices.DeleteFunc(result.Sources, func(s record.Source) bool { return !slices.Contains(result.Used, s.Rank) })
		}
		if err := a.completeFromWebhooks(ctx, in.RunRef, request, &result); err != nil {
			return err
		}
		end.Answer, end.Record = in.AnswerKey(), &result
	} else {
		result.Answer = publishedText(items)
		end = record.Failed(request.Kind, knowledge.Failure{Code: in.Code, Message: in.Message, RetryAt: in.RetryAt, Detail: in.Detail})
	}
	cost := knowledge.RunUsage{Usage: in.Loop.Usage, Model: result.Model, Seconds: math.Round(time.Since(request.Date).Seconds()*1000) / 1000}
	if request.Date.IsZero() {
		cost.Seconds = 0
	}
	if end.Usage, err = json.Marshal(cost); err != nil {
		return fmt.Errorf("encode usage: %w", err)
	}
	steers, err := steerMessages(ctx, a.Blobs, in.Loop.Steers)
	if err != nil {
		return err
	}
	messages, err := conversation(in, request, steers, result)
	if err != nil {
		return err
	}
	return step.RunEnder{Blobs: a.Blobs, Runs: a.Runs, Hub: a.Hub}.End(ctx, in.RunRef, items, end, messages...)
}

// complete fills the record from the model call that returned the answer.
func (a *Finishing) complete(ctx context.Context, in FinishAnswerInput, result *record.Answer) error {
	answer, err := answerOf(ctx, a.Blobs, in.Loop)
	if err != nil {
		return err
	}
	searches, err := a.passages.searches(ctx, in.Loop)
	if err != nil {
		return err
	}
	result.Searches, result.Web = searches.choices, searches.web
	result.Answer, result.Model, result.FinishReason = answer.Text, answer.Model, answer.FinishReason
	result.Used = append(result.Used, answer.Used...)
	if key := in.Loop.Suggestions; key != "" {
		var suggested Suggestions
		if err := a.Blobs.GetJSON(ctx, key, &suggested); err != nil {
			return fmt.Errorf("read the suggestions: %w", err)
		}
		result.Suggestions = suggested.Questions
	}
	for _, p := range searches.all {
		if !slices.Contains(answer.LeftOut, p.Rank) {
			result.Sources = append(result.Sources, p.Source(answer.Used))
		}
	}
	if len(answer.Order) > 0 {
		result.Number(answer.Order)
	}
	for i, turn := range in.Loop.Turns {
		var called record.ModelCall
		if err := a.Blobs.GetJSON(ctx, turn.Key, &called); err != nil {
			return fmt.Errorf("read turn %d: %w", i+1, err)
		}
		for j, c := range called.ToolCalls {
			tool := record.CalledTool{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Status: turn.Outputs[j].Status()}
			if tool.Files, err = a.filesOf(ctx, turn.Outputs[j]); err != nil {
				return err
			}
			result.ToolCalls = append(result.ToolCalls, tool)
		}
	}
	return nil
}

// answerOf returns the model call that returned the answer.
func answerOf(ctx context.Context, blobs step.Blobs, loop record.Loop) (answer record.ModelCall, err error) {
	if loop.Record != nil {
		return *loop.Record, nil
	}
	if err := blobs.GetJSON(ctx, loop.Answer, &answer); err != nil {
		return answer, fmt.Errorf("read the answer: %w", err)
	}
	return answer, nil
}

// filesOf returns the files that a tool call produced.
func (a *Finishing) filesOf(ctx context.Context, output record.ToolOutput) ([]knowledge.RunFile, error) {
	if output.Files == 0 {
		return nil, nil
	}
	var stored record.ToolWords
	if err := a.Blobs.GetJSON(ctx, output.Words, &stored); err != nil {
		return nil, fmt.Errorf("read the files of a tool call: %w", err)
	}
	return stored.Files, nil
}

// conversation returns the messages of the question, of what its person added, and of its
// answer, also if the answer was cut short.
func conversation(in FinishAnswerInput, r knowledge.Request, steers []record.SteerMessage, result record.Answer) ([]store.Message, error) {
	if r.ConversationID == "" {
		return nil, nil
	}
	sources, err := json.Marshal(result.Sources)
	if err != nil {
		return nil, fmt.Errorf("encode sources: %w", err)
	}
	cited := []string{}
	for _, s := range result.Sources {
		for _, rank := range result.Used {
			if s.Rank == rank && s.ChunkID != "" {
				cited = append(cited, s.ChunkID)
			}
		}
	}
	said := func(id, text string, at time.Time) store.Message {
		return store.Message{
			ID: id, ConversationID: r.ConversationID, RunID: in.Run, Role: "user", Text: text,
			Status: string(knowledge.RunCompleted), CreatedAt: at,
		}
	}
	messages := []store.Message{said(r.QuestionID, r.Question, r.Date)}
	for _, m := range steers {
		messages = append(messages, said(m.ID, m.Text, m.CreatedAt))
	}
	answer := store.Message{
		ID: r.MessageID, ConversationID: r.ConversationID, RunID: in.Run, Role: "assistant", Text: result.Answer,
		Sources: sources, ChunkIDs: cited, Status: string(in.Status), CreatedAt: time.Now().UTC(),
	}
	return append(messages, answer), nil
}

// SegmentInput is a part of a log that leaves the workflow's memory.
type SegmentInput struct {
	knowledge.RunRef
	Number int           `json:"number"` // 0 = first
	Items  []stream.Item `json:"items"`
}

// StoreSegment stores a segment of a log. It is a local activity, like FinishAnswer.
func (a *Finishing) StoreSegment(ctx context.Context, in SegmentInput) error {
	if _, err := a.Blobs.PutJSON(ctx, in.SegmentKey(in.Number), stream.StoredLog{Items: in.Items}); err != nil {
		return a.fail(ctx, in.RunRef, fmt.Errorf("store log segment %d: %w", in.Number, err))
	}
	return nil
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
