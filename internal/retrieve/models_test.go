package retrieve_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/retrieve"
)

// scriptedChat is a Chat that answers each tool with fixed arguments, or by a function.
type scriptedChat struct {
	answers map[string]string
	reply   func(ctx context.Context, c retrieve.Call) (string, error) // instead of answers, if not nil

	mu    sync.Mutex
	calls []retrieve.Call
}

func (s *scriptedChat) CallTool(ctx context.Context, c retrieve.Call) (string, retrieve.Usage, error) {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	usage := retrieve.Usage{PromptTokens: 7, CompletionTokens: 2}
	if s.reply != nil {
		answer, err := s.reply(ctx, c)
		return answer, usage, err
	}
	if answer, ok := s.answers[c.Tool]; ok {
		return answer, usage, nil
	}
	return "", usage, errors.New("no such tool in the script")
}

// scriptedReranker scores texts by a function.
type scriptedReranker func(ctx context.Context, query string, texts []string) ([]float64, error)

func (s scriptedReranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	return s(ctx, query, texts)
}

// memory is a Memory in the process.
type memory struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (m *memory) Recall(_ context.Context, step string, v any) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.kept[step]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(data, v)
}

func (m *memory) Keep(_ context.Context, step string, v any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := json.Marshal(v)
	if m.kept == nil {
		m.kept = map[string][]byte{}
	}
	m.kept[step] = data
	return err
}

// ask retrieves with models.
func ask(t *testing.T, x retrieve.Index, c retrieve.ChunkReader, models retrieve.Models, request retrieve.Request) retrieve.Result {
	t.Helper()
	request.Principal = asker
	if request.Query == "" {
		request.Query = "a question"
	}
	result, err := retrieve.New(x, c, &counting{}).Using(models).Retrieve(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
