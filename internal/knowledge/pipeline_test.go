package knowledge_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestPipelineFields names each field that is out of its range.
func TestPipelineFields(t *testing.T) {
	t.Parallel()
	hook := &knowledge.PipelineWebhook{URL: "https://steps.example.com"}
	python := &knowledge.PipelineCode{Language: knowledge.PipelinePython, Source: "print('{}')"}
	check := func(url string) error {
		if strings.HasPrefix(url, "https://") {
			return nil
		}
		return knowledge.Errorf(knowledge.CodeInvalid, "must be https")
	}
	for name, tt := range map[string]struct {
		step    knowledge.PipelineStep
		privacy knowledge.PrivacyConfig
		wrong   string // location of the only wrong field; "" = none
	}{
		"webhook":                      {step: knowledge.PipelineStep{At: "extracted", Webhook: hook}},
		"code":                         {step: knowledge.PipelineStep{At: "after_answer", Code: python, Timeout: 60, Required: true}},
		"unknown place":                {step: knowledge.PipelineStep{At: "before", Webhook: hook}, wrong: "p[0].at"},
		"neither":                      {step: knowledge.PipelineStep{At: "extracted"}, wrong: "p[0]"},
		"both":                         {step: knowledge.PipelineStep{At: "extracted", Webhook: hook, Code: python}, wrong: "p[0]"},
		"unknown language":             {step: knowledge.PipelineStep{At: "extracted", Code: &knowledge.PipelineCode{Language: "perl", Source: "1"}}, wrong: "p[0].code.language"},
		"no source":                    {step: knowledge.PipelineStep{At: "extracted", Code: &knowledge.PipelineCode{Language: "python", Source: " "}}, wrong: "p[0].code.source"},
		"long source":                  {step: knowledge.PipelineStep{At: "extracted", Code: &knowledge.PipelineCode{Language: "python", Source: strings.Repeat("x", 20_001)}}, wrong: "p[0].code.source"},
		"long timeout":                 {step: knowledge.PipelineStep{At: "extracted", Webhook: hook, Timeout: 61}, wrong: "p[0].timeout"},
		"long name":                    {step: knowledge.PipelineStep{At: "extracted", Webhook: hook, Name: strings.Repeat("x", 101)}, wrong: "p[0].name"},
		"refused address":              {step: knowledge.PipelineStep{At: "extracted", Webhook: &knowledge.PipelineWebhook{URL: "http://10.0.0.1"}}, wrong: "p[0].webhook.url"},
		"webhook of a private project": {step: knowledge.PipelineStep{At: "extracted", Webhook: hook}, privacy: knowledge.PrivacyConfig{Providers: knowledge.PrivacyRedact}, wrong: "p[0].webhook"},
		"code of a private project":    {step: knowledge.PipelineStep{At: "extracted", Code: python}, privacy: knowledge.PrivacyConfig{Providers: knowledge.PrivacyRedact}},
	} {
		wrong := knowledge.Pipeline{tt.step}.Fields("p", tt.privacy, check)
		if tt.wrong == "" && wrong != nil || tt.wrong != "" && (len(wrong) != 1 || wrong[0].Location != tt.wrong) {
			t.Errorf("%s: %v, want %q", name, wrong, tt.wrong)
		}
	}
	if wrong := make(knowledge.Pipeline, 11).Fields("p", knowledge.PrivacyConfig{}, check); len(wrong) != 1 || wrong[0].Location != "p" {
		t.Errorf("eleven steps: %v", wrong)
	}
}

// TestPipelineVersion changes with what a step does, and with the steps of documents alone.
func TestPipelineVersion(t *testing.T) {
	t.Parallel()
	one := knowledge.PipelineStep{At: "extracted", Webhook: &knowledge.PipelineWebhook{URL: "https://a.example.com"}}
	named, other := one, one
	named.Name, named.Timeout, named.Required = "redact", 5, true
	other.Webhook = &knowledge.PipelineWebhook{URL: "https://b.example.com"}
	if one.Version() != named.Version() || one.Version() == other.Version() {
		t.Errorf("versions %s, %s, %s", one.Version(), named.Version(), other.Version())
	}
	answer := one
	answer.At = "after_answer"
	if v := (knowledge.Pipeline{answer}).OfVersion(); v != "" {
		t.Errorf("a step after the answer outdates documents: %q", v)
	}
	if v := (knowledge.Pipeline{answer, one}).OfVersion(); v != one.Version() {
		t.Errorf("version %q, want %q", v, one.Version())
	}
}
