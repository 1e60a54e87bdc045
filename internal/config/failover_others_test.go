package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/config"
)

const otherModels = `
models:
  image:
    base_url: https://name.openai.azure.com
    type: azure
    api_version: 2024-10-21
    model: dall-e-3
    deployment: pictures
    failover:
      - {base_url: 'https://second.example.com/v1', model: gpt-image-1, key_env: SECOND}
  transcription:
    base_url: https://llm.example.com/v1
    model: whisper-1
    timeout: 2m
    failover:
      - {base_url: 'https://name.openai.azure.com', type: azure, model: whisper, deployment: heard, key_env: SECOND}
  rerank:
    base_url: https://llm.example.com/v1
    model: bge
    timeout: 3s
    failover:
      - {base_url: 'https://second.example.com', type: tei, model: bge-small, key_env: SECOND, timeout: 1s}
      - {base_url: 'https://third.example.com/v1', model: bge}
`

// TestEveryKindOfModelIsAList has endpoints of Azure and failovers for the kinds other than
// chat and embeddings.
func TestEveryKindOfModelIsAList(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{File: file(t, otherModels), Environ: []string{"SECOND=sk-2", "CAIRN_MODELS__RERANK__FAILOVER__1__MODEL=other"}})
	got := map[string]config.Model{"image": c.Models.Image, "transcription": c.Models.Transcription}
	want := map[string]config.Model{
		"image": {
			Endpoint: config.Endpoint{
				BaseURL: "https://name.openai.azure.com", Type: config.Azure, APIVersion: "2024-10-21", Model: "dall-e-3", Deployment: "pictures", Timeout: 4 * time.Minute, IdleTimeout: 4 * time.Minute,
			},
			Failover: []config.Endpoint{{BaseURL: "https://second.example.com/v1", Model: "gpt-image-1", KeyEnv: "SECOND", APIKey: "sk-2", Timeout: 4 * time.Minute, IdleTimeout: 4 * time.Minute}},
		},
		"transcription": {
			Endpoint: config.Endpoint{BaseURL: "https://llm.example.com/v1", Model: "whisper-1", Timeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute},
			Failover: []config.Endpoint{{
				BaseURL: "https://name.openai.azure.com", Type: config.Azure, Model: "whisper", Deployment: "heard", KeyEnv: "SECOND", APIKey: "sk-2", Timeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	rerank := []config.Endpoint{
		{BaseURL: "https://second.example.com", Type: "tei", Model: "bge-small", KeyEnv: "SECOND", APIKey: "sk-2", Timeout: time.Second, IdleTimeout: time.Second},
		{BaseURL: "https://third.example.com/v1", Type: "cohere", Model: "other", Timeout: 3 * time.Second, IdleTimeout: 3 * time.Second},
	}
	if diff := cmp.Diff(rerank, c.Models.Rerank.Failover); diff != "" {
		t.Error(diff)
	}
	if len(c.Warnings) > 0 || strings.Contains(c.Masked(), "sk-2") {
		t.Errorf("warnings %q in\n%s", c.Warnings, c.Masked())
	}
	for text, want := range map[string]string{
		"models: {image: {failover: [{base_url: 'https://a.example.com/v1', model: a}]}}":                                                                    "models.image.base_url",
		"models: {image: {base_url: 'https://a.example.com/v1', model: a, deployment: b}}":                                                                   "models.image.type azure",
		"models: {image: {base_url: 'https://a.example.com/v1', model: a, failover: [{base_url: 'https://a.example.com/v1'}]}}":                              "models.image.failover.0.model",
		"models: {transcription: {base_url: 'https://a.example.com/v1', model: a, failover: [{model: a}]}}":                                                  "models.transcription.failover.0.base_url",
		"models: {rerank: {failover: [{base_url: 'https://a.example.com/v1', model: a}]}}":                                                                   "models.rerank.base_url",
		"models: {rerank: {base_url: 'https://a.example.com/v1', model: a, failover: [{base_url: 'https://b.example.com/v1', model: a, type: azure}]}}":      "models.rerank.failover.0.type",
		"models: {rerank: {base_url: 'https://a.example.com/v1', model: a, failover: [{base_url: 'https://b.example.com/v1', model: a, key_env: MISSING}]}}": "models.rerank.failover.0.key_env",
	} {
		if _, err := config.Load(config.Options{File: file(t, text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
