package model_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

func TestContextTokens(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"gpt-4": 8192, "gpt-4-0613": 8192, "gpt-4-turbo-2024-04-09": 128_000, "gpt-4o": 0, "gpt-4.1": 0, "openai/gpt-3.5-turbo": 16_385,
		"meta-llama/Llama-2-7b-chat-hf": 4096, "llama3": 8192, "llama3.1": 0, "llama3:8b": 8192, "mistral-small-latest": 0, "gemma-2-9b-it": 8192, "gemma-3-27b-it": 0, "": 0,
	} {
		if got := model.ContextTokens(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
