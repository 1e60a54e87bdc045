package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/config"
)

const failoverSample = `
models:
  chat:
    base_url: https://llm.example.com/v1
    model: large
    timeout: 2m
    failover:
      - {base_url: 'https://second.example.com/v1', model: small, key_env: SECOND, idle_timeout: 20s}
      - {base_url: 'https://name.openai.azure.com', type: azure, api_version: 2024-10-21, model: gpt-4o, deployment: chat}
`

func TestFailover(t *testing.T) {
	t.Parallel()
	second := config.Endpoint{BaseURL: "https://second.example.com/v1", Model: "small", KeyEnv: "SECOND", APIKey: "sk-2", Timeout: 2 * time.Minute, IdleTimeout: 20 * time.Second}
	azure := config.Endpoint{BaseURL: "https://name.openai.azure.com", Type: config.Azure, APIVersion: "2024-10-21", Model: "gpt-4o", Deployment: "chat", Timeout: 2 * time.Minute, IdleTimeout: time.Minute}
	other := second
	other.Model = "other"
	path := file(t, failoverSample)
	for name, test := range map[string]struct {
		options config.Options
		want    []config.Endpoint
	}{
		"in_a_file":                  {config.Options{File: path, Environ: []string{"SECOND=sk-2"}}, []config.Endpoint{second, azure}},
		"a_variable_changes_one_key": {config.Options{File: path, Environ: []string{"SECOND=sk-2", "CAIRN_MODELS__CHAT__FAILOVER__0__MODEL=other"}}, []config.Endpoint{other, azure}},
		"in_the_environment": {config.Options{Environ: []string{
			"SECOND=sk-2", "CAIRN_MODELS__CHAT__BASE_URL=https://llm.example.com/v1", "CAIRN_MODELS__CHAT__MODEL=large", "CAIRN_MODELS__CHAT__TIMEOUT=2m",
			"CAIRN_MODELS__CHAT__FAILOVER__0__BASE_URL=https://second.example.com/v1", "CAIRN_MODELS__CHAT__FAILOVER__0__MODEL=small",
			"CAIRN_MODELS__CHAT__FAILOVER__0__KEY_ENV=SECOND", "CAIRN_MODELS__CHAT__FAILOVER__0__IDLE_TIMEOUT=20s",
		}}, []config.Endpoint{second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t, test.options)
			if diff := cmp.Diff(test.want, c.Models.Chat.Failover); diff != "" {
				t.Error(diff)
			}
			if len(c.Warnings) > 0 {
				t.Errorf("warnings %q", c.Warnings)
			}
		})
	}
	t.Run("is_shown_without_its_keys", func(t *testing.T) {
		t.Parallel()
		c := load(t, config.Options{File: path, Environ: []string{"SECOND=sk-2"}})
		text := c.Masked()
		if !strings.Contains(text, "key_env: SECOND") || strings.Contains(text, "sk-2") {
			t.Error(text)
		}
		again := load(t, config.Options{File: file(t, text), Environ: []string{"SECOND=sk-2"}})
		if diff := cmp.Diff(c.Models.Chat, again.Models.Chat); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("is_explained", func(t *testing.T) {
		t.Parallel()
		options := config.Options{File: path, Environ: []string{"SECOND=sk-2", "CAIRN_MODELS__CHAT__FAILOVER__0__MODEL=other"}}
		for key, want := range map[string][2]string{
			"models.chat.failover.0.model":       {"other", "environment variable CAIRN_MODELS__CHAT__FAILOVER__0__MODEL"},
			"models.chat.failover.1.deployment":  {"chat", "configuration file " + path},
			"models.chat.failover.1.api_version": {"2024-10-21", "configuration file " + path},
		} {
			e, err := config.Explain(key, options)
			if err != nil || strings.Trim(e.Value, `"`) != want[0] || e.From != want[1] {
				t.Errorf("%s: %+v, %v", key, e, err)
			}
		}
		if e, err := config.Explain("models.chat.failover.2.model", options); err == nil {
			t.Errorf("a section that is not there is explained as %+v", e)
		}
	})
}

func TestMistakesOfFailover(t *testing.T) {
	t.Parallel()
	chat := func(more string) string {
		return "models: {chat: {base_url: 'https://x/v1', model: m, " + more + "}}"
	}
	for name, test := range map[string]struct {
		yaml string
		env  []string
		want string
	}{
		"unknown_key":             {chat("failover: [{base_url: 'https://y/v1', mode: n}]"), nil, "models.chat.failover.<n>.model"},
		"a_key_of_other_models":   {"models: {rerank: {deployment: d}}", nil, `unknown key "models.rerank.deployment"`},
		"a_key_of_their_failover": {"models: {rerank: {failover: [{api_version: preview}]}}", nil, `unknown key "models.rerank.failover.0.api_version"`},
		"a_key_of_first_models":   {"models: {image: {idle_timeout: 1m}}", nil, `unknown key "models.image.idle_timeout"`},
		"no_key_of_a_failover":    {chat("failover: [{dimensions: 3}]"), nil, `unknown key "models.chat.failover.0.dimensions"`},
		"no_sections":             {chat("failover: [gpt]"), nil, "models.chat.failover takes a list of sections"},
		"one_value":               {"", []string{"CAIRN_MODELS__CHAT__FAILOVER=x"}, "__0__BASE_URL"},
		"no_address":              {chat("failover: [{model: n}]"), nil, "models.chat.failover.0.base_url"},
		"no_model":                {chat("failover: [{base_url: 'https://y/v1'}]"), nil, "models.chat.failover.0.model"},
		"a_gap":                   {chat("timeout: 1m"), []string{"CAIRN_MODELS__CHAT__FAILOVER__1__MODEL=x"}, "none of the number 0"},
		"a_key_that_is_not_set":   {chat("failover: [{base_url: 'https://y/v1', model: n, key_env: NOPE}]"), nil, "models.chat.failover.0.key_env"},
		"no_first_endpoint":       {"models: {chat: {failover: [{base_url: 'https://y/v1', model: n}]}}", nil, "models.chat.base_url"},
		"another_type":            {chat("type: bedrock"), nil, "models.chat.type"},
		"a_version_without_azure": {chat("api_version: preview"), nil, "models.chat.type azure"},
		"a_version_that_is_none":  {"models: {chat: {base_url: 'https://x', model: m, type: azure, api_version: new}}", nil, "models.chat.api_version"},
		"a_path_of_azure":         {"models: {chat: {base_url: 'https://x/openai/v1/', model: m, type: azure}}", nil, "without /openai"},
		"another_embedding_model": {"models: {embedding: {base_url: 'https://x/v1', model: m, failover: [{base_url: 'https://y/v1', model: n}]}}", nil, "models.embedding.failover.0.model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Options{File: file(t, test.yaml), Environ: test.env})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v does not say %q", err, test.want)
			}
		})
	}
}
