package workflows_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// TestEndpointTranscripts plays testdata/endpoints/*.txtar: what endpoints send, byte for byte,
// and what becomes of it. The input sections are "documents" and "ask", as in
// TestToolLoopTranscripts, and one "reply" for each request, "reply x6" for six of them. A reply
// that begins with "status 400" has that status. The output sections are "requests" (the
// parameters of each request, and how many messages and passages it has), "events" and "answer".
func TestEndpointTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/endpoints/*.txtar")
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
			got := string(archive.Comment)
			sections := map[string]string{}
			var replies []modeltest.Reply
			for _, section := range archive.Files {
				kind, times, _ := strings.Cut(section.Name, " x")
				if kind != "documents" && kind != "ask" && kind != "reply" {
					continue
				}
				got += "-- " + section.Name + " --\n" + string(section.Data)
				sections[kind] = string(section.Data)
				if kind == "reply" {
					replies = append(replies, slices.Repeat([]modeltest.Reply{rawReply(t, string(section.Data))}, atoi(t, times))...)
				}
			}
			got += playEndpoint(t, sections, replies)
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

// atoi reads how many times a section counts, "" = once.
func atoi(t *testing.T, times string) int {
	t.Helper()
	if times == "" {
		return 1
	}
	n, err := strconv.Atoi(times)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func rawReply(t *testing.T, body string) modeltest.Reply {
	t.Helper()
	reply := modeltest.Reply{Status: http.StatusOK, Body: body, Header: http.Header{"Content-Type": {"text/event-stream"}}}
	if first, rest, _ := strings.Cut(body, "\n"); strings.HasPrefix(first, "status ") {
		reply.Status, reply.Body = atoi(t, strings.TrimPrefix(first, "status ")), rest
		reply.Header.Set("Content-Type", "application/json")
	}
	return reply
}

// playEndpoint asks the question of a transcript and returns the output sections.
func playEndpoint(t *testing.T, sections map[string]string, replies []modeltest.Reply) string {
	t.Helper()
	test := newLoopTest(t)
	for line := range strings.Lines(sections["documents"]) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		test.publish(name, []string{text})
	}
	test.server.ScriptChat(replies...)
	var ask asked
	test.must(json.Unmarshal([]byte(sections["ask"]), &ask))
	config := knowledge.ProjectConfig{AI: knowledge.AIConfig{Retrieval: knowledge.RetrievalConfig{NumberOfChunks: ask.Passages}}}
	test.answer(knowledge.Request{Kind: "query", Question: ask.Question, Config: config.WithDefaults(), MessageID: "message"}, prompt.WantsContext(""))
	requests := test.server.Requests()
	if len(requests) != len(replies) {
		t.Errorf("the endpoint was asked %d times and the transcript has %d replies", len(requests), len(replies))
	}
	out := "-- requests --\n"
	for _, r := range requests {
		var fields map[string]json.RawMessage
		body, err := json.Marshal(r)
		test.must(err)
		test.must(json.Unmarshal(body, &fields))
		passages := 0
		for _, m := range r.Messages {
			passages += strings.Count(string(m.Content), "</source_")
		}
		delete(fields, "messages")
		maps.DeleteFunc(fields, func(_ string, value json.RawMessage) bool {
			return slices.Contains([]string{"null", "0", `""`, "false", `{"include_usage":false}`}, string(value))
		})
		out += fmt.Sprintf("%d messages, %d passages, %s\n", len(r.Messages), passages, strings.Join(slices.Sorted(maps.Keys(fields)), " "))
	}
	out += "-- events --\n" + test.events() + "-- answer --\n" + test.outcome()
	return strings.NewReplacer(test.names...).Replace(out)
}

// outcome returns the stored answer, or why the run failed.
func (test *loopTest) outcome() string {
	test.Helper()
	run, err := test.store.RunForSystem(test.Context(), test.run.Workspace, test.run.Run)
	test.must(err)
	if run.ResultKey == "" {
		return fmt.Sprintf("run %s: %s, %s\n", run.Status, run.Error.Code, run.Error.Message)
	}
	return test.stored()
}
