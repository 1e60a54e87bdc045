package api_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestAttachmentsOfAConversation(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.do("POST", own+"/conversations", e.editor, `{"external_user_id":"ann"}`).want(201)["id"].(string)
	path := own + "/conversations/" + id + "/attachments"
	attach := func(query string, parts ...part) answer {
		body, contentType := form(t, parts...)
		return e.do("POST", path+query, e.editor, body, "Content-Type", contentType)
	}
	const ann = "?external_user_id=ann"
	got := attach(ann, file("a.txt", "one"), part{"tags", "", "x"}).want(202)
	document := got["documents"].([]any)[0].(map[string]any)["id"].(string)
	editor, err := e.access.Authenticate(t.Context(), accessCredentials(e.editor))
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.store.Document(t.Context(), editor, document)
	if err != nil || d.ConversationID != id || d.Project != "default" || d.Tags[0] != "x" {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, key := range []string{e.editor, e.reader} {
		if data := e.do("GET", path+ann, key, nil).want(200)["data"].([]any); len(data) != 1 || data[0].(map[string]any)["id"] != document {
			t.Errorf("listed %v", data)
		}
	}
	t.Run("of_another_user_are_not_found", func(t *testing.T) {
		for _, query := range []string{"", "?external_user_id=bob"} {
			attach(query, file("b.txt", "two")).refused(404, knowledge.CodeNotFound)
			e.do("GET", path+query, e.editor, nil).refused(404, knowledge.CodeNotFound)
			e.do("DELETE", path+"/"+document+query, e.editor, nil).refused(404, knowledge.CodeNotFound)
		}
	})
	t.Run("the_form_names_no_other_conversation", func(t *testing.T) {
		if locations := attach(ann, file("b.txt", "two"), part{"conversationId", "", "other"}).refused(422, knowledge.CodeInvalid); locations[0] != "body.conversationId" {
			t.Errorf("locations %v", locations)
		}
	})
	t.Run("one_is_removed", func(t *testing.T) {
		other := e.add(e.editor, "other", "text")
		e.do("DELETE", path+"/"+other+ann, e.editor, nil).refused(404, knowledge.CodeNotFound)
		if got := e.do("DELETE", path+"/"+document+ann, e.editor, nil).want(200); got["id"] != document || got["status"] != "deleting" {
			t.Errorf("answer %v", got)
		}
	})
}
