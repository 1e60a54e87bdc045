package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

const (
	// comparePatience bounds the comparison of an endpoint at another address, and how long
	// a start waits for it.
	comparePatience = 5 * time.Second
	// compareEvery is how often an endpoint that did not answer is asked again.
	compareEvery = 15 * time.Second
)

// revisedEmbedder is the model of a generation, as long as its endpoint makes the vectors
// of it.
type revisedEmbedder struct {
	ingestion.Embedder

	generation string
	revisions  *ingestion.Revisions
}

// Embed implements ingestion.Embedder. Its error is CodeConflict if the endpoint makes
// vectors of another revision.
func (e revisedEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	if err := e.revisions.Check(ctx, e.generation); err != nil {
		return nil, model.Usage{}, err
	}
	return e.Embedder.Embed(ctx, texts)
}

// Endpoint implements ingestion.Embedder. Stored vectors are named after its model, so it
// has the revision.
func (e revisedEmbedder) Endpoint() model.Endpoint {
	at := e.Embedder.Endpoint()
	at.Model = knowledge.EmbeddingsOf(e.generation).Model
	return at
}

// revisions decides which vectors the configured endpoint makes.
func (p *platform) revisions(client *http.Client) *ingestion.Revisions {
	at := func(base string) *model.Client {
		of := knowledge.EmbeddingsOf(base)
		e := p.embed.As(of.Model, of.Dimensions).Endpoint()
		e.Timeout, e.IdleTimeout = comparePatience, comparePatience
		return model.New(e, client) // without those that are asked where it fails
	}
	samples := ingestion.Samples(ingestion.Dependencies{Blobs: p.originals, Versions: p.store, Reindexes: p.store, EmbedderOf: p.embeddings.of, Recognisers: p.recognisers()})
	return &ingestion.Revisions{
		Addresses: p.store, Samples: samples, Log: p.log,
		Address: func(base string) string {
			if p.embeddings.local {
				return "sha256:" + p.encoder.weights // its port is another one after each start
			}
			return addressOf(at(base).Endpoint())
		},
		Embed: func(ctx context.Context, base string, texts []string) ([][]float32, error) {
			vectors, _, err := p.embeddings.prefixed(at(base), passagePrefix).Embed(ctx, texts)
			return vectors, err
		},
	}
}

// addressOf returns the address of an endpoint without secrets, with its deployment.
func addressOf(e model.Endpoint) string {
	address := e.BaseURL
	if u, err := url.Parse(e.BaseURL); err == nil {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		address = strings.TrimRight(u.String(), "/")
	}
	if e.Deployment != "" {
		address += " " + e.Deployment
	}
	return address
}

// compareEmbeddings finds out whether the configured endpoint makes the vectors of the
// documents. It asks the endpoint only if its address is another one than before. An
// endpoint that does not answer in time is asked again later.
func (p *platform) compareEmbeddings(ctx context.Context) error {
	wanted, err := p.store.WantedGenerations(ctx)
	if err != nil {
		return fmt.Errorf("compare the embedding models: %w", err)
	}
	var open []string
	for _, generation := range wanted {
		if p.embeddings.offline || isOffline(knowledge.EmbeddingsOf(generation).Model) {
			if err := p.store.UseGeneration(ctx, generation); err != nil {
				return fmt.Errorf("use the offline embedding model: %w", err)
			}
			continue
		}
		p.embeddings.wanted = append(p.embeddings.wanted, knowledge.BaseGeneration(generation))
		if _, err := p.embeddings.revisions.Revision(ctx, generation); err != nil {
			p.log.WarnContext(ctx, "the embedding endpoint cannot be compared with the one that embedded the documents", "generation", generation, "error", err)
			open = append(open, generation)
		}
	}
	if len(open) > 0 {
		p.compareLater(open)
	}
	return nil
}

// isOffline reports whether a model is an offline one, whose vectors are the same everywhere.
func isOffline(model string) bool {
	return model == localmodel.EmbeddingModel || model == localmodel.HashedModel
}

// compareLater asks again for generations until their endpoints have answered.
func (p *platform) compareLater(open []string) {
	p.background(func(ctx context.Context) {
		for len(open) > 0 {
			select {
			case <-time.After(compareEvery):
			case <-ctx.Done():
				return
			}
			open = slices.DeleteFunc(open, func(generation string) bool {
				_, err := p.embeddings.revisions.Revision(ctx, generation)
				return err == nil
			})
		}
	})
}

// uncompared returns the models of the configuration whose endpoints could not be compared.
func (p *platform) uncompared() []api.UncomparedEmbeddings {
	var list []api.UncomparedEmbeddings
	for generation, err := range p.embeddings.revisions.Undecided() {
		if !slices.Contains(p.embeddings.wanted, generation) {
			continue
		}
		message := "something went wrong on our side; the log has the cause"
		if refused, ok := errors.AsType[*model.Error](err); ok {
			message = refused.Public().Message
		}
		list = append(list, api.UncomparedEmbeddings{Model: generation, Message: message})
	}
	slices.SortFunc(list, func(a, b api.UncomparedEmbeddings) int { return strings.Compare(a.Model, b.Model) })
	return list
}

// uncomparedNotices returns a notice for each model whose endpoint could not be compared.
func (p *platform) uncomparedNotices(context.Context) []Notice {
	var list []Notice
	for _, u := range p.uncompared() {
		list = append(list, Notice{"Embeddings", fmt.Sprintf("the endpoint of %s has another address than the one that embedded the documents. Until it is compared, nothing is embedded there: %s", knowledge.DescribeGeneration(u.Model), u.Message)})
	}
	return list
}
