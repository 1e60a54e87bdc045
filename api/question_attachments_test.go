package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/workflows"
)

// askWith returns a question with attachments.
func askWith(list ...any) map[string]any {
	return map[string]any{"text": "What does the file say?", "projectId": "default", "sse": true, "attachments": list}
}

// attachedText is a new attachment.
func attachedText() map[string]any {
	return map[string]any{"name": "a.txt", "content": map[string]any{"text": "The file says so."}}
}

// TestQueryWithNewAttachments: they become documents of the new conversation, in their order.
func TestQueryWithNewAttachments(t *testing.T) {
	t.Parallel()
	e := open(t)
	request := e.asked(hooks+"/query", e.editor, askWith(attachedText(), "https://example.com/b.txt"))
	if len(request.Attachments) != 2 || request.ConversationID == "" || request.Principal.ConversationID() != request.ConversationID {
		t.Fatalf("request %+v\n%s", request, e.log)
	}
	for i, name := range []string{"a.txt", "b.txt"} {
		d, err := e.store.Document(t.Context(), request.Principal.Reader(), request.Attachments[i])
		if err != nil || d.Name != name || d.ConversationID != request.ConversationID {
			t.Errorf("document %+v, %v", d, err)
		}
	}
	e.do("GET", own+"/documents/"+request.Attachments[0], e.reader, nil).refused(404, knowledge.CodeNotFound)
}

// TestQueryWithDocumentsAttached names documents that are there.
func TestQueryWithDocumentsAttached(t *testing.T) {
	t.Parallel()
	e := open(t)
	document := e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"x"}}`).want(202)["id"].(string)
	e.publish(document, knowledge.Chunk{Text: "x"})
	for _, item := range []any{document, map[string]any{"id": document}} {
		request := e.asked(hooks+"/query", e.reader, askWith(item))
		if diff := cmp.Diff([]string{document}, request.Attachments); diff != "" {
			t.Error(diff)
		}
	}
}

func TestQueryWithWrongAttachments(t *testing.T) {
	t.Parallel()
	e := open(t)
	text := attachedText()
	e.do("POST", hooks+"/query", e.reader, askWith(text)).refused(403, knowledge.CodeForbidden)
	e.do("POST", hooks+"/query", e.editor, askWith("no-such-document")).refused(404, knowledge.CodeNotFound)
	e.do("POST", hooks+"/query", e.editor, askWith(map[string]any{"content": map[string]any{"text": ""}})).refused(422, knowledge.CodeEmpty)
	for _, list := range [][]any{
		{map[string]any{"name": "a.txt"}}, {map[string]any{"id": "a", "url": "https://example.com"}}, {map[string]any{"file": "a"}}, {7}, {""},
		{text, text, text, text, text, text, text, text, text, text, text},
	} {
		e.do("POST", hooks+"/query", e.editor, askWith(list...)).refused(422, knowledge.CodeInvalid)
	}
}

// TestResearchWithAttachments: a research waits for them as an answer does.
func TestResearchWithAttachments(t *testing.T) {
	t.Parallel()
	e := open(t)
	body := askWith(attachedText())
	body["deepResearch"] = true
	request := e.asked(hooks+"/query", e.editor, body)
	in := workflows.NewResearchInput(record.NewAnswerInput(knowledge.RunRef{}, request))
	if request.Kind != knowledge.KindResearch || len(request.Attachments) != 1 || !cmp.Equal(request.Attachments, in.Attachments) {
		t.Errorf("request %+v, input %+v", request, in)
	}
}
