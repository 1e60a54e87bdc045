package answering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// CallingModels holds the activity that makes a model call of a run.
type CallingModels struct {
	stepLog

	Blobs       step.Blobs
	Hub         Hub
	Workflows   Workflows
	Metrics     Metrics
	Days        DayLimits // nil = nothing is limited
	chats       *chats
	passages    *passages
	tools       *tools
	attachments *attachments
	library     *library
}

// ModelCallInput asks the model for the next turn of a run. Nothing else writes to
// the run's log during the call, so its items begin at Offset. Preceding are items
// of the log that the hub does not have. With Chosen one more comes behind them, which names
// what was found so far: Loop has that too, and it is the largest part of the input.
type ModelCallInput struct {
	knowledge.RunRef
	Loop      record.Loop   `json:"loop"`
	Turn      int           `json:"turn"` // 1 = first
	NoTools   bool          `json:"no_tools,omitempty"`
	Offset    int64         `json:"offset"`
	Preceding []stream.Item `json:"preceding,omitempty"`
	Chosen    bool          `json:"chosen,omitempty"`
	// Fence is the turn of the call before, if that was given up; 0 = it was not.
	Fence int `json:"fence,omitempty"`
	// Before is how many attempts of this call earlier activities may have made.
	// Attempts are numbered over all activities of a call.
	Before int `json:"before,omitempty"`
	// Inline means that only FinishAnswer reads the record of an answer, so a short one may
	// be in the result instead of a blob.
	Inline bool `json:"inline,omitempty"`
	// Followed means that an answer is followed by more items of the log than its end.
	Followed bool `json:"followed,omitempty"`
}

// preceding returns the items of the log that the hub does not have.
func (in ModelCallInput) preceding() []stream.Item {
	if !in.Chosen {
		return in.Preceding
	}
	chosen := in.Loop.Chosen().Entry()
	return append(slices.Clip(in.Preceding), stream.Item{Topic: chosen.Topic, Data: chosen.Data, Offset: in.Offset - 1})
}

// ModelCallResult is the result of a model call. Tail holds the words that the
// activity did not publish; the workflow adds them to the log.
type ModelCallResult struct {
	Key       string          `json:"key"`
	Attempt   int             `json:"attempt"`
	Tail      string          `json:"tail,omitempty"`
	Published bool            `json:"published,omitempty"`
	ToolCalls []ToolCallRef   `json:"tool_calls,omitempty"`
	Usage     knowledge.Usage `json:"usage"`
	// Record is the record of an answer that is in no blob.
	Record *record.ModelCall `json:"record,omitempty"`
}

// ToolCallRef names a tool call, by an id and a name within the bounds that
// CallModel sets; its arguments are in the turn's blob.
type ToolCallRef struct {
	ID    string        `json:"id"`
	Name  string        `json:"name"`
	Limit time.Duration `json:"limit,omitempty"` // of one attempt; 0 = tool.DefaultLimit
	Once  bool          `json:"once,omitempty"`  // it must not be repeated
	Agent bool          `json:"agent,omitempty"` // another project answers it, in a child workflow
	// Approval means that the call waits until a person approves it.
	Approval bool `json:"approval,omitempty"`
}

// CallModel makes one model call and streams its answer into the run's log. It makes
// no call whose result is stored. A repeated call continues after the words that
// readers have, or publishes a reset.
func (a *CallingModels) CallModel(ctx context.Context, in ModelCallInput) (ModelCallResult, error) {
	defer step.Heartbeat(ctx)()
	a.Hub.Append(in.Run, in.preceding())
	if in.Fence > 0 {
		a.Hub.Fence(in.Run, in.Fence, stream.GivenUp)
	}
	attempt := in.Before + int(activity.GetInfo(ctx).Attempt)
	p := newPublisher(a.Workflows, a.Hub, in, activity.GetInfo(ctx).WorkflowExecution.ID, attempt)
	result, err := a.callModel(ctx, in, p)
	if err != nil {
		p.abandon()
		a.Hub.Pause(in.Run)
		return ModelCallResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("model call %d: %w", in.Turn, err))
	}
	if len(result.ToolCalls) > 0 || in.Followed { // the end, which follows an answer, goes through the hub too
		a.Hub.Pause(in.Run)
		return result, nil
	}
	return a.report(ctx, p, result)
}

// report tells Temporal the result of an answer, and then shows its last words to the
// readers in this process, who would otherwise get them with the end of the run. If
// that fails, the worker reports the result when the activity returns.
func (a *CallingModels) report(ctx context.Context, p *publisher, result ModelCallResult) (ModelCallResult, error) {
	if result.Tail == "" || !p.inHub {
		return result, nil
	}
	token := activity.GetInfo(ctx).TaskToken
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := a.Workflows.Complete(ctx, token, result); err != nil {
		a.Log.DebugContext(ctx, "the result of a model call is reported by the worker", "run", p.in.Run, "error", err)
		return a.withBlob(ctx, result)
	}
	p.showTail(result.Tail)
	return result, activity.ErrResultPending
}

