package model_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

// TestUnlisted asks endpoints whose lists are written in different ways for names.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	openAI := []string{"dall-e-3", "gpt-4o", "gpt-4o-mini", "o3", "text-embedding-3-small", "whisper-1"}
	for name, test := range map[string]struct {
		list  []string
		names []string
		want  []model.Unlisted
	}{
		"all_listed":           {openAI, []string{"gpt-4o", "o3"}, nil},
		"none":                 {openAI, nil, nil},
		"of_an_endpoint":       {openAI, []string{"own", "other"}, nil},
		"not_listed":           {openAI, []string{"gpt-4o", "gpt-4o-mimi"}, []model.Unlisted{{Name: "gpt-4o-mimi", Alike: []string{"gpt-4o-mini", "gpt-4o", "dall-e-3", "o3", "text-embedding-3-small"}}}},
		"another_case":         {[]string{"gpt-4o"}, []string{"GPT-4o"}, []model.Unlisted{{Name: "GPT-4o", Alike: []string{"gpt-4o"}}}},
		"gemini":               {[]string{"models/gemini-2.5-flash"}, []string{"gemini-2.5-flash", "models/gemini-2.5-flash"}, nil},
		"gemini_not_listed":    {[]string{"models/gemini-2.5-flash"}, []string{"gemini-9"}, []model.Unlisted{{Name: "gemini-9", Alike: []string{"gemini-2.5-flash"}}}},
		"ollama":               {[]string{"llama3:latest", "qwen:7b"}, []string{"llama3", "llama3:latest", "qwen:7b"}, nil},
		"ollama_another_tag":   {[]string{"llama3:latest"}, []string{"llama3:70b"}, []model.Unlisted{{Name: "llama3:70b", Alike: []string{"llama3:latest"}}}},
		"litellm":              {[]string{"openai/*"}, []string{"openai/gpt-4o"}, nil},
		"litellm_not_listed":   {[]string{"openai/*"}, []string{"mistral/x"}, []model.Unlisted{{Name: "mistral/x", Alike: []string{"openai/*"}}}},
		"openrouter_a_variant": {[]string{"openai/gpt-4o"}, []string{"openai/gpt-4o:online"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := listing(t, test.list, http.StatusOK, false).Unlisted(t.Context(), test.names)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// TestUnlistedWithoutAList asks endpoints that do not say which models they have.
func TestUnlistedWithoutAList(t *testing.T) {
	t.Parallel()
	for name, chats := range map[string]*model.Chats{
		"an_empty_list": listing(t, nil, http.StatusOK, false),
		"no_list":       listing(t, []string{"m"}, http.StatusNotFound, false),
		"an_outage":     listing(t, []string{"m"}, http.StatusServiceUnavailable, false),
		"no_right":      listing(t, []string{"m"}, http.StatusForbidden, false),
		"azure":         listing(t, []string{"gpt-4o"}, http.StatusOK, true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := chats.Unlisted(t.Context(), []string{"new"}); err == nil {
				t.Errorf("found out that there are not: %v", got)
			}
			if got, err := chats.Unlisted(t.Context(), []string{"own", "other"}); err != nil || got != nil {
				t.Errorf("its own models: %v, %v", got, err)
			}
		})
	}
}

// listing returns two endpoints, the first of which answers with a list of models.
func listing(t *testing.T, names []string, status int, azure bool) *model.Chats {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		type entry struct {
			ID string `json:"id"`
		}
		list := []entry{}
		for _, name := range names {
			list = append(list, entry{name})
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
	}))
	t.Cleanup(server.Close)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	return model.NewChats(log, model.New(model.Endpoint{BaseURL: server.URL, Model: "own", Azure: azure}, nil), model.New(model.Endpoint{BaseURL: server.URL + "/other", Model: "other"}, nil))
}
