package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// passages is a system message in the form of Cairn's prompt.
const passages = `Answer from these passages and cite each sentence with <source_N>.
<source_1 document="Handbook.md" heading="Leave > Remote work">
Employees may work remotely three days a week. Remote work needs the approval of the team lead.
</source_1>
<source_2 document="Handbook.md" heading="Travel">
Travel expenses are paid back within ten days.
</source_2>`

func ask(words string) model.ChatRequest {
	return model.ChatRequest{Messages: []model.Message{
		{Role: model.RoleSystem, Content: passages}, {Role: model.RoleUser, Content: words},
	}}
}

func askWithTools(choice string) model.ChatRequest {
	tool := func(name string) model.Tool {
		return model.Tool{
			Name: name, Description: "Looks something up.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
		}
	}
	return model.ChatRequest{
		Messages:   []model.Message{{Role: model.RoleUser, Content: "How many days a week may I work \"remotely\"?"}},
		Tools:      []model.Tool{tool("documents_rag"), tool("calendar")},
		ToolChoice: choice,
	}
}

func mustCollect(t *testing.T, c *model.Client, req model.ChatRequest) (string, model.Completion) {
	t.Helper()
	text, done, err := Collect(t.Context(), c, req)
	if err != nil {
		t.Fatal(err)
	}
	return text, done
}

func chatStreams(t *testing.T, c Clients) {
	var deltas int
	var done *model.Completion
	for delta, err := range c.Chat.Chat(t.Context(), ask("How many days a week may employees work remotely?")) {
		if err != nil {
			t.Fatal(err)
		}
		if done != nil {
			t.Fatal("a delta after the completion")
		}
		if delta.Text != "" {
			deltas++
		}
		done = delta.Done
	}
	if done == nil || deltas < 2 {
		t.Fatalf("%d pieces of text, end %v", deltas, done)
	}
	if done.FinishReason != model.FinishStop || len(done.ToolCalls) != 0 {
		t.Errorf("finished with %q and calls %v", done.FinishReason, done.ToolCalls)
	}
	if done.Model == "" || done.Usage.PromptTokens == 0 || done.Usage.CompletionTokens == 0 {
		t.Errorf("the completion lacks the model or the usage: %+v", done)
	}
}

func chatRepeats(t *testing.T, c Clients) {
	first, _ := mustCollect(t, c.Chat, ask("Who approves remote work?"))
	second, _ := mustCollect(t, c.Chat, ask("Who approves remote work?"))
	if first != second || first == "" {
		t.Errorf("first %q, then %q", first, second)
	}
}

func chatCounts(t *testing.T, c Clients) {
	short := ask("Who approves remote work?")
	long := ask("Who approves remote work?")
	long.Messages = append([]model.Message{{Role: model.RoleUser, Content: strings.Repeat("Tell me more. ", 50)}, {Role: model.RoleAssistant, Content: "No."}}, long.Messages...)
	_, a := mustCollect(t, c.Chat, short)
	_, b := mustCollect(t, c.Chat, long)
	if a.Usage.PromptTokens >= b.Usage.PromptTokens {
		t.Errorf("%d prompt tokens, and %d for the longer one", a.Usage.PromptTokens, b.Usage.PromptTokens)
	}
}

func chatCuts(t *testing.T, c Clients) {
	whole, _ := mustCollect(t, c.Chat, ask("Who approves remote work?"))
	req := ask("Who approves remote work?")
	req.MaxTokens = 3
	cut, done := mustCollect(t, c.Chat, req)
	if done.FinishReason != model.FinishLength || len(cut) >= len(whole) || !strings.HasPrefix(whole, cut) {
		t.Errorf("%q with %q, of %q", cut, done.FinishReason, whole)
	}
}

func chatRequires(t *testing.T, c Clients) {
	_, done := mustCollect(t, c.Chat, askWithTools(model.ToolChoiceRequired))
	if done.FinishReason != model.FinishToolCalls || len(done.ToolCalls) != 1 {
		t.Fatalf("finished with %q and %d calls", done.FinishReason, len(done.ToolCalls))
	}
	var arguments struct{ Query string }
	call := done.ToolCalls[0]
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil || arguments.Query != "How many days a week may I work \"remotely\"?" || call.ID == "" {
		t.Errorf("call %+v: %v", call, err)
	}
}

func chatNames(t *testing.T, c Clients) {
	_, done := mustCollect(t, c.Chat, askWithTools("calendar"))
	if len(done.ToolCalls) != 1 || done.ToolCalls[0].Name != "calendar" {
		t.Errorf("calls %+v", done.ToolCalls)
	}
}

func chatRefrains(t *testing.T, c Clients) {
	text, done := mustCollect(t, c.Chat, askWithTools(model.ToolChoiceNone))
	if len(done.ToolCalls) != 0 || text == "" {
		t.Errorf("calls %+v and text %q", done.ToolCalls, text)
	}
}

func chatConcludes(t *testing.T, c Clients) {
	req := askWithTools(model.ToolChoiceAuto)
	req.Messages = append(req.Messages,
		model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "call_9", Name: "documents_rag", Arguments: `{"query":"remote"}`}}},
		model.Message{Role: model.RoleTool, ToolCallID: "call_9", Content: passages})
	text, done := mustCollect(t, c.Chat, req)
	if len(done.ToolCalls) != 0 || !strings.Contains(text, "<source_1>") {
		t.Errorf("calls %+v and text %q", done.ToolCalls, text)
	}
}

func chatLeaves(t *testing.T, c Clients) {
	for delta, err := range c.Chat.Chat(t.Context(), ask("Who approves remote work?")) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Text != "" {
			break
		}
	}
	mustCollect(t, c.Chat, ask("Who approves remote work?"))
}

func chatCancels(t *testing.T, c Clients) {
	why := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, _, err := Collect(ctx, c.Chat, ask("Who approves remote work?"))
	if _, typed := errors.AsType[*model.Error](err); typed || !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func chatRefuses(t *testing.T, c Clients) {
	req := ask("Who approves remote work?")
	req.Messages[1].Role = "nobody"
	_, _, err := Collect(t.Context(), c.Chat, req)
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Code != model.CodeBadRequest || e.Retryable || e.Status != 400 {
		t.Errorf("got %v", err)
	}
}