// withBlob stores the record of a result that Temporal does not have yet, because the
// provider has charged for it.
func (a *CallingModels) withBlob(ctx context.Context, result ModelCallResult) (ModelCallResult, error) {
	if result.Record == nil {
		return result, nil
	}
	if _, err := a.Blobs.PutJSON(context.WithoutCancel(ctx), result.Key, result.Record); err != nil {
		return result, fmt.Errorf("store turn: %w", err)
	}
	result.Record = nil
	return result, nil
}

func (a *CallingModels) callModel(ctx context.Context, in ModelCallInput, p *publisher) (ModelCallResult, error) {
	if err := p.resume(ctx); err != nil {
		return ModelCallResult{}, err
	}
	result := ModelCallResult{Key: in.TurnKey(in.Turn), Attempt: p.attempt}
	var call record.ModelCall
	err := a.Blobs.GetJSON(ctx, result.Key, &call)
	switch {
	case err == nil:
		p.write(call.Streamed())
	case errors.Is(err, blob.ErrNotFound):
		if call, err = a.ask(ctx, in, p); err != nil {
			return ModelCallResult{}, err
		}
		result.Record = &call
		if !in.Inline || len(call.ToolCalls) > 0 || !p.holdsAll() {
			if result, err = a.withBlob(ctx, result); err != nil {
				return ModelCallResult{}, err
			}
		}
	default:
		return ModelCallResult{}, fmt.Errorf("read turn: %w", err)
	}
	if result.Tail, result.Published, err = p.close(ctx); err != nil {
		return ModelCallResult{}, err
	}
	result.Usage = call.Usage
	result.ToolCalls, err = a.callRefs(ctx, in.RunRef, call.ToolCalls)
	return result, err
}

// callRefs returns what the workflow is told of the calls of a turn.
func (a *CallingModels) callRefs(ctx context.Context, run knowledge.RunRef, calls []model.ToolCall) ([]ToolCallRef, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	request, err := record.ReadRequest(ctx, a.Blobs, run)
	if err != nil {
		return nil, err
	}
	tools, err := a.tools.offered(ctx, request, true)
	if err != nil {
		return nil, err
	}
	refs := make([]ToolCallRef, 0, len(calls))
	for _, c := range calls {
		called, _ := tools.Find(c.Name)
		refs = append(refs, ToolCallRef{
			ID: c.ID, Name: c.Name, Limit: called.Limit, Once: called.Once, Agent: called.Ask != nil, Approval: slices.Contains(request.Config.Tools.Approval, c.Name),
		})
	}
	return refs, nil
}

// maxAnswer bounds the text of a turn, in bytes: four times the longest output of
// current models.
const maxAnswer = 1 << 20

// ask makes the call, at the first of the project's models that answers.
func (a *CallingModels) ask(ctx context.Context, in ModelCallInput, p *publisher) (record.ModelCall, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return record.ModelCall{}, err
	}
	passages, err := a.passages.lookUp(ctx, request.Principal, in.Loop)
	if err != nil {
		return record.ModelCall{}, err
	}
	p.thoughts.hidden = request.Kind != knowledge.KindQuery || request.Config.AI.Reasoning == knowledge.ReasoningHide
	if request.Web != nil && len(passages.all) == 0 {
		return a.withoutPages(ctx, in, request, p)
	}
	passages.marked = request.Web != nil
	documents, err := a.library.hasDocuments(ctx, request, passages)
	if err != nil {
		return record.ModelCall{}, err
	}
	offered, err := a.tools.offered(ctx, request, documents)
	if err != nil {
		return record.ModelCall{}, err
	}
	chat, err := a.chatRequest(ctx, in, request, passages, offered)
	if err != nil {
		return record.ModelCall{}, err
	}
	if err := a.withinDay(ctx, in, &chat); err != nil {
		return record.ModelCall{}, err
	}
	return a.chats.firstThatAnswers(ctx, a.chats.candidates(request.Config.AI), p, func(c candidate) (record.ModelCall, error) {
		chat.Model = c.Name
		client := a.chats.answering(c.Client, request.Config.Privacy)
		call, done, err := a.write(ctx, client, chat, passages, p)
		if limit, tooLong := isTooLong(err); tooLong {
			a.Log.WarnContext(ctx, "the chat model reads fewer tokens; it is asked once more with fewer passages", "run", in.Run, "model", chat.Model, "error", err)
			share := keptShare(chat, limit, passages.tokens()+historyTokens(request.History))
			passages, request.History = passages.shorter(share), newest(request.History, share)
			if chat, err = a.chatRequest(ctx, in, request, passages, offered); err != nil {
				return record.ModelCall{}, err
			}
			chat.Model = c.Name
			call, done, err = a.write(ctx, client, chat, passages, p)
		}
		if err == nil && in.NoTools && call.Text == "" && len(done.ToolCalls) > 0 {
			call, done, err = a.writeWithoutTools(ctx, client, chat, passages, p, call.Usage)
		}
		if err != nil {
			return call, err
		}
		if !in.NoTools {
			call.ToolCalls = bounded(in.Turn, offered, done.ToolCalls)
		}
		atStop := len(chat.Stop) > 0 && done.FinishReason == model.FinishStop // which may be its first word
		if call.Text == "" && len(call.ToolCalls) == 0 && !atStop {
			return call, &model.Error{Code: model.CodeBadResponse, Provider: c.Client.Endpoint().Provider, Retryable: true, Cause: errors.New("the answer is empty")}
		}
		return call, nil
	})
}

