package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVisibleTo uploads documents for everybody, for some, for a customer and into a conversation,
// as JSON and as files: the answer says for whom the document is, also where an earlier version is
// for others.
func TestVisibleTo(t *testing.T) {
	t.Parallel()
	e := open(t)
	conversation := e.do("POST", own+"/conversations", e.editor, `{"external_user_id":"ann"}`).want(201)["id"].(string)
	type fields = map[string]any
	readers := func(more fields) fields {
		want := fields{"workspace": false, "users": []any{}, "groups": []any{}}
		for name, value := range more {
			want[name] = value
		}
		return want
	}
	for _, test := range []struct {
		name   string
		fields fields
		parts  []part
		want   fields
	}{
		{"everybody", nil, nil, readers(fields{"workspace": true})},
		{"some", fields{"access": fields{"users": []string{"ann"}, "groups": []string{"board"}}}, []part{{"access", "", `{"users":["ann"],"groups":["board"]}`}}, readers(fields{"users": []any{"ann"}, "groups": []any{"board"}})},
		{"others", fields{"access": fields{"users": []string{"bob"}}}, []part{{"access", "", `{"users":["bob"]}`}}, readers(fields{"users": []any{"bob"}})},
		{"a_customer", fields{"external_user_id": "ann"}, []part{{"external_user_id", "", "ann"}}, readers(fields{"externalUserId": "ann"})},
		{"a_conversation", fields{"externalUserId": "ann", "conversationId": conversation}, []part{{"externalUserId", "", "ann"}, {"conversationId", "", conversation}}, readers(fields{"conversationId": conversation})},
	} {
		body := fields{"externalId": "versions.txt", "content": fields{"text": "one for " + test.name}}
		for name, value := range test.fields {
			body[name] = value
		}
		if diff := cmp.Diff(test.want, e.do("POST", hooks+"/document", e.editor, body).want(202)["visibleTo"]); diff != "" {
			t.Errorf("%s, as JSON: %s", test.name, diff)
		}
		sent := e.upload(e.editor, append(test.parts, part{"externalId", "", "files.txt"}, file("a.txt", "one for "+test.name)))
		if diff := cmp.Diff(test.want, sent.want(202)["documents"].([]any)[0].(fields)["visibleTo"]); diff != "" {
			t.Errorf("%s, as a file: %s", test.name, diff)
		}
	}
}
