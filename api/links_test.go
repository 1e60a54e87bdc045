package api_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
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
			a.record.Sources = []activities.Source{{Rank: 1, ChunkID: knowledge.ChunkID(id, 1, 0), DocumentID: id}}
			got := e.do("POST", hooks+"/query", e.reader, `{"text":"a"}`)
			source := got.want(200)["sources"].([]any)[0].(map[string]any)["url"]
			if want := test.before + own + "/documents/" + id + "/content"; source != want {
				t.Errorf("a source is at %v, want %s", source, want)
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
