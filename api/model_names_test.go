package api_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// listed are the models that an endpoint lists; nil = it does not answer.
type listed []string

func (l listed) Unlisted(_ context.Context, names []string) ([]model.Unlisted, error) {
	var unlisted []model.Unlisted
	for _, name := range names {
		switch {
		case l == nil:
			return nil, errors.New("http://10.1.2.3/v1/models does not answer")
		case !slices.Contains(l, name):
			unlisted = append(unlisted, model.Unlisted{Name: name, Alike: l})
		}
	}
	return unlisted, nil
}

// TestChatModelsOfAProject saves chat models of an instance whose endpoint lists two of them.
func TestChatModelsOfAProject(t *testing.T) {
	t.Parallel()
	names := listed{"m1", "m2"}
	e := open(t, func(_ *api.Config, d *api.Deps) { d.ModelNames = names })
	for name, test := range map[string]struct {
		change string
		wrong  []string
	}{
		"listed":             {`{"ai":{"model":"m1","failover":["m2"]}}`, nil},
		"not_listed":         {`{"ai":{"model":"m3"}}`, []string{"body.ai.model"}},
		"failover":           {`{"ai":{"failover":["m1","m4","m2","m5"]}}`, []string{"body.ai.failover[1]", "body.ai.failover[3]"}},
		"of_the_enrichment":  {`{"ai":{"enrichment":{"summary":true},"model":"m3"}}`, []string{"body.ai.model"}},
		"of_a_judge":         {`{"ai":{"retrieval":{"reranker":"judge"},"model":"m3"}}`, []string{"body.ai.model"}},
		"the_instance's":     {`{"ai":{"model":"","failover":null}}`, nil},
		"null":               {`{"ai":null}`, nil},
		"of_another_setting": {`{"ai":{"prompt":"${context}"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			created := e.do("POST", hooks+"/projects", e.admin, `{"name":"`+name+`",`+test.change[1:])
			changed := e.do("PATCH", own+"/projects/default", e.admin, test.change)
			for _, got := range []answer{created, changed} {
				if test.wrong == nil {
					if got.status >= 300 || strings.Contains(string(got.body), "model_not_checked") {
						t.Errorf("%d %s", got.status, got.body)
					}
					continue
				}
				if diff := cmp.Diff(test.wrong, got.refused(422, knowledge.CodeInvalid)); diff != "" {
					t.Error(diff)
				}
				if !strings.Contains(string(got.body), "such as m1, m2, or leave it out") {
					t.Errorf("says %s", got.body)
				}
			}
		})
	}
}

// TestChatModelsThatCannotBeChecked saves chat models while the endpoint does not answer.
func TestChatModelsThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	e := open(t, func(_ *api.Config, d *api.Deps) { d.ModelNames = listed(nil) })
	for path, body := range map[string]string{
		"POST " + hooks + "/projects":        `{"name":"new","ai":{"model":"m3","failover":["m4"]}}`,
		"PATCH " + own + "/projects/default": `{"ai":{"model":"m3","failover":["m4"]}}`,
	} {
		method, target, _ := strings.Cut(path, " ")
		got := e.do(method, target, e.admin, body)
		if got.status >= 300 {
			t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		var fields []string
		for _, notice := range got.want(got.status)["notices"].([]any) {
			if n := notice.(map[string]any); n["code"] == "model_not_checked" {
				fields = append(fields, n["field"].(string))
			}
		}
		if diff := cmp.Diff([]string{"ai.model", "ai.failover[0]"}, fields); diff != "" || strings.Contains(string(got.body), "10.1.2.3") {
			t.Errorf("%s: %s%s", path, diff, got.body)
		}
	}
	again := e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"model":"m3","temperature":0.5}}`)
	if again.want(200); strings.Contains(string(again.body), "model_not_checked") {
		t.Errorf("a model that is there already: %s", again.body)
	}
}
