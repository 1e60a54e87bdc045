package retrieve

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// Models are the models that the stages of a search ask where a project selects such a
// stage. A nil one is not configured.
type Models struct {
	Chat     Chat
	Passages PassageReader // for compression
	Facets   FacetReader   // for the choice of a filter
	// Attachments is for questions in a conversation.
	Attachments AttachmentReader
	Web         Web // for a search of the web beside the documents
	Reranker    Reranker
	// RerankerName is the name by which projects select Reranker.
	RerankerName string
	// RerankTime bounds the wait for Reranker. 0 = defaultRerankTime.
	RerankTime time.Duration
	// Recognisers find personal data, for projects that keep it from models.
	Recognisers privacy.Recognisers
}

// Chat asks a chat model. It is safe for concurrent use.
type Chat interface {
	// CallTool returns the arguments with which the model calls the tool of a call. It
	// returns the errors of the endpoint, or the cause of ctx.
	CallTool(ctx context.Context, c Call) (arguments string, usage Usage, err error)
}

// Call is a question to a chat model, which must answer by calling a tool. Schema is the
// JSON schema of the tool's arguments.
type Call struct {
	Model       string   // "" = the endpoint's
	Failover    []string // models that are asked where it fails; none = the models of the instance
	System      string
	User        string
	Tool        string
	Description string
	Schema      json.RawMessage
}

// Reranker scores texts by their relevance. It is safe for concurrent use.
type Reranker interface {
	// Rerank returns a finite score for each text, in their order; higher is better.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// CountingReranker is a Reranker that returns how many requests it has sent, how many tokens
// the endpoint has counted (0 = it does not say), and what they cost. It is optional.
type CountingReranker interface {
	RerankCounted(ctx context.Context, query string, texts []string) (scores []float64, used Usage, err error)
}

// Usage counts what the models of a search read and wrote.
type Usage = knowledge.Usage

// Memory keeps the answers of models to one search, so that a search that is repeated
// after a crash does not ask again. It is safe for concurrent use.
type Memory interface {
	// Recall decodes the answer to a step into v, and reports whether there is one.
	Recall(ctx context.Context, step string, v any) (bool, error)
	// Keep stores the answer to a step, durably when it returns.
	Keep(ctx context.Context, step string, v any) error
}

// Using returns a Retriever whose stages ask models.
func (r *Retriever) Using(m Models) *Retriever {
	next := *r
	next.models = m
	return &next
}

// remembered returns the answer to a step: the answer of an earlier attempt of this search,
// or the answer of ask, which it keeps.
func remembered[T any](ctx context.Context, s *search, step string, ask func() (T, error)) (T, error) {
	var answer T
	memory := s.request.Memory
	if memory == nil {
		return ask()
	}
	known, err := memory.Recall(ctx, step, &answer)
	if err != nil {
		return answer, fmt.Errorf("recall %s: %w", step, err)
	}
	if known {
		return answer, nil
	}
	if answer, err = ask(); err != nil {
		return answer, err
	}
	// The provider has charged for the answer, so a cancel does not discard it.
	if err := memory.Keep(context.WithoutCancel(ctx), step, answer); err != nil {
		return answer, fmt.Errorf("keep %s: %w", step, err)
	}
	return answer, nil
}

// ask calls the chat model and counts what the call used.
func (s *search) ask(ctx context.Context, c Call) (string, error) {
	if s.models.Chat == nil {
		return "", errNotConfigured
	}
	c.Model, c.Failover = s.request.Model, s.request.Failover
	shield, err := s.shield(ctx, c.texts()...)
	if err != nil {
		return "", err
	}
	arguments, usage, err := s.models.Chat.CallTool(ctx, c.through(shield))
	usage.ModelCalls = 1
	s.use(usage)
	if shield != nil {
		arguments = shield.RestoreJSON(arguments)
	}
	return arguments, err
}

func (s *search) use(u Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage.Add(u)
}

// countedRerank asks the reranker and counts what that used.
func (s *search) countedRerank(ctx context.Context, texts []string) ([]float64, error) {
	query := s.request.Query
	shield, err := s.shield(ctx, append([]string{query}, texts...)...)
	if err != nil {
		return nil, err
	}
	if shield != nil {
		query, texts = shield.Redact(query), slices.Clone(texts)
		for i, text := range texts {
			texts[i] = shield.Redact(text)
		}
	}
	counting, ok := s.models.Reranker.(CountingReranker)
	if !ok {
		scores, err := s.models.Reranker.Rerank(ctx, query, texts)
		s.use(Usage{RerankCalls: 1})
		return scores, err
	}
	scores, used, err := counting.RerankCounted(ctx, query, texts)
	s.use(used)
	return scores, err
}

// countedEmbed embeds texts and counts what that used.
func (s *search) countedEmbed(ctx context.Context, e Embedder, texts []string) ([][]float32, error) {
	texts, err := s.masked(ctx, e, texts)
	if err != nil {
		return nil, err
	}
	counting, ok := e.(CountingEmbedder)
	if !ok {
		s.use(Usage{EmbeddingCalls: 1})
		return e.Embed(ctx, texts)
	}
	vectors, used, err := counting.EmbedCounted(ctx, texts)
	s.use(used)
	return vectors, err
}
