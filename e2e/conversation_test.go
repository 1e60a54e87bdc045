package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestQuestionsOfAConversation asks three questions in one conversation at the same time,
// and kills the server during the first answer. Each is answered with those before it in
// mind, in the order in which they were asked.
func TestQuestionsOfAConversation(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	m.ScriptChat(modeltest.Reply{Text: strings.Repeat("one ", 100), TokenDelay: 20 * time.Millisecond}, modeltest.Text("one again"), modeltest.Text("two"), modeltest.Text("three"))
	s.setAI(t, map[string]any{"enhanceQuery": false}) // its calls would come between the calls for answers
	first := s.query(t, "First?")
	r := &reader{run: first.run, body: first}
	conversation := ""
	r.until(t, func(list []event) bool {
		conversation = conversationOf(t, list)
		return strings.Contains(answerText(t, list), "one")
	})
	behind := map[string]string{}
	for _, text := range []string{"Second?", "Third?"} {
		body := map[string]any{"text": text, "projectId": "default", "conversationId": conversation, "sse": true}
		a := s.ask(t, "/workspaces/default/webhooks/query?compact=true", body)
		behind[text] = a.run
	}
	s.kill()
	s.restart()
	for _, run := range []string{first.run, behind["Second?"], behind["Third?"]} {
		if list := s.follow(t, run, 0); list[len(list)-1].Name != "completedMessage" {
			t.Fatalf("run %s ended with %s", run, list[len(list)-1].Data)
		}
	}
	requests := m.Requests()
	var said []string
	for _, message := range requests[len(requests)-1].Messages {
		if message.Role != "system" {
			words, _, _ := strings.Cut(string(message.Content), " ")
			said = append(said, words)
		}
	}
	if got := strings.Join(said, " "); got != "First? one Second? two Third?" {
		t.Errorf("the last question was asked as %q", got)
	}
	var talk struct {
		Messages []struct{ Text string }
	}
	if status := s.call(t, "GET", "/workspaces/default/conversations/"+conversation, nil, &talk); status != http.StatusOK || len(talk.Messages) != 6 {
		t.Errorf("status %d, %d messages", status, len(talk.Messages))
	}

	m.ScriptChat(modeltest.Text("<summary>Numbers were asked for.</summary>"), modeltest.Text("four"))
	body := map[string]any{
		"text": "Fourth?", "projectId": "default", "conversationId": conversation, "sse": true,
		"projectConfigOverride": map[string]any{"ai": map[string]any{"history": map[string]any{"messages": 4}}},
	}
	fourth := s.ask(t, "/workspaces/default/webhooks/query?compact=true", body)
	if list := s.follow(t, fourth.run, 0); list[len(list)-1].Name != "completedMessage" {
		t.Fatalf("the run ended with %s", list[len(list)-1].Data)
	}
	requests = m.Requests()
	said = said[:0]
	for _, message := range requests[len(requests)-1].Messages[1:] {
		said = append(said, string(message.Content[strings.LastIndex(string(message.Content), "\n")+1:]))
	}
	if got := strings.Join(said, "|"); got != "Numbers were asked for.|Third?|three|Fourth?" {
		t.Errorf("after a summary the question was asked as %q", got)
	}
}

// conversationOf returns the conversation that the first event of a question names.
func conversationOf(t *testing.T, list []event) string {
	t.Helper()
	var started struct{ ConversationID string }
	list[0].decode(t, &started)
	return started.ConversationID
}
