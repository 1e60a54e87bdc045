package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
)

// RerankShape is the protocol of a rerank endpoint.
type RerankShape string

// The shapes of rerank endpoints. Both answer at BaseURL + "/rerank".
const (
	RerankCohere RerankShape = "cohere" // Cohere, Jina, Voyage and vLLM: model and documents in, results out
	RerankTEI    RerankShape = "tei"    // text-embeddings-inference: texts in, a list out
)

// maxTEITexts is the number of texts that text-embeddings-inference takes in one request
// unless it is started with another --max-client-batch-size.
const maxTEITexts = 32

// Reranker calls one rerank endpoint. It is safe for concurrent use.
type Reranker struct {
	endpoint Endpoint
	shape    RerankShape
	http     doer
	others   []*Reranker  // that are asked where this one fails
	log      *slog.Logger // of these failures
}

// NewReranker returns a Reranker. If client is nil, it uses NewHTTPClient().
func NewReranker(endpoint Endpoint, shape RerankShape, client *http.Client) *Reranker {
	if client == nil {
		client = NewHTTPClient()
	}
	return &Reranker{endpoint: endpoint.withDefaults(), shape: shape, http: doer{client}}
}

// WithFailover returns a Reranker whose scores come from the first of the others that
// answers, where the endpoint fails.
func (r *Reranker) WithFailover(log *slog.Logger, others ...*Reranker) *Reranker {
	next := *r
	next.others, next.log = others, log
	return &next
}

// Endpoint returns the endpoint with its defaults filled in.
func (r *Reranker) Endpoint() Endpoint { return r.endpoint }

// Rerank returns how relevant each text is to a query, in the order of the texts. Higher
// is better, and the scores come from the endpoint. A wrong number of scores, or one
// that is not finite, is an *Error with CodeBadResponse. Its errors are *Error, or the
// cause of ctx.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	scores, _, _, err := r.RerankCounted(ctx, query, texts)
	return scores, err
}

// RerankCounted is Rerank, which returns the number of requests too, and the tokens that
// the endpoints have counted as PromptTokens, 0 = they do not say.
func (r *Reranker) RerankCounted(ctx context.Context, query string, texts []string) (scores []float64, calls int, used Usage, err error) {
	scores, err = First(ctx, Candidates(append([]*Reranker{r}, r.others...), "", nil), func(f Failed) {
		if f.Next != "" {
			r.log.WarnContext(ctx, "a reranker failed; the next one is asked", "model", f.Model, "next", f.Next, "error", f.Err)
		}
	}, func(at Candidate[*Reranker]) ([]float64, error) {
		found, requests, tokens, err := at.Client.rerank(ctx, query, texts)
		calls += requests
		used.add(at.Client.endpoint.Prices.of(at.Client.endpoint.Model, Usage{PromptTokens: tokens}))
		return found, err
	})
	return scores, calls, used, err
}

// rerank asks the endpoint alone.
func (r *Reranker) rerank(ctx context.Context, query string, texts []string) (scores []float64, calls, tokens int, err error) {
	most := len(texts)
	if r.shape == RerankTEI {
		most = min(most, maxTEITexts)
	}
	scores = make([]float64, 0, len(texts))
	for len(scores) < len(texts) {
		batch := texts[len(scores):min(len(scores)+most, len(texts))]
		found, used, err := r.rerankBatch(ctx, query, batch)
		calls, tokens = calls+1, tokens+used
		if err != nil {
			return nil, calls, tokens, err
		}
		scores = append(scores, found...)
	}
	return scores, calls, tokens, nil
}

// reranked is the answer of an endpoint that is no plain list.
type reranked struct {
	Results []rerankScore `json:"results"`
	Data    []rerankScore `json:"data"` // as Voyage names it
}

// rerankTokens returns the tokens that an endpoint has counted, 0 = it does not say. Cohere
// counts them in meta, the others in usage.
func rerankTokens(answer []byte) int {
	var counted struct {
		Usage struct {
			TotalTokens int `json:"total_tokens"`
		} `json:"usage"`
		Meta struct {
			Tokens struct {
				InputTokens int `json:"input_tokens"`
			} `json:"tokens"`
		} `json:"meta"`
	}
	if json.Unmarshal(answer, &counted) != nil {
		return 0 // the scores are there all the same
	}
	return max(0, cmp.Or(counted.Usage.TotalTokens, counted.Meta.Tokens.InputTokens))
}

// rerankRequest is a request of either shape.
type rerankRequest struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents,omitempty"`
	TopN      int      `json:"top_n,omitempty"`
	Texts     []string `json:"texts,omitempty"`
	Truncate  bool     `json:"truncate,omitempty"`
}

// rerankScore is the score of one text. Cohere names it relevance_score, TEI score.
type rerankScore struct {
	Index     int      `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

func (r *Reranker) rerankBatch(ctx context.Context, query string, texts []string) (scores []float64, tokens int, err error) {
	body := rerankRequest{Model: r.endpoint.Model, Query: query, Documents: texts, TopN: len(texts)}
	if r.shape == RerankTEI {
		body = rerankRequest{Query: query, Texts: texts, Truncate: true}
	}
	x := newExchange(ctx, r.endpoint)
	defer x.close()
	x.model = body.Model
	answer, err := r.post(x, body)
	if err != nil {
		return nil, 0, tooLarge(x.callError("rerank", err))
	}
	var list []rerankScore
	if r.shape == RerankTEI {
		err = json.Unmarshal(answer, &list)
	} else {
		var wrapped reranked
		err = json.Unmarshal(answer, &wrapped)
		list = slices.Concat(wrapped.Results, wrapped.Data)
		tokens = rerankTokens(answer)
	}
	if err != nil {
		return nil, tokens, x.callError("rerank", err)
	}
	if scores, err = scoresInOrder(list, len(texts)); err != nil {
		return nil, tokens, x.badAnswer(CodeBadResponse, err.Error())
	}
	return scores, tokens, nil
}

func (r *Reranker) post(x *exchange, body rerankRequest) ([]byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	address := strings.TrimSuffix(r.endpoint.BaseURL, "/") + "/rerank"
	req, err := http.NewRequestWithContext(x.ctx, http.MethodPost, address, bytes.NewReader(encoded))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	r.endpoint.authorize(req)
	began := time.Now()
	res, err := r.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("after %s: %w", time.Since(began).Round(time.Millisecond), err)
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// scoresInOrder checks the scores and returns them by the index of their text.
func scoresInOrder(list []rerankScore, count int) ([]float64, error) {
	if len(list) != count {
		return nil, fmt.Errorf("%d scores for %d texts", len(list), count)
	}
	scores, seen := make([]float64, count), make([]bool, count)
	for _, s := range list {
		score := s.Relevance
		if score == nil {
			score = s.Score
		}
		switch {
		case s.Index < 0 || s.Index >= count || seen[s.Index]:
			return nil, fmt.Errorf("index %d twice or out of range, of %d texts", s.Index, count)
		case score == nil || math.IsNaN(*score) || math.IsInf(*score, 0):
			return nil, errors.New("a text without a score")
		}
		scores[s.Index], seen[s.Index] = *score, true
	}
	return scores, nil
}
