package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/library"
)

// CheckEndpoints asks the configured endpoints and those that are asked where they fail:
// for a vector, for a rank, or, where an answer would cost more, for the list of models.
// calls are the last ones of the server.
func CheckEndpoints(ctx context.Context, cfg config.Config, calls []client.ModelCall) []Finding {
	var found []Finding
	switch m := cfg.Models.Embedding; {
	case m.Offline():
		found = append(found, offlineEndpoint("embedding", calls))
	case m.Local():
		found = append(found, checkLocal(cfg.Data, m))
	default:
		found = append(found, checkEmbeddings(ctx, m)...)
	}
	if m := cfg.Models.Chat; m.Offline() {
		found = append(found, offlineEndpoint("chat", calls))
	} else {
		found = append(found, checkAddresses(ctx, "chat", m)...)
	}
	if m := cfg.Models.Rerank; m.BaseURL != "" {
		found = append(found, checkRerank(ctx, "rerank", m))
		for _, f := range m.Failover {
			found = append(found, checkRerank(ctx, "rerank failover", config.Model{Endpoint: f}))
		}
	}
	found = append(found, checkAddresses(ctx, "transcription", cfg.Models.Transcription)...)
	return append(found, checkAddresses(ctx, "image", cfg.Models.Image)...)
}

// offlineEndpoint is the finding about a model for which this command's configuration names
// no endpoint. A server with another configuration may call one.
func offlineEndpoint(kind string, calls []client.ModelCall) Finding {
	for _, call := range calls {
		if call.Kind == kind && call.Provider != "offline" {
			return Finding{kind + " endpoint", FindingNote, call.Provider + " in the server; it was not asked", ""}
		}
	}
	return Finding{kind + " endpoint", FindingOK, "the offline model, by this command's configuration", ""}
}

// checkLocal reads the model in the data folder.
func checkLocal(data string, m config.Model) Finding {
	const check = "embedding model"
	added, err := library.Find(data, m.Model)
	if err == nil {
		err = checkWeights(added.Path)
	}
	if err != nil {
		return Finding{check, FindingBad, fmt.Sprintf("models.embedding names %s, which cannot be used: %s", m.Model, publicMessage(err)), fmt.Sprintf("cairn models add %s --data %s", m.Model, data)}
	}
	return Finding{check, FindingOK, fmt.Sprintf("%s in the data folder, %d MB", m.Model, added.Bytes/1e6), ""}
}

// checkEmbeddings asks the endpoint of embeddings, and those that are asked where it fails,
// for vectors, which must have one length.
func checkEmbeddings(ctx context.Context, m config.Model) []Finding {
	first, length := checkEmbedding(ctx, "embedding", m)
	found := []Finding{first}
	for _, f := range m.Failover {
		other, n := checkEmbedding(ctx, "embedding failover", config.Model{Endpoint: f, Dimensions: m.Dimensions})
		if length > 0 && n > 0 && n != length {
			other.State, other.Next = FindingBad, fmt.Sprintf("name a model with %d dimensions: the vectors of both are compared", length)
		}
		found = append(found, other)
	}
	return found
}

// checkEmbedding asks for a vector, and returns its length, 0 if there is none.
func checkEmbedding(ctx context.Context, what string, m config.Model) (Finding, int) {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	start := time.Now()
	vectors, _, err := model.New(endpoint(m, "", ""), nil).Embed(ctx, []string{"test"})
	if err != nil || len(vectors) != 1 {
		f := failedEndpoint(what+" endpoint", "models.embedding", m, err)
		f.Next += ", then: cairn documents retry --all --code provider_failed"
		return f, 0
	}
	detail := fmt.Sprintf("%s at %s: %d dimensions in %s", m.Model, m.Provider(), len(vectors[0]), took(start))
	return Finding{what + " endpoint", FindingOK, detail, ""}, len(vectors[0])
}

// took returns the milliseconds since start.
func took(start time.Time) string { return fmt.Sprintf("%d ms", time.Since(start).Milliseconds()) }

// failedEndpoint describes the failure of an endpoint whose configuration is at key.
func failedEndpoint(check, key string, m config.Model, err error) Finding {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok {
		return Finding{check, FindingBad, fmt.Sprintf("%s at %s: %v", m.Model, m.Provider(), err), "check " + key + " and the endpoint"}
	}
	happened, advice, _ := strings.Cut(strings.TrimPrefix(failed.Public().Message, model.PublicName+" "), "; ")
	if advice == "" || failed.Code == model.CodeConnection {
		advice = "check " + key + ".base_url, and that the endpoint runs"
	}
	if said := failed.Detail(); said != "" {
		happened += "; " + said
	}
	return Finding{check, FindingBad, fmt.Sprintf("%s at %s %s", m.Model, m.Provider(), happened), strings.ReplaceAll(advice, "models.*", key)}
}

// checkRerank asks an endpoint for a rank.
func checkRerank(ctx context.Context, what string, m config.Model) Finding {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	start := time.Now()
	if _, err := model.NewReranker(endpoint(m, "", ""), model.RerankShape(m.Type), nil).Rerank(ctx, "test", []string{"test"}); err != nil {
		f := failedEndpoint(what+" endpoint", "models.rerank", m, err)
		f.Next += "; searches continue without it"
		return f
	}
	return Finding{what + " endpoint", FindingOK, fmt.Sprintf("%s at %s: answered in %s", m.Model, m.Provider(), took(start)), ""}
}

// checkAddresses is checkAddress for an endpoint, if there is one, and those that are asked
// where it fails.
func checkAddresses(ctx context.Context, kind string, m config.Model) []Finding {
	if m.BaseURL == "" {
		return nil
	}
	found := []Finding{checkAddress(ctx, kind, m)}
	for _, f := range m.Failover {
		found = append(found, checkAddress(ctx, kind+" failover", config.Model{Endpoint: f}))
	}
	return found
}

// checkAddress asks an endpoint for its models, which costs nothing there.
func checkAddress(ctx context.Context, what string, m config.Model) Finding {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	check, key := what+" endpoint", "models."+strings.TrimSuffix(what, " failover")
	start, status := time.Now(), http.StatusOK
	_, err := model.New(endpoint(m, "", ""), nil).Models(ctx)
	if failed, ok := errors.AsType[*model.Error](err); ok {
		if status = failed.Status; slices.Contains(unusable, failed.Code) && status != http.StatusNotImplemented {
			return failedEndpoint(check, key, m, err)
		}
	}
	return Finding{check, FindingOK, fmt.Sprintf("%s at %s: status %d in %s", m.Model, m.Provider(), status, took(start)), ""}
}

// unusable are the failures of a list of models that the other routes of an endpoint share.
// Others only tell that it has no such list.
var unusable = []string{model.CodeConnection, model.CodeTimeout, model.CodeUnauthorized, model.CodeOverloaded, model.CodeRateLimited}
