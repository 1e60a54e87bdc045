package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestFieldsOfFiles sends with files what POST /document takes with a document.
func TestFieldsOfFiles(t *testing.T) {
	t.Parallel()
	e := open(t)
	send := func(fields ...part) answer { return e.upload(e.editor, append(fields, file("a.txt", "one"))) }
	document := func(a answer) map[string]any { return a.want(202)["documents"].([]any)[0].(map[string]any) }
	t.Run("access", func(t *testing.T) {
		got := document(send(part{"access", "", `{"users":["ann"],"groups":["board"]}`}))
		want := map[string]any{"workspace": false, "users": []any{"ann"}, "groups": []any{"board"}}
		if diff := cmp.Diff(want, got["access"]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("access_behind_the_file", func(t *testing.T) {
		got := document(e.upload(e.editor, []part{file("a.txt", "one"), {"access", "", `{"users":["ann"]}`}}))
		if v := e.dispatched(got["id"].(string)); !slices.Equal(v.ACL, []string{"u:ann"}) {
			t.Errorf("is for %v", v.ACL)
		}
	})
	t.Run("externalUserId", func(t *testing.T) {
		got := document(send(part{"externalUserId", "", "ann"}))
		if v := e.dispatched(got["id"].(string)); !slices.Equal(v.ACL, []string{"x:ann"}) {
			t.Errorf("is for %v", v.ACL)
		}
	})
	t.Run("conversationId_of_that_user", func(t *testing.T) {
		conversation := e.do("POST", own+"/conversations", e.reader, `{"external_user_id":"ann"}`).want(201)["id"].(string)
		of := func(user string) answer {
			return send(part{"conversationId", "", conversation}, part{"externalUserId", "", user})
		}
		got := document(of("ann"))
		if v := e.dispatched(got["id"].(string)); !slices.Equal(v.ACL, []string{"s:" + conversation}) {
			t.Errorf("is for %v", v.ACL)
		}
		of("bob").refused(404, knowledge.CodeNotFound)
		send(part{"conversationId", "", conversation}).refused(404, knowledge.CodeNotFound)
	})
	t.Run("classification", func(t *testing.T) {
		got := document(send(part{"classification", "", "public"}))
		id := e.add(e.editor, "b.txt", "two", map[string]any{"classification": "public"})
		if v := e.dispatched(id); got["classification"] != "public" || v.Classification != "public" {
			t.Errorf("%v as a file, %q as JSON", got["classification"], v.Classification)
		}
		send(part{"classification", "", strings.Repeat("x", 129)}).refused(422, knowledge.CodeInvalid)
	})
	t.Run("override", func(t *testing.T) {
		got := document(send(part{"override", "", `{"textSplitter":{"chunkSize":700}}`}))
		if v := e.dispatched(got["id"].(string)); v.Splitter.ChunkSize != 700 {
			t.Errorf("chunks of %d", v.Splitter.ChunkSize)
		}
	})
	t.Run("parser", func(t *testing.T) {
		document(send(part{"parser", "", "crawler"}))
		if locations := send(part{"parser", "", "model"}).refused(422, knowledge.CodeInvalid); !slices.Contains(locations, "body.parser") {
			t.Errorf("names %v", locations)
		}
	})
	for name, c := range map[string]struct {
		field part
		want  string
	}{
		"access that is no object":           {part{"access", "", `"all"`}, "body.access"},
		"access that is no JSON":             {part{"access", "", `{`}, "body.access"},
		"access that is null":                {part{"access", "", `null`}, "body.access"},
		"access with a field of another":     {part{"access", "", `{"user":["ann"]}`}, "body.access.user"},
		"access with a name that is none":    {part{"access", "", `{"users":[""]}`}, "body.access.users[0]"},
		"a user that is no name":             {part{"externalUserId", "", strings.Repeat("x", 300)}, "body.externalUserId"},
		"an override with an unknown field":  {part{"override", "", `{"splitter":{}}`}, "body.override.splitter"},
		"an override out of range":           {part{"override", "", `{"textSplitter":{"chunkSize":1}}`}, "body.override.textSplitter.chunkSize"},
		"an overlap that does not fit":       {part{"override", "", `{"textSplitter":{"chunkSize":100,"chunkOverlap":90}}`}, "body.override.textSplitter.chunkOverlap"},
		"a parser that is none":              {part{"parser", "", "ocr"}, "body.parser"},
		"a field that is nested very deep":   {part{"access", "", strings.Repeat("[", 100)}, "body.access"},
		"a field that is none of the form's": {part{"user", "", "ann"}, "body.user"},
	} {
		t.Run(name, func(t *testing.T) {
			if locations := send(c.field).refused(422, knowledge.CodeInvalid); !slices.Contains(locations, c.want) {
				t.Errorf("names %v, want %s", locations, c.want)
			}
		})
	}
	t.Run("access_twice", func(t *testing.T) {
		twice := send(part{"access", "", `{"users":["ann"]}`}, part{"access", "", `{"workspace":true}`})
		if diff := cmp.Diff([]string{"body.access"}, twice.refused(422, knowledge.CodeInvalid)); diff != "" {
			t.Error(diff)
		}
	})
}
