package workflows_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

var update = flag.Bool("update", false, "write what comes out into the transcripts")

// TestToolLoopTranscripts plays testdata/tool_loop/*.txtar. A transcript is a txtar
// archive. Its input sections are "documents" (one passage a line), "ask" (the
// question with the settings of its project) and "script" (the replies of the
// model, one a line). Its output sections are "turn N" (the messages of the Nth
// model call that the call before did not have), "events" (the log of the run, as
// every reader reads it) and "answer" (the stored answer). Ids of passages and
// documents are shown as names and numbers, seconds and scores as S, and the words of an
// answer as one delta, however they were cut.
func TestToolLoopTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/tool_loop/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(text)
			sections := map[string]string{}
			for _, section := range archive.Files {
				sections[section.Name] = string(section.Data)
			}
			got := string(archive.Comment)
			for _, name := range []string{"documents", "ask", "script"} {
				got += "-- " + name + " --\n" + sections[name]
			}
			got += playLoop(t, sections)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := gocmp.Diff(string(text), got); diff != "" {
				t.Errorf("(-transcript +now):\n%s", diff)
			}
		})
	}
}

// asked holds the section "ask".
type asked struct {
	Question   string
	Prompt     string // of the project; "" = the default, with passages
	Passages   int    // passages that a search returns
	ToolTurns  int
	ToolChoice string
}

// playLoop asks the question of a transcript and returns the output sections.
func playLoop(t *testing.T, sections map[string]string) string {
	t.Helper()
	test := newLoopTest(t)
	var names []string
	passages := map[string][]string{}
	for line := range strings.Lines(sections["documents"]) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if passages[name] == nil {
			names = append(names, name)
		}
		passages[name] = append(passages[name], text)
	}
	for _, name := range names {
		test.publish(name, passages[name])
	}
	replies := test.script(sections["script"])
	test.server.ScriptChat(replies...)
	var ask asked
	test.must(json.Unmarshal([]byte(sections["ask"]), &ask))
	config := knowledge.ProjectConfig{
		AI:    knowledge.AIConfig{Prompt: ask.Prompt, PromptRules: knowledge.PromptRulesOff, Retrieval: knowledge.RetrievalConfig{NumberOfChunks: ask.Passages}},
		Tools: knowledge.ToolsConfig{MaxPerRequest: ask.ToolTurns},
	}
	test.answer(knowledge.Request{
		Kind: "query", Question: ask.Question, Config: config.WithDefaults(), ToolChoice: ask.ToolChoice, MessageID: "message",
		Date: time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC),
	}, prompt.WantsContext(ask.Prompt))
	requests := test.server.Requests()
	if len(requests) != len(replies) {
		t.Errorf("the model was called %d times and the script has %d replies", len(requests), len(replies))
	}
	out := ""
	var before protocol.ChatRequest
	for i, r := range requests {
		out += fmt.Sprintf("-- turn %d --\n%s", i+1, sent(before, r))
		before = r
	}
	out += "-- events --\n" + test.events() + "-- answer --\n" + test.stored()
	return strings.NewReplacer(test.names...).Replace(out)
}

// script returns the replies of the section "script".
func (test *loopTest) script(text string) []modeltest.Reply {
	test.Helper()
	var replies []modeltest.Reply
	for line := range strings.Lines(text) {
		var reply struct {
			Text  string
			Calls []model.ToolCall
		}
		test.must(json.Unmarshal([]byte(line), &reply))
		replies = append(replies, modeltest.Reply{Text: reply.Text, ToolCalls: reply.Calls})
	}
	return replies
}

