package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// checkEndpoints asks the configured endpoints and those that are asked where they fail:
// for a vector, for a rank, or, where an answer would cost more, for the list of models.
func checkEndpoints(ctx context.Context, cfg config.Config) []finding {
	var found []finding
	if m := cfg.Models.Embedding; m.Offline() {
		found = append(found, finding{"embedding endpoint", findingOK, "the offline model in the server", ""})
	} else {
		found = append(found, checkEmbeddings(ctx, m)...)
	}
	if m := cfg.Models.Chat; m.Offline() {
		found = append(found, finding{"chat endpoint", findingOK, "the offline model in the server", ""})
	} else {
		found = append(found, checkAddress(ctx, "chat", m))
		for _, f := range m.Failover {
			found = append(found, checkAddress(ctx, "chat failover", f.Endpoint()))
		}
	}
	if m := cfg.Models.Rerank; m.BaseURL != "" {
		found = append(found, checkRerank(ctx, m))
	}
	if m := cfg.Models.Transcription.Endpoint(); m.BaseURL != "" {
		found = append(found, checkAddress(ctx, "transcription", m))
	}
	if m := cfg.Models.Image.Endpoint(); m.BaseURL != "" {
		found = append(found, checkAddress(ctx, "image", m))
	}
	return found
}

// checkEmbeddings asks the endpoint of embeddings, and those that are asked where it fails,
// for vectors, which must have one length.
func checkEmbeddings(ctx context.Context, m config.Model) []finding {
	first, length := checkEmbedding(ctx, "embedding", m)
	found := []finding{first}
	for _, f := range m.Failover {
		e := f.Endpoint()
		e.Dimensions = m.Dimensions
		other, n := checkEmbedding(ctx, "embedding failover", e)
		if length > 0 && n > 0 && n != length {
			other.State, other.Next = findingBad, fmt.Sprintf("name a model with %d dimensions: the vectors of both are compared", length)
		}
		found = append(found, other)
	}
	return found
}

// checkEmbedding asks for a vector, and returns its length, 0 if there is none.
func checkEmbedding(ctx context.Context, what string, m config.Model) (finding, int) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	start := time.Now()
	vectors, _, err := model.New(endpoint(m, "", ""), nil).Embed(ctx, []string{"test"})
	if err != nil || len(vectors) != 1 {
		detail := fmt.Sprintf("%s with %s: %v", m.Model, m.Provider(), err)
		return finding{what + " endpoint", findingBad, detail, "check models.embedding in the configuration and the endpoint, then: cairn documents retry --all --code provider_failed"}, 0
	}
	detail := fmt.Sprintf("%s with %s: %d dimensions in %s", m.Model, m.Provider(), len(vectors[0]), terminal.Duration(time.Since(start)))
	return finding{what + " endpoint", findingOK, detail, ""}, len(vectors[0])
}

func checkRerank(ctx context.Context, r config.Rerank) finding {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	m, start := r.Endpoint(), time.Now()
	if _, err := model.NewReranker(endpoint(m, "", ""), model.RerankShape(r.Type), nil).Rerank(ctx, "test", []string{"test"}); err != nil {
		return finding{"rerank endpoint", findingBad, fmt.Sprintf("%s with %s: %v", m.Model, m.Provider(), err), "check models.rerank in the configuration and the endpoint; searches go on without it"}
	}
	return finding{"rerank endpoint", findingOK, fmt.Sprintf("%s with %s: answered in %s", m.Model, m.Provider(), terminal.Duration(time.Since(start))), ""}
}

// checkAddress asks an endpoint for its models, which costs nothing there.
func checkAddress(ctx context.Context, what string, m config.Model) finding {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	check, key := what+" endpoint", "models."+strings.TrimSuffix(what, " failover")
	start, status := time.Now(), http.StatusOK
	_, err := model.New(endpoint(m, "", ""), nil).Models(ctx)
	if failed, ok := errors.AsType[*model.Error](err); ok {
		if status = failed.Status; failed.Code == model.CodeConnection || failed.Code == model.CodeTimeout {
			return finding{check, findingBad, fmt.Sprintf("%s cannot be reached: %v", m.Provider(), err), "check " + key + ".base_url, and that the endpoint runs"}
		}
	}
	detail := fmt.Sprintf("%s with %s: status %d in %s", m.Model, m.Provider(), status, terminal.Duration(time.Since(start)))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return finding{check, findingBad, detail, "check the key that " + key + ".key_env names"}
	}
	return finding{check, findingOK, detail, ""}
}
