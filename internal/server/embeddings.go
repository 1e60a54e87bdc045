package server

import (
	"cmp"
	"context"
	"sync"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// instanceEmbeddings is the embedding model of the configuration.
func instanceEmbeddings(m config.Model) knowledge.Embeddings {
	e := endpoint(m, "", localmodel.EmbeddingModel)
	return knowledge.Embeddings{Model: e.Model, Dimensions: e.Dimensions}
}

// offlineEmbeddings is the offline model, if it is the instance's.
func (p *platform) offlineEmbeddings() knowledge.Embeddings {
	if !p.cfg.Models.Embedding.Offline() {
		return knowledge.Embeddings{}
	}
	return knowledge.Embeddings{Model: localmodel.EmbeddingModel, Dimensions: localmodel.Dimensions}
}

// embeddings are the embedding models of the generations of projects. All but the offline
// one are behind the configured endpoint. It is safe for concurrent use.
type embeddings struct {
	instance *model.Client
	offline  bool // the instance has no endpoint for embeddings
	local    bool // the instance's model is in the data folder

	revisions *ingestion.Revisions
	wanted    []string // base generations behind the endpoint that configurations name

	mu     sync.Mutex
	others map[string]ingestion.Embedder // by what is written before texts, and generation
	down   map[string]*outage            // of the models as they embed questions, by generation
}

// of returns the model of a generation as it embeds passages, "" = the instance's. The error of one that
// has no endpoint is CodeConflict.
func (e *embeddings) of(generation string) (ingestion.Embedder, error) {
	return e.after(passagePrefix, generation)
}

// after returns the model of a generation. If it is in the data folder, it embeds texts after a prefix.
func (e *embeddings) after(prefix, generation string) (ingestion.Embedder, error) {
	instance := e.prefixed(e.instance, prefix)
	if generation == "" || e.offline && e.ofInstance(generation) {
		return instance, nil
	}
	wanted := knowledge.EmbeddingsOf(knowledge.BaseGeneration(generation))
	e.mu.Lock()
	defer e.mu.Unlock()
	if other := e.others[prefix+generation]; other != nil {
		return other, nil
	}
	var other ingestion.Embedder
	switch {
	case wanted.Model == localmodel.HashedModel:
		local := localmodel.New(localmodel.Config{})
		other = offlineEmbedder{wanted, localmodel.HashedDimensions, local.EmbedHashed}
	case wanted.Model == localmodel.EmbeddingModel && !e.offline:
		local := localmodel.New(localmodel.Config{})
		other = offlineEmbedder{wanted, localmodel.Dimensions, local.EmbedTo}
	case e.offline && wanted.Model != localmodel.EmbeddingModel, e.local && !e.ofInstance(generation):
		return nil, knowledge.Errorf(knowledge.CodeConflict,
			"this instance has no endpoint for the embedding model %s: set models.embedding, or choose another model in ai.embeddings and reindex the project", wanted.Model)
	case e.ofInstance(generation):
		other = revisedEmbedder{instance, generation, e.revisions}
	default:
		other = revisedEmbedder{e.instance.As(wanted.Model, wanted.Dimensions), generation, e.revisions}
	}
	e.others[prefix+generation] = other
	return other, nil
}

// ofInstance reports whether a generation is one of the instance's model.
func (e *embeddings) ofInstance(generation string) bool {
	at := e.instance.Endpoint()
	return knowledge.BaseGeneration(generation) == knowledge.Embeddings{Model: at.Model, Dimensions: at.Dimensions}.Generation()
}

// The prefixes with which the models of the family E5 were trained.
const passagePrefix, questionPrefix = "passage: ", "query: "

// prefixed returns the instance's model with a prefix before each text, if it is in the data folder.
func (e *embeddings) prefixed(embedder ingestion.Embedder, prefix string) ingestion.Embedder {
	if !e.local {
		return embedder
	}
	return prefixedEmbedder{embedder, prefix}
}

// prefixedEmbedder embeds texts after a prefix.
type prefixedEmbedder struct {
	ingestion.Embedder

	prefix string
}

// localTexts is how many texts a model in the data folder gets at a time: a question waits for them.
const localTexts = 8

// MaxTexts implements ingestion.Embedder.
func (e prefixedEmbedder) MaxTexts(n int) int { return min(e.Embedder.MaxTexts(n), localTexts) }

// Embed implements ingestion.Embedder.
func (e prefixedEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	prefixed := make([]string, len(texts))
	for i, text := range texts {
		prefixed[i] = e.prefix + text
	}
	return e.Embedder.Embed(ctx, prefixed)
}

// forQuestions returns the model of a generation as it embeds questions.
func (e *embeddings) forQuestions(generation string) (retrieve.Embedder, error) {
	embedder, err := e.after(questionPrefix, generation)
	if err != nil {
		return nil, err
	}
	return queryEmbedder{embedder, e.outageOf(generation)}, nil
}

// outageOf returns what is known of failures of the model of a generation.
func (e *embeddings) outageOf(generation string) *outage {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down == nil {
		e.down = map[string]*outage{}
	}
	if e.down[generation] == nil {
		e.down[generation] = &outage{}
	}
	return e.down[generation]
}

// openaiModels are the models that clients of the OpenAI protocol reach.
func (p *platform) openaiModels() openai.Models {
	return openai.Models{Chat: p.chats, Embedding: p.embed, EmbeddingOf: func(dimensions int) openai.Embedder {
		return p.embed.As(p.embed.Endpoint().Model, dimensions)
	}}
}

// offlineEmbedder is an offline model that is not the instance's: projects that were
// embedded with it keep it until they are reindexed.
type offlineEmbedder struct {
	model knowledge.Embeddings // 0 dimensions = all
	most  int                  // dimensions
	embed func(texts []string, dimensions int) [][]float32
}

// TakeTurn implements ingestion.Embedder. Nobody has to wait.
func (offlineEmbedder) TakeTurn(context.Context, int, model.Turn) error { return nil }

// MaxTexts implements ingestion.Embedder.
func (offlineEmbedder) MaxTexts(n int) int { return n }

// LimitTexts implements ingestion.Embedder.
func (offlineEmbedder) LimitTexts(int) {}

// Embed implements ingestion.Embedder.
func (e offlineEmbedder) Embed(_ context.Context, texts []string) ([][]float32, model.Usage, error) {
	return e.embed(texts, min(cmp.Or(e.model.Dimensions, e.most), e.most)), model.Usage{}, nil
}

// Endpoint implements ingestion.Embedder.
func (e offlineEmbedder) Endpoint() model.Endpoint {
	return model.Endpoint{Provider: "offline", Model: e.model.Model, Dimensions: e.model.Dimensions, InProcess: true}
}
