// Package presidio asks Presidio's analyzer over HTTP for personal data in texts. It is an
// adapter of privacy.Recogniser, and starts no analyzer.
package presidio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// Config names an analyzer.
type Config struct {
	URL string // of the analyzer, without /analyze
	// Language is the language in which texts are analyzed, as the analyzer knows it.
	// Defaults to en.
	Language string
	// Timeout bounds one request. Defaults to 30 seconds.
	Timeout time.Duration
}

// Analyzer is Presidio's analyzer at an address. It is safe for concurrent use.
type Analyzer struct {
	cfg    Config
	client *http.Client
}

// New returns the analyzer of a configuration.
func New(cfg Config, client *http.Client) *Analyzer {
	cfg.URL = strings.TrimSuffix(cfg.URL, "/")
	if cfg.Language == "" {
		cfg.Language = "en"
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	return &Analyzer{cfg, client}
}

const (
	// most bounds the texts of one request, in bytes. A single text may be longer.
	most = 16 << 10
	// between separates texts in a request, as paragraphs are.
	between = "\n\n"
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 16 << 20
)

// Recognise implements privacy.Recogniser. It sends several short texts in one request.
func (a *Analyzer) Recognise(ctx context.Context, texts, entities []string) ([][]privacy.Finding, error) {
	found := make([][]privacy.Finding, len(texts))
	for first := 0; first < len(texts); {
		last, size := first+1, len(texts[first])
		for last < len(texts) && size+len(texts[last]) <= most {
			size += len(texts[last])
			last++
		}
		if err := a.together(ctx, texts[first:last], entities, found[first:last]); err != nil {
			return nil, err
		}
		first = last
	}
	return found, nil
}

// together analyzes texts by one request. A result that reaches from one text into another is
// cut at its end.
func (a *Analyzer) together(ctx context.Context, texts, entities []string, found [][]privacy.Finding) error {
	results, err := a.analyze(ctx, strings.Join(texts, between), entities)
	if err != nil {
		return privacy.NoAnswer(knowledge.RecogniserAnalyzer, err)
	}
	start := 0
	for i, text := range texts {
		end := start + utf8.RuneCountInString(text)
		for _, r := range results {
			span := knowledge.Span{Start: max(r.Start, start) - start, End: min(r.End, end) - start}
			if span.Start < span.End && slices.Contains(entities, r.Entity) {
				found[i] = append(found[i], privacy.Finding{Entity: r.Entity, Span: span, Score: min(r.Score, 1), Recogniser: string(knowledge.RecogniserAnalyzer)})
			}
		}
		start = end + len(between)
	}
	return nil
}

// request is the body of POST /analyze.
type request struct {
	Text      string   `json:"text"`
	Language  string   `json:"language"`
	Entities  []string `json:"entities"`
	Threshold float64  `json:"score_threshold"`
}

// result is a value that the analyzer found. Its place counts code points.
type result struct {
	Entity string  `json:"entity_type"`
	Start  int     `json:"start"`
	End    int     `json:"end"`
	Score  float64 `json:"score"`
}

// analyze makes a request. The analyzer gets no threshold: each kind has its own.
func (a *Analyzer) analyze(ctx context.Context, text string, entities []string) ([]result, error) {
	body, err := json.Marshal(request{Text: text, Language: a.cfg.Language, Entities: entities})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.cfg.URL+"/analyze", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := a.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask the analyzer: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // all that is needed has been read
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(answer) > maxAnswer:
		return nil, errors.New("the answer is too long")
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d: %.200s", res.StatusCode, answer)
	}
	var results []result
	if err := json.Unmarshal(answer, &results); err != nil {
		return nil, fmt.Errorf("decode the answer: %w", err)
	}
	return results, nil
}
