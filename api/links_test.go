package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestLinks looks at what stands before the links in answers.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ public, before string }{
		"none": {"", ""}, "an_address": {"https://pub.example", "https://pub.example"},
		"a_path_behind_it": {"https://pub.example/base/", "https://pub.example/base"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &answering{}
			e := a.open(t, func(c *api.Config, _ *api.Deps) { c.PublicURL = test.public })
			added := e.do("POST", hooks+"/document", e.editor, `{"name":"a.txt","content":{"text":"one"}}`).want(202)
			id := added["id"].(string)
			e.publish(id, knowledge.Chunk{Text: "one"})
			a.record.Sources = []record.Source{{Rank: 1, ChunkID: knowledge.ChunkID(id, 1, 0), DocumentID: id}}
			got := e.do("POST", hooks+"/query", e.reader, `{"text":"a"}`)
			source := got.want(200)["sources"].([]any)[0].(map[string]any)["url"].(string)
			if want := test.before + own + "/documents/" + id + "/content?token="; !strings.HasPrefix(source, want) {
				t.Errorf("a source is at %v, want %s…", source, want)
			}
			for link, run := range map[string]string{
				added["eventsUrl"].(string): added["runId"].(string), got.header.Get("Cairn-Events-Url"): got.header.Get("Cairn-Run-Id"),
			} {
				if !strings.HasPrefix(link, test.before+"/runs/"+run+"/events?token=") {
					t.Errorf("events are at %s", link)
				}
			}
		})
	}
}

func TestLinksToOriginals(t *testing.T) {
	t.Parallel()
	e := open(t)
	id, other := e.add(e.editor, "a.txt", "one", map[string]any{"access": map[string]any{"users": []string{"ann"}}}), e.add(e.editor, "b.txt", "two")
	e.publish(id)
	path := func(id, token string) string { return own + "/documents/" + id + "/content?token=" + token }
	token, old := e.access.SignOriginal(e.principal(e.editor), id, "", e.later()), e.access.SignOriginal(e.principal(e.editor), id, "", time.Now().Add(-time.Second))
	open := func() answer { return e.do("GET", path(id, token), "", nil) }
	if got := open(); got.status != 200 || string(got.body) != "one" {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	e.publish(other)
	for name, link := range map[string]string{
		"expired": path(id, old), "of another document": path(other, token), "forged": path(id, token+"x"), "empty": path(id, ""),
		"of a run": path(id, e.access.SignRun(e.principal(e.editor), id, e.later())),
	} {
		if got := e.do("GET", link, "", nil); got.status != 401 {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
	e.do("GET", strings.Replace(path(id, token), "default", "other", 1), "", nil).refused(404, knowledge.CodeNotFound)
	if got := e.do("GET", path(other, old), e.editor, nil); got.status != 200 {
		t.Errorf("with a key beside a token that opens nothing: status %d", got.status)
	}
	e.do("GET", path(id, old), e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("PATCH", own+"/documents/"+id, e.editor, `{"status":"inactive"}`).want(200)
	open().refused(404, knowledge.CodeNotFound)
	e.do("PATCH", own+"/documents/"+id, e.editor, `{"status":"published"}`).want(200)
	e.do("DELETE", own+"/documents/"+id, e.editor, nil).want(200)
	open().refused(404, knowledge.CodeNotFound)
}
