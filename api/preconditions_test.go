package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestChangesOfWhatWasChangedMeanwhile sends two changes that rest on the same reading.
func TestChangesOfWhatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	e := open(t)
	t.Run("of a project", func(t *testing.T) {
		const path = own + "/projects/default"
		read := e.do("GET", path, e.admin, nil)
		tag := read.header.Get("ETag")
		if tag != `"`+read.want(200)["updatedAt"].(string)+`"` {
			t.Errorf("ETag %s of a project changed at %v", tag, read.want(200)["updatedAt"])
		}
		first := e.do("PATCH", path, e.admin, `{"name":"First"}`, "If-Match", tag)
		if first.want(200); first.header.Get("ETag") == tag {
			t.Errorf("after the change it is %s still", tag)
		}
		e.do("PATCH", path, e.admin, `{"name":"Second"}`, "If-Match", tag).refused(409, knowledge.CodeConflict)
		if got := e.do("GET", path, e.admin, nil); got.want(200)["name"] != "First" || got.header.Get("ETag") != first.header.Get("ETag") {
			t.Errorf("the project is %s with ETag %s, not %s", got.body, got.header.Get("ETag"), first.header.Get("ETag"))
		}
		e.do("PATCH", path, e.admin, `{"name":"Third"}`, "If-Match", first.header.Get("ETag")).want(200)
		e.do("PATCH", path, e.admin, `{"name":"Any"}`, "If-Match", "*").want(200)
		e.do("PATCH", path, e.admin, `{"name":"Any"}`, "If-Match", "yesterday").refused(422, knowledge.CodeInvalid)
	})
	t.Run("of a document", func(t *testing.T) {
		id := e.add(e.editor, "lights", "The pier has a lighthouse.", nil)
		path := own + "/documents/" + id
		read := e.do("GET", path, e.editor, nil)
		tag := read.header.Get("ETag")
		if tag != `"`+read.want(200)["updatedAt"].(string)+`"` {
			t.Errorf("ETag %s of a document changed at %v", tag, read.want(200)["updatedAt"])
		}
		first := e.do("PATCH", path, e.editor, `{"tags":["first"]}`, "If-Match", tag)
		if first.want(200); first.header.Get("ETag") == tag {
			t.Errorf("after the change it is %s still", tag)
		}
		e.do("PATCH", path, e.editor, `{"tags":["second"]}`, "If-Match", tag).refused(409, knowledge.CodeConflict)
		if got := e.do("GET", path, e.editor, nil); !cmp.Equal(got.want(200)["tags"], []any{"first"}) || got.header.Get("ETag") != first.header.Get("ETag") {
			t.Errorf("the document is %s with ETag %s, not %s", got.body, got.header.Get("ETag"), first.header.Get("ETag"))
		}
		e.do("PATCH", path, e.editor, `{"legal_hold":true}`, "If-Match", first.header.Get("ETag")).want(200)
		e.do("PATCH", path, e.editor, `{"tags":[]}`, "If-Match", "*").want(200)
		e.do("PATCH", path, e.editor, `{"tags":[]}`, "If-Match", "yesterday").refused(422, knowledge.CodeInvalid)
	})
	t.Run("of a secret", func(t *testing.T) {
		const path, body = own + "/secrets/lamp", `{"value":"v","uses":["header"],"hosts":["example.com"]}`
		first := e.do("PUT", path, e.admin, body, "If-None-Match", "*")
		first.want(200)
		e.do("PUT", path, e.admin, body, "If-None-Match", "*").refused(409, knowledge.CodeConflict)
		tag := first.header.Get("ETag")
		if got := e.do("GET", path, e.admin, nil); got.header.Get("ETag") != tag {
			t.Errorf("the secret has ETag %s, not %s", got.header.Get("ETag"), tag)
		}
		e.do("PUT", path, e.admin, body, "If-Match", tag).want(200)
		e.do("PUT", path, e.admin, body, "If-Match", tag).refused(409, knowledge.CodeConflict)
		e.do("DELETE", path, e.admin, nil).want(204)
		e.do("PUT", path, e.admin, body, "If-Match", tag).refused(409, knowledge.CodeConflict)
		e.do("PUT", path, e.admin, body).want(200)
	})
}
