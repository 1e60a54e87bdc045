package config_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/config"
)

func TestALocalEmbeddingModel(t *testing.T) {
	t.Parallel()
	const local = "models: {embedding: {type: local, model: multilingual-e5-small}}"
	for name, environ := range map[string][]string{"alone": nil, "beside_a_key_of_openai": {"OPENAI_API_KEY=sk-1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := load(t, config.Options{File: file(t, local), Environ: environ}).Models
			if e := m.Embedding; !e.Local() || e.Offline() || e.BaseURL != "" || e.Provider() != "local" || e.Dimensions != 0 {
				t.Errorf("the model is %+v", e)
			}
			if m.Chat.Offline() != (environ == nil) {
				t.Errorf("the model that answers is at %s", m.Chat.Provider())
			}
		})
	}
}

func TestALocalModelHasNoEndpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"an_address": {"models: {embedding: {type: local, model: m, base_url: 'https://x/v1'}}", "models.embedding.type is local"},
		"no_name":    {"models: {embedding: {type: local}}", "models.embedding.model"},
		"chat":       {"models: {chat: {type: local, model: m}}", "models.chat"},
		"a_failover": {"models: {embedding: {base_url: 'https://x/v1', model: m, failover: [{type: local, base_url: 'https://y/v1', model: m}]}}", "models.embedding.failover.0.type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := config.Load(config.Options{File: file(t, c.file)}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %s", err, c.want)
			}
		})
	}
}
