package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/pipeline"
)

// briefly answers every step with an instruction.
type briefly struct{ asked []pipeline.Call }

// Run implements api.StepRunner.
func (b *briefly) Run(_ context.Context, c pipeline.Call) ([]byte, error) {
	b.asked = append(b.asked, c)
	if strings.Contains(c.Step.Code.Source, "invent") {
		return []byte(`{"passages":["of nobody"]}`), nil
	}
	return []byte(`{"instructions":"Be brief."}`), nil
}

const briefStep = `{"at":"before_prompt","code":{"language":"python","source":"print(1)"}}`

func TestPipelineOfProject(t *testing.T) {
	t.Parallel()
	e := open(t)
	made := e.do("PATCH", defaultProject, e.admin, `{"pipeline":[{"at":"extracted","webhook":{"url":"https://steps.test/x"}}]}`).want(200)
	if secret, _ := made["callbackSecret"].(string); !strings.HasPrefix(secret, "whsec_") || made["outdatedDocuments"] == nil {
		t.Errorf("a project without a secret shows %v", made)
	}
	again := e.do("PATCH", defaultProject, e.admin, `{"pipeline":[`+briefStep+`,{"at":"extracted","webhook":{"url":"https://steps.test/y"}}]}`).want(200)
	if again["callbackSecret"] != nil {
		t.Error("the secret is made again")
	}
	if shown := e.do("GET", defaultProject, e.admin, nil); !strings.Contains(string(shown.body), "steps.test/y") {
		t.Errorf("its owner sees %s", shown.body)
	}
	if shown := e.do("GET", defaultProject, e.reader, nil); strings.Contains(string(shown.body), "steps.test") || shown.status != 200 {
		t.Errorf("a reader sees %s", shown.body)
	}
	e.do("PATCH", defaultProject, e.reader, `{"pipeline":[]}`).want(403)
	for change, location := range map[string]string{
		`{"pipeline":[{"at":"later","webhook":{"url":"https://steps.test"}}]}`:                                         "body.pipeline[0].at",
		`{"pipeline":[{"at":"extracted"}]}`:                                                                            "body.pipeline[0]",
		`{"pipeline":[{"at":"extracted","webhook":{"url":"http://127.0.0.1/x"}}]}`:                                     "body.pipeline[0].webhook.url",
		`{"pipeline":[{"at":"extracted","code":{"language":"perl","source":"1"}}]}`:                                    "body.pipeline[0].code.language",
		`{"pipeline":[{"at":"extracted","timeout":61,"webhook":{"url":"https://steps.test"}}]}`:                        "body.pipeline[0].timeout",
		`{"privacy":{"providers":"redact"}}`:                                                                           "body.pipeline[1].webhook",
		`{"pipeline":[` + strings.TrimSuffix(strings.Repeat(briefStep+",", 11), ",") + `]}`:                            "body.pipeline",
		`{"pipeline":[{"at":"extracted","code":{"language":"python","source":"` + strings.Repeat("x", 20001) + `"}}]}`: "body.pipeline[0].code.source",
	} {
		refused := e.do("PATCH", defaultProject, e.admin, change)
		if refused.status != 422 || !strings.Contains(string(refused.body), `"`+location+`"`) {
			t.Errorf("%.80s: %d %s, want 422 with %s", change, refused.status, refused.body, location)
		}
	}
	refused := e.do("POST", hooks+"/query", e.admin, `{"text":"a","projectId":"default","projectConfigOverride":{"pipeline":[]}}`)
	if refused.status != 422 || !strings.Contains(string(refused.body), "projectConfigOverride.pipeline") {
		t.Errorf("a question without the steps: %d %s", refused.status, refused.body)
	}
}

func TestPipelineTry(t *testing.T) {
	t.Parallel()
	steps := &briefly{}
	e := open(t, func(_ *api.Config, d *api.Deps) { d.Steps = steps })
	const try = defaultProject + "/pipeline/try"
	tried := e.do("POST", try, e.admin, `{"step":`+briefStep+`,"question":"How?"}`).want(200)
	if tried["changed"] != true || tried["error"] != nil || len(steps.asked) != 1 || !steps.asked[0].Once {
		t.Errorf("tried %v with the calls %+v", tried, steps.asked)
	}
	invented := e.do("POST", try, e.admin, `{"step":`+strings.Replace(briefStep, "print(1)", "invent", 1)+`,"question":"How?"}`).want(200)
	if failure, _ := invented["error"].(map[string]any); failure["code"] != string(knowledge.CodeStepFailed) {
		t.Errorf("an invented passage: %v", invented)
	}
	e.do("POST", try, e.admin, `{"step":`+briefStep+`}`).want(422)
	e.do("POST", try, e.admin, `{"step":{"at":"extracted","code":{"language":"python","source":"1"}}}`).want(422)
	e.do("POST", try, e.reader, `{"step":`+briefStep+`,"question":"How?"}`).want(403)
	e.do("POST", try, e.editor, `{"step":`+briefStep+`,"question":"How?"}`).want(403)
	if len(steps.asked) != 2 {
		t.Errorf("%d calls", len(steps.asked))
	}
	if rows := e.auditLines("format=jsonl&action=try-pipeline-step"); len(rows) < 2 {
		t.Errorf("the audit has %v", rows)
	}
}
