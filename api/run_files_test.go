package api_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/runfile"
	"github.com/cairn-rag/cairn/internal/tool"
)

func TestRunFiles(t *testing.T) {
	t.Parallel()
	const picture, page = "\x89PNG\r\n\x1a\n…", "<script>alert(1)</script>"
	e, a := openAnswering(t, record.Answer{Answer: "See the plot.", ToolCalls: []record.CalledTool{{
		ID: "c1", Name: "code_interpreter", Arguments: "{}", Status: knowledge.RunCompleted,
		Files: []knowledge.RunFile{{Name: "plot.png", MediaType: "image/png", Bytes: 11}, {Name: "påge.html", MediaType: "text/html", Bytes: 25}},
	}}})
	got := e.do("POST", hooks+"/query", e.reader, `{"text":"a"}`)
	answer, run := got.want(200), got.header.Get("Cairn-Run-Id")
	ref := knowledge.RunRef{Workspace: "default", Run: run}
	for name, content := range map[string]string{"plot.png": picture, "påge.html": page} {
		if _, err := runfile.New(e.blobs).Add(t.Context(), tool.Call{RunRef: ref, Turn: 1}, name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	called := answer["toolCalls"].([]any)[0].(map[string]any)["files"].([]any)
	shown := called[0].(map[string]any)
	if shown["name"] != "plot.png" || shown["mediaType"] != "image/png" || shown["bytes"] != 11.0 {
		t.Errorf("the answer shows %v", shown)
	}
	link := shown["url"].(string)

	t.Run("a_link_opens_a_picture_without_a_key", func(t *testing.T) {
		got := e.do("GET", link, "", nil)
		if got.status != 200 || string(got.body) != picture || got.header.Get("Content-Type") != "image/png" ||
			got.header.Get("Content-Disposition") != "inline; filename=plot.png" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
			got.header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
			t.Errorf("%d %q %v", got.status, got.body, got.header)
		}
	})
	t.Run("a_page_is_saved_and_not_shown", func(t *testing.T) {
		got := e.do("GET", called[1].(map[string]any)["url"].(string), "", nil)
		if got.status != 200 || string(got.body) != page || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment;") {
			t.Errorf("%d %q %v", got.status, got.body, got.header)
		}
	})
	path := func(name, token string) string {
		return "/runs/" + run + "/files/" + name + "?token=" + url.QueryEscape(token)
	}
	t.Run("no_other_link_does", func(t *testing.T) {
		for name, link := range map[string]string{
			"expired":         path("plot.png", e.access.SignRunFile(e.principal(e.editor), run, "plot.png", time.Now().Add(-time.Second))),
			"of_another_file": path("plot.png", e.access.SignRunFile(e.principal(e.editor), run, "p%C3%A5ge.html", e.later())),
			"of_another_run":  path("plot.png", e.access.SignRunFile(e.principal(e.editor), "other", "plot.png", e.later())),
			"of_the_events":   path("plot.png", e.access.SignRun(e.principal(e.editor), run, e.later())),
			"forged":          link + "x", "none": path("plot.png", ""),
		} {
			if got := e.do("GET", link, "", nil); got.status != 401 {
				t.Errorf("%s: status %d", name, got.status)
			}
		}
		other := strings.Replace(link, "/runs/", "/workspaces/other/runs/", 1)
		e.do("GET", other, "", nil).refused(404, knowledge.CodeNotFound)
	})
	t.Run("whoever_may_read_the_answer_may_read_its_files", func(t *testing.T) {
		for _, path := range []string{"/runs/", own + "/runs/"} {
			path += run + "/files/plot.png"
			for key, want := range map[string]int{e.reader: 200, e.admin: 200, e.editor: 403, "": 401} {
				if got := e.do("GET", path, key, nil); got.status != want {
					t.Errorf("%s with %q: status %d, want %d", path, key, got.status, want)
				}
			}
			e.do("GET", path+"?userId=ann", e.reader, nil).refused(404, knowledge.CodeNotFound)
		}
	})
	t.Run("a_name_that_no_file_has_is_not_found", func(t *testing.T) {
		for _, name := range []string{"other.png", "..%2F..%2Frequest.json", "request.json", "%00"} {
			if got := e.do("GET", "/runs/"+run+"/files/"+name, e.reader, nil); got.status != 404 {
				t.Errorf("%s: status %d", name, got.status)
			}
		}
	})
	if len(a.inputs) != 1 {
		t.Errorf("%d questions", len(a.inputs))
	}
}