// writeWithoutTools is write for a model that calls tools although tool_choice is none, which
// some endpoints ignore. Others need the tools beside the messages of earlier calls, so they
// are left out only then. used is what the call before has used.
func (a *CallingModels) writeWithoutTools(ctx context.Context, client step.Chat, chat model.ChatRequest, passages foundWords, p *publisher, used knowledge.Usage) (record.ModelCall, model.Completion, error) {
	chat.Tools, chat.ToolChoice = nil, ""
	call, done, err := a.write(ctx, client, chat, passages, p)
	call.Usage.Add(used)
	return call, done, err
}

// write makes the call at one endpoint, and publishes its words with checked citations.
func (a *CallingModels) write(ctx context.Context, client step.Chat, chat model.ChatRequest, passages foundWords, p *publisher) (record.ModelCall, model.Completion, error) {
	newRewriter := func() *citation.Rewriter { return citation.NewRewriter(passages.all) }
	switch {
	case passages.marked:
		newRewriter = func() *citation.Rewriter { return citation.NewMarker(passages.all) }
	case len(chat.Format) > 0:
		newRewriter = func() *citation.Rewriter { return citation.NewTagRewriter(passages.all) }
	}
	rewriter := newRewriter()
	var raw, written strings.Builder
	publish := func(text string) {
		written.WriteString(text)
		p.write(text)
	}
	start := time.Now()
	endpoint := client.Endpoint()
	done, err := a.chats.stream(ctx, client, chat, listener{
		think: p.think,
		text: func(text string) error {
			if raw.Len()+len(text) > maxAnswer {
				return &model.Error{Code: model.CodeBadResponse, Provider: endpoint.Provider, Cause: errors.New("the answer is longer than 1 MB")}
			}
			raw.WriteString(text)
			publish(rewriter.Write(text))
			return nil
		},
		restart: func() {
			thought := raw.String()
			raw.Reset()
			written.Reset()
			rewriter = newRewriter()
			p.restart()
			p.think(thought)
		},
	})
	a.Metrics.ModelCall(endpoint.Provider, "chat", step.Outcome(err), time.Since(start).Seconds(), done.Usage.PromptTokens, done.Usage.CompletionTokens)
	if err != nil {
		return record.ModelCall{}, done, err
	}
	publish(rewriter.Close())
	call := record.ModelCall{
		Raw: raw.String(), Text: written.String(), Used: rewriter.Used(), LeftOut: passages.leftOut, Model: done.Model,
		Usage:        step.ChatUsage(done.Usage),
		FinishReason: unusual(done.FinishReason),
	}
	if passages.marked {
		call.Marked, call.Text = call.Text, citation.Resolve(call.Text, passages.all)
	}
	return call, done, nil
}

// unusual returns a reason for which an answer ended that readers should know.
func unusual(reason string) string {
	if reason == model.FinishLength || reason == model.FinishFiltered {
		return reason
	}
	return ""
}

// listener is told of a model's words as they come.
type listener struct {
	text    func(string) error
	think   func(string) // reasoning, which is no part of the answer
	restart func()       // the words so far were reasoning
}

// stream makes the call. If the model refuses the pictures, it makes the call without
// them.
func (a *chats) stream(ctx context.Context, client step.Chat, chat model.ChatRequest, to listener) (model.Completion, error) {
	said, text := false, to.text
	to.text = func(words string) error {
		said = true
		return text(words)
	}
	done, err := streamOnce(ctx, client, chat, to)
	plain, hasPictures := withoutPictures(chat)
	if !hasPictures || said || !step.IsRefusal(err) {
		return done, err
	}
	a.Log.WarnContext(ctx, "the chat model refuses pictures; the question is answered without them", "model", chat.Model, "error", err)
	return streamOnce(ctx, client, plain, to)
}

