package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
)

const projectYAML = `
id: legal
name: Legal
ai:
  temperature: 0.1
  retrieval: {numberOfChunks: 7}
privacy: {pii: detect}
retention: {conversations: 90}
pipeline:
  - at: extracted
    name: strip the letterhead
    code: {language: python, source: "print('{}')"}
  - at: after_answer
    webhook: {url: "https://steps.example.com/check"}
    timeout: 20
    required: true
syncs:
  - connection: {type: crawl, options: {url: "https://www.example.com/handbook/"}}
    include: ["law/**"]
    exclude: ["law/drafts/**"]
    tags: [law]
    subjects: [ann@example.com]
    every: 24h
    permissions: none
    remove_vanished: false
  - connection: {type: crawl, options: {url: "https://www.example.com/handbook/"}}
    include: ["tax/**"]
limits: {queriesPerMinute: 30}
webhooks:
  - {url: "https://hooks.example.com/a", types: [documents_created]}
  - {url: "https://hooks.example.com/b", types: [tests_results, documents_deleted]}
test_sets:
  - name: golden
    file: questions.jsonl
  - name: small
    items:
      - {question: "How long is the notice?", reference: Three months, expected_documents: [contract.txt]}
`

// seedTools are custom tools as one writes them in a file of their own.
const seedTools = `
my_api_tool:
  type: automation
  description: "Calls external API"
  automation:
    url: "https://api.example.com/endpoint"
  arguments:
    type: object
    properties:
      query:
        type: string
support_agent:
  type: agent
  description: "Handles support queries"
  agent:
    id: "default"
    name: "Support Agent"
`

func TestApply(t *testing.T) {
	t.Parallel()
	s := start(t)
	env := s.env()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("questions.jsonl", `{"question": "Who signs?", "reference": "Both parties"}`+"\n"+`{"question": "What is the fee?", "reference": "400"}`+"\n")
	file := write("legal.yaml", projectYAML)
	connect := func() {
		t.Helper()
		if _, err := s.AddConnection(t.Context(), client.NewConnection{Type: "crawl", Options: map[string]string{"url": "https://www.example.com/handbook/"}}); err != nil {
			t.Fatal(err)
		}
	}
	connect()
	same := func(path string) {
		t.Helper()
		if out := cairn(t, env, "diff", "-f", path); out != "project legal: no difference\n" {
			t.Errorf("diff after apply: %s", out)
		}
	}
	has := func(out string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			if !strings.Contains(out, line+"\n") {
				t.Errorf("%q is not in:\n%s", line, out)
			}
		}
	}

	code, out, _ := command(t, env, "diff", "-f", file)
	if code != 1 {
		t.Errorf("diff of a new project: exit code %d", code)
	}
	has(out, "project legal: would change", "  + project legal", "  + webhook https://hooks.example.com/a", "  ~ test set golden: 2 questions")
	if code, _, _ := command(t, env, "projects", "show", "legal"); code == 0 {
		t.Error("a diff made the project")
	}
	has(cairn(t, env, "apply", "-f", file), "project legal: changed")
	same(file)
	if out := cairn(t, env, "apply", "-f", file); out != "project legal: no difference\n" {
		t.Errorf("the second apply: %s", out)
	}

	changed := write("changed.yaml", "id: legal\nai: {temperature: 0.3}\nwebhooks:\n  - {url: \"https://hooks.example.com/b\", types: [documents_deleted]}\n"+
		"test_sets:\n  - name: small\n    items:\n      - {question: \"How long is it?\", reference: Two months}\n")
	has(cairn(t, env, "apply", "-f", changed, "--dry-run"), "  ~ ai.temperature: 0.1 → 0.3", "  ~ webhook https://hooks.example.com/b",
		"  - webhook https://hooks.example.com/a", "  ~ test set small: 1 questions")
	same(file)
	cairn(t, env, "apply", "-f", changed)
	same(changed)
	stepped := write("stepped.yaml", "id: legal\npipeline:\n  - {at: extracted, code: {language: javascript, source: \"console.log({})\"}}\n"+
		"syncs:\n  - {connection: {type: crawl}, subjects: [bob@example.com], every: 48h}\n")
	_, out, _ = command(t, env, "diff", "-f", stepped)
	has(out, "  ~ sync of everything: every, subjects")
	cairn(t, env, "apply", "-f", stepped)
	same(stepped)

	tools := write("tools.yaml", seedTools)
	has(cairn(t, env, "apply", "-f", tools, "--project", "legal"), "project legal: changed")
	if code, out, _ := command(t, env, "diff", "-f", tools, "--project", "legal"); code != 0 {
		t.Errorf("diff of tools after apply: %s", out)
	}

	connect() // a second one alike, so that the first is named by its id

	// cairn apply makes the same project of what cairn projects get prints, also under another id.
	back := write("back.yaml", cairn(t, env, "projects", "get", "legal", "-o", "yaml"))
	same(back)
	text, err := os.ReadFile(back)
	if err != nil {
		t.Fatal(err)
	}
	copied := write("copy.yaml", strings.Replace(string(text), "id: legal\nname: Legal\n", "id: legal-copy\nname: Copy\n", 1))
	cairn(t, env, "apply", "-f", copied)
	theirs := strings.Replace(cairn(t, env, "projects", "get", "legal-copy"), "id: legal-copy\nname: Copy\n", "id: legal\nname: Legal\n", 1)
	if theirs != string(text) {
		t.Errorf("the copy differs:\n%s\nfrom\n%s", theirs, text)
	}
}

func TestApplyRefusesWrongFiles(t *testing.T) {
	t.Parallel()
	env := start(t).env()
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ text, says string }{
		"an unknown field":          {"id: legal\nai_settings: {}\n", "field ai_settings not found"},
		"no project":                {"ai: {temperature: 1}\n", "a project needs an id or a name"},
		"tools of no project":       {seedTools, "--project says whose they are"},
		"a connection that is none": {"id: legal\nsyncs:\n  - connection: {type: webdav, options: {url: \"https://none.example.com\"}}\n", "make it, because files have no secrets"},
		"no YAML":                   {"id: [", "did not find"},
	} {
		write(c.text)
		code, _, said := command(t, env, "apply", "-f", file)
		if code != 2 || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit code %d, %s", name, code, said)
		}
	}
	write("id: legal\nai: {temperature: hot}\n")
	code, _, said := command(t, env, "apply", "-f", file)
	if code != 1 || !strings.Contains(said, "temperature") {
		t.Errorf("a wrong setting: exit code %d, %s", code, said)
	}
}
