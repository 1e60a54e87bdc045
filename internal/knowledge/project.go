package knowledge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Project is a set of documents that are asked together, and how.
type Project struct {
	ID        string
	Workspace string
	Name      string
	Config    ProjectConfig
	Webhooks  []Webhook
	// CallbackSecret signs the callbacks of questions, sealed; "" = they are not signed.
	CallbackSecret string
	CreatedAt      time.Time
	UpdatedAt      time.Time
	// Generations are the generations of its vectors. Config.AI.Embeddings may ask for another one,
	// which a reindex fills.
	Generations Generations
}

// ProjectConfig is what a project may choose. A zero field means the default;
// WithDefaults fills it in.
type ProjectConfig struct {
	AI     AIConfig     `json:"ai,omitzero"`
	Tools  ToolsConfig  `json:"tools,omitzero"`
	Limits LimitsConfig `json:"limits,omitzero"`
}

// AIConfig is the part of a project that concerns models and retrieval.
type AIConfig struct {
	Prompt string `json:"prompt,omitempty"` // the system prompt; ${context} and ${date} are replaced
	Model  string `json:"model,omitempty"`  // the chat model; empty means the instance's
	// Failover are the chat models that answer where Model fails, in their order; none means
	// the instance's.
	Failover    []string        `json:"failover,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MaxTokens   int             `json:"maxTokens,omitempty"`
	Embeddings  Embeddings      `json:"embeddings,omitzero"`
	Splitter    Splitter        `json:"textSplitter,omitzero"`
	Enrichment  Enrichment      `json:"enrichment,omitzero"`
	Retrieval   RetrievalConfig `json:"retrieval,omitzero"`
	History     HistoryConfig   `json:"history,omitzero"`
	// EnhanceQuery has the chat model rewrite a question before it is searched.
	EnhanceQuery bool `json:"enhanceQuery,omitempty"`
	// SelfQuery says who chooses the tags of the documents that a question is about.
	SelfQuery string `json:"selfQuery,omitempty"`
	// Tags restrict every question to the documents with one of them.
	Tags []string `json:"tags,omitempty"`
	// MandatoryTags restrict the questions of users and groups.
	MandatoryTags []MandatoryTags `json:"mandatoryTags,omitempty"`
	PostQuery     PostQuery       `json:"postQuery,omitzero"`
	// Multimodal has a model describe the pictures of documents at their ingestion, and
	// shows the pictures that a question finds to the model that answers.
	Multimodal bool `json:"multimodal,omitempty"`
	// Reflection asks the model to begin its answer with a block about the question.
	Reflection bool `json:"reflection,omitempty"`
}

// PostQuery is what happens after the answer to a question.
type PostQuery struct {
	Suggestions  bool `json:"suggestions,omitempty"`  // the chat model suggests questions that may come next
	SourceFilter bool `json:"sourceFilter,omitempty"` // the sources of an answer are only those that it cites
}

// EntitiesKey is the key of the metadata that names the entities of a document.
const EntitiesKey = "entities"

// Enrichment selects what a model finds out about each document at its ingestion. Each
// costs calls of the chat model.
type Enrichment struct {
	Summary  bool `json:"summary,omitempty"`  // metadata.summary
	Topics   bool `json:"topics,omitempty"`   // metadata.topics
	Entities bool `json:"entities,omitempty"` // metadata.entities
	Tags     bool `json:"tags,omitempty"`     // tags of the document
	Context  bool `json:"context,omitempty"`  // a sentence for each chunk
}

// VersionEnrichment is what a model finds out about a version. It is fixed when the
// version is added.
type VersionEnrichment struct {
	Enrichment

	Pictures bool   `json:"pictures,omitempty"` // a description of each picture
	Model    string `json:"model,omitempty"`    // that reads text and pictures; "" = the instance's chat model
}

// Describes reports whether a model describes the document as a whole.
func (e Enrichment) Describes() bool { return e.Summary || e.Topics || e.Entities || e.Tags }

// ReadsText reports whether a model reads the text of the document.
func (e Enrichment) ReadsText() bool { return e.Describes() || e.Context }

// RetrievalConfig says how passages are found and chosen.
type RetrievalConfig struct {
	Strategy       string   `json:"strategy,omitempty"`
	NumberOfChunks int      `json:"numberOfChunks,omitempty"` // passages given to the model
	Candidates     int      `json:"candidates,omitempty"`     // passages that each leg finds
	Fusion         string   `json:"fusion,omitempty"`
	Weights        *Weights `json:"weights,omitempty"` // nil = package retrieve chooses them
	MinScore       float64  `json:"minScore,omitempty"`
	HyDE           bool     `json:"hyde,omitempty"`      // search by the vector of a hypothetical answer
	Decompose      bool     `json:"decompose,omitempty"` // search for the parts of a question too
	Compress       bool     `json:"compress,omitempty"`  // give the model only the sentences that matter
	Route          bool     `json:"route,omitempty"`     // choose the strategy by the question
	Translate      bool     `json:"translate,omitempty"` // search in the other languages of the documents too
	Entities       bool     `json:"entities,omitempty"`  // prefer documents with the entities that the question names
	Web            bool     `json:"web,omitempty"`       // search the web too, as tools.web_search says
	Reranker       string   `json:"reranker,omitempty"`  // RerankerJudge, or the name of the instance's reranker

	ContextTokens int    `json:"contextTokens,omitempty"` // of the passages together, estimated; 0 = no bound
	PerDocument   int    `json:"perDocument,omitempty"`   // passages of one document; 0 = no bound
	Neighbours    int    `json:"neighbours,omitempty"`    // chunks before and after a passage that the model reads too
	Order         string `json:"order,omitempty"`         // of the passages in the prompt
}

// The strategies and fusions of a RetrievalConfig.
const (
	StrategyHybrid = "hybrid"
	StrategyDense  = "dense"
	StrategyBM25   = "bm25"
	// StrategyMultiStage: candidates by words, of which vectors keep the nearest, and a reranker.
	StrategyMultiStage = "multi_stage"
	FusionWeighted     = "weighted"
	FusionRRF          = "rrf"
)

// The orders of a RetrievalConfig.
const (
	OrderRelevance = "relevance"
	OrderDocument  = "document" // documents by their best passage, and passages as they are in the document
	OrderEdges     = "edges"    // the best at the beginning and at the end
)

// The values of RetrievalConfig.Reranker beside the name of a model.
const (
	RerankerNone  = "none"
	RerankerJudge = "judge" // the chat model grades the passages
)

// Weights are the shares of the two legs in a weighted fusion.
type Weights struct {
	Dense float64 `json:"dense"`
	BM25  float64 `json:"bm25"`
}

// defaultWeights completes weights of which only one is given.
func defaultWeights() Weights { return Weights{Dense: 0.4, BM25: 0.6} }

// UnmarshalJSON reads weights. One that is not given is the default: 0 is a
// weight like any other.
func (w *Weights) UnmarshalJSON(data []byte) error {
	type weights Weights
	read := weights(defaultWeights())
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*w = Weights(read)
	return nil
}

// HistoryConfig bounds how much of a conversation the model is reminded of.
type HistoryConfig struct {
	Messages *int `json:"messages,omitempty"`
	Tokens   int  `json:"tokens,omitempty"`
}

// LimitsConfig bounds what a project may hold and ask; 0 means the instance's limit.
type LimitsConfig struct {
	Documents        int   `json:"documents,omitempty"`
	Pages            int   `json:"pages,omitempty"` // of all documents together
	Bytes            int64 `json:"bytes,omitempty"` // of all originals together
	FileBytes        int64 `json:"fileBytes,omitempty"`
	QueriesPerMinute int   `json:"queriesPerMinute,omitempty"`
}

// Fields returns what is wrong with the retrieval, as found at location.
func (r RetrievalConfig) Fields(location string) []Field {
	if r.Weights != nil && *r.Weights == (Weights{}) {
		return []Field{{location + ".weights", "must not both be 0: nothing would be ranked"}}
	}
	return nil
}

// AsksModel reports whether a search asks a model beside the embedding model, or the
// web, which takes longer than the search itself, or chooses something that readers are
// shown.
func (r RetrievalConfig) AsksModel() bool {
	return r.Web || r.Reranker != "" && r.Reranker != RerankerNone || r.Strategy == StrategyMultiStage || r.HyDE || r.Decompose || r.Compress || r.Route || r.Translate || r.Entities
}

// AsksModel reports whether the search for a question asks a model beside the
// embedding model.
func (c AIConfig) AsksModel() bool {
	return c.EnhanceQuery || c.SelfQuery == SelfQueryEnabled || c.Retrieval.AsksModel()
}

// RerankerFields returns what is wrong with the choice of a reranker, as found at
// location. configured is the name of the instance's reranker, "" = none.
func (r RetrievalConfig) RerankerFields(location, configured string) []Field {
	switch {
	case r.Reranker == "" || r.Reranker == RerankerNone || r.Reranker == RerankerJudge || r.Reranker == configured:
		return nil
	case configured == "":
		return []Field{{location, "must be none or judge: this instance has no models.rerank"}}
	}
	return []Field{{location, fmt.Sprintf("must be none, judge or %s", configured)}}
}

// ModelFields returns the chat models, as found at location, that the configuration names,
// that before did not name, and that are not among the models of the instance. known are these;
// none: an endpoint may serve models of any name, so none is wrong.
func (c AIConfig) ModelFields(location string, before AIConfig, known []string) []Field {
	if len(known) == 0 {
		return nil
	}
	var wrong []Field
	if c.Model != before.Model {
		wrong = UnknownModel(location+".model", c.Model, known)
	}
	for i, name := range c.Failover {
		if !slices.Contains(before.Failover, name) {
			wrong = append(wrong, UnknownModel(fmt.Sprintf("%s.failover[%d]", location, i), name, known)...)
		}
	}
	return wrong
}

// UnknownModel returns what is wrong with the name of a chat model, as found at location.
// "" = the instance's. known is as in AIConfig.ModelFields.
func UnknownModel(location, name string, known []string) []Field {
	if name == "" || len(known) == 0 || slices.Contains(known, name) {
		return nil
	}
	return []Field{{location, Messagef("must be %s: this instance has no endpoint for %s; set models.chat", strings.Join(known, " or "), name)}}
}

// WebSource returns the settings with which a question searches the web beside the
// documents, nil if it does not.
func (c ProjectConfig) WebSource() *WebSearchConfig {
	if !c.AI.Retrieval.Web {
		return nil
	}
	if c.Tools.WebSearch != nil {
		return c.Tools.WebSearch
	}
	return &WebSearchConfig{}
}

// Fields returns what is wrong with the configuration, as found at location.
func (c AIConfig) Fields(location string) []Field {
	return slices.Concat(c.Embeddings.Fields(location+".embeddings"), c.Splitter.Fields(location+".textSplitter"), c.Retrieval.Fields(location+".retrieval"), c.tagFields(location))
}

// WithDefaults returns the configuration with its defaults filled in, except
// those that depend on the search.
func (c ProjectConfig) WithDefaults() ProjectConfig {
	c.AI.Splitter = c.AI.Splitter.WithDefaults()
	r := &c.AI.Retrieval
	setDefault(&r.Strategy, StrategyHybrid)
	setDefault(&r.NumberOfChunks, 10)
	setDefault(&r.Candidates, 50)
	setDefault(&r.Fusion, FusionWeighted)
	setDefault(&r.Order, OrderRelevance)
	r.Candidates = max(r.Candidates, r.NumberOfChunks)
	if c.AI.History.Messages == nil {
		ten := 10
		c.AI.History.Messages = &ten
	}
	setDefault(&c.AI.History.Tokens, 4000)
	setDefault(&c.Tools.MaxPerRequest, 5)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