// sent returns the part of a request that the request before did not have.
func sent(before, r protocol.ChatRequest) string {
	var b strings.Builder
	messages := r.Messages
	if n := len(before.Messages); n > 0 && n <= len(messages) && gocmp.Equal(before.Messages, messages[:n]) {
		fmt.Fprintf(&b, "(the %d messages of the call before)\n", n)
		messages = messages[n:]
	}
	for _, m := range messages {
		b.WriteString(m.Role)
		if m.ToolCallID != "" {
			b.WriteString(" of call " + m.ToolCallID)
		}
		b.WriteString("\n")
		for line := range strings.Lines(string(m.Content)) {
			b.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "  calls %s %s(%s)\n", c.ID, c.Function.Name, c.Function.Arguments)
		}
	}
	switch {
	case len(r.Tools) > 0 && gocmp.Equal(before.Tools, r.Tools):
		b.WriteString("(the tools of the call before)\n")
	default:
		for _, tool := range r.Tools {
			fmt.Fprintf(&b, "tool %s\n  %s\n  %s\n", tool.Function.Name, tool.Function.Description, tool.Function.Parameters)
		}
	}
	fmt.Fprintf(&b, "tool choice %s\n", cmp.Or(r.ToolChoice.Mode+" "+r.ToolChoice.Name, " "))
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

// events returns the log of the run, and checks that the workflow, the hub and the
// blob store have the same one.
func (test *loopTest) events() string {
	test.Helper()
	var stored stream.StoredLog
	test.must(test.blobs.GetJSON(test.Context(), test.run.LogKey(), &stored))
	page, err := eventsOf(test.env, 0)
	test.must(err)
	if diff := gocmp.Diff(stored.Items, page.Items); diff != "" || !page.Closed {
		test.Errorf("the workflow's log is closed: %t (-stored +workflow):\n%s", page.Closed, diff)
	}
	near, ended, _, _ := test.hub.Since(test.run.Run, 0)
	if diff := gocmp.Diff(stored.Items, near); diff != "" || !ended {
		test.Errorf("readers in the process know of the end: %t (-stored +hub):\n%s", ended, diff)
	}
	var b strings.Builder
	numbers := regexp.MustCompile(`"(seconds|score)":[0-9.e-]+`)
	for i := 0; i < len(stored.Items); i++ {
		topic, event := test.event(stored.Items[i])
		for ; topic == stream.TopicDelta && i+1 < len(stored.Items); i++ {
			nextTopic, next := test.event(stored.Items[i+1])
			if nextTopic != topic || next.Turn != event.Turn || next.Attempt != event.Attempt {
				break
			}
			event.Text += next.Text
		}
		b.WriteString(topic + " " + numbers.ReplaceAllString(shown(test, event), `"$1":S`) + "\n")
	}
	return b.String()
}

func (test *loopTest) event(item stream.Item) (string, stream.Event) {
	test.Helper()
	event, err := stream.DecodeEvent(item.Data)
	test.must(err)
	return item.Topic, event
}

// stored returns the stored answer without the scores of its passages, which are
// tested with retrieval.
func (test *loopTest) stored() string {
	test.Helper()
	run, err := test.store.RunForSystem(test.Context(), test.run.Workspace, test.run.Run)
	test.must(err)
	var answer record.Answer
	test.must(test.blobs.GetJSON(test.Context(), run.ResultKey, &answer))
	var b strings.Builder
	fmt.Fprintf(&b, "run %s, message %s by %s\n%s\nuses %v\n", run.Status, answer.MessageID, answer.Model, answer.Answer, answer.Used)
	if answer.FinishReason != "" {
		fmt.Fprintf(&b, "finished by %s\n", answer.FinishReason)
	}
	for _, s := range answer.Sources {
		fmt.Fprintf(&b, "source %d %s of %s\n", s.Rank, s.ChunkID, s.DocumentID)
	}
	for _, c := range answer.ToolCalls {
		fmt.Fprintf(&b, "tool call %s %s(%s) %s\n", c.ID, c.Name, c.Arguments, c.Status)
	}
	return b.String() + "usage " + shown(test, answer.Usage) + "\n"
}

// shown returns v as JSON with unescaped < and >.
func shown(test *loopTest, v any) string {
	test.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	test.must(encoder.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}