func streamOnce(ctx context.Context, client step.Chat, chat model.ChatRequest, to listener) (model.Completion, error) {
	for delta, err := range client.Chat(ctx, chat) {
		if err != nil {
			return model.Completion{}, err
		}
		if delta.Restart {
			to.restart()
		}
		to.think(delta.Reasoning)
		if delta.Text != "" {
			if err := to.text(delta.Text); err != nil {
				return model.Completion{}, err
			}
		}
		if delta.Done != nil {
			return *delta.Done, nil
		}
	}
	return model.Completion{}, errors.New("the model's stream ended without an end")
}

// chatRequest returns the request to the model: the opening, the turns so far, and the
// tools that are offered.
func (a *CallingModels) chatRequest(ctx context.Context, in ModelCallInput, r knowledge.Request, found foundWords, offered tool.Set) (model.ChatRequest, error) {
	chat := model.ChatRequest{
		Model: r.Config.AI.Model, Temperature: r.Config.AI.Temperature, MaxTokens: r.Config.AI.MaxTokens, Seed: seed(),
		TopP: r.Form.TopP, Stop: r.Form.Stop, Format: r.Form.Format,
	}
	inOrder := func(search string) []citation.Context {
		return retrieve.PromptOrder(found.by[search], found.chunks, r.Config.AI.Retrieval.Order)
	}
	var err error
	if chat.Messages, err = a.opening(ctx, in, r, found, offered, inOrder); err != nil {
		return chat, err
	}
	said, err := saidBehind(ctx, a.Blobs, in.Loop.Steers)
	if err != nil {
		return chat, err
	}
	if said[0] != "" {
		chat.Messages = withQuestion(chat.Messages, said[0])
	}
	turns, err := a.turnMessages(ctx, in.Loop.Turns, said, func(search string) string { return found.output(search, inOrder(search)) })
	if err != nil {
		return chat, err
	}
	chat.Messages = append(chat.Messages, turns...)
	if len(offered) > 0 {
		chat.Tools = offeredTools(offered)
		switch {
		case in.NoTools:
			chat.ToolChoice = "none"
		case len(in.Loop.Turns) == 0:
			if err := checkChoice(r.ToolChoice, offered); err != nil {
				return chat, err
			}
			chat.ToolChoice = r.ToolChoice
		}
	}
	return chat, nil
}

// checkChoice refuses the name of a tool that is not offered now: its MCP server may not have it
// any more, or there are no documents to search.
func checkChoice(choice string, offered tool.Set) error {
	if !tool.NamesTool(choice) {
		return nil
	}
	if _, there := offered.Find(choice); !there {
		return knowledge.Errorf(knowledge.CodeInvalid, "the tool %s, which the request chooses, cannot be called for this question; choose one of %s, or auto", choice, strings.Join(offered.Names(), ", "))
	}
	return nil
}

// turnMessages returns the turns that called tools and the outputs of these, and what the
// person who asked said behind them. passages returns what a search found.
func (a *CallingModels) turnMessages(ctx context.Context, turns []record.Turn, said map[int]string, passages func(search string) string) ([]model.Message, error) {
	var messages []model.Message
	for i, turn := range turns {
		var call record.ModelCall
		if err := a.Blobs.GetJSON(ctx, turn.Key, &call); err != nil {
			return nil, fmt.Errorf("read turn %d: %w", i+1, err)
		}
		messages = append(messages, model.Message{Role: "assistant", Content: call.Raw, ToolCalls: call.ToolCalls})
		for j, output := range turn.Outputs {
			content := "The tool failed: " + output.Failure
			switch {
			case output.Search != "":
				content = passages(output.Search)
			case output.Words != "":
				var stored record.ToolWords
				if err := a.Blobs.GetJSON(ctx, output.Words, &stored); err != nil {
					return nil, fmt.Errorf("read the output of call %d of turn %d: %w", j, i+1, err)
				}
				content = stored.Words
			}
			messages = append(messages, model.Message{Role: "tool", ToolCallID: call.ToolCalls[j].ID, Content: content})
		}
		if words := said[i+1]; words != "" {
			messages = append(messages, model.Message{Role: model.RoleUser, Content: words})
		}
	}
	return messages, nil
}

// offeredTools returns tools as the model reads them.
func offeredTools(set tool.Set) []model.Tool {
	list := make([]model.Tool, 0, len(set))
	for _, t := range set {
		list = append(list, model.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return list
}

// seed returns a fixed seed. An endpoint that supports seeds then returns the same
// answer to the same request, so that a repeated call continues the answer.
func seed() *int {
	one := 1
	return &one
}
