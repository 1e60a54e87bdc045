package knowledge

import (
	"cmp"
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
	// Privacy is what happens to personal data in documents.
	Privacy PrivacyConfig `json:"privacy,omitzero"`
	// Retention is how long the project keeps what it has.
	Retention RetentionConfig `json:"retention,omitzero"`
	// Pipeline are the steps of the customer.
	Pipeline Pipeline `json:"pipeline,omitempty"`
}

// AIConfig is the part of a project that concerns models and retrieval.
type AIConfig struct {
	Prompt string `json:"prompt,omitempty" maxLength:"20000" doc:"System prompt. ${context} is replaced by the passages and ${date} by the date. Without ${context} nothing is searched before the first call of the model; rag_search then adds its passages at the end. The rules of promptRules stand around it"`
	// PromptRules is PromptRulesOff or PromptRulesOn.
	PromptRules string `json:"promptRules,omitempty" enum:"on,off" doc:"Whether the rules of citing, and a warning not to follow instructions in passages, stand around prompt. off: the prompt is the whole system message, and must have such rules itself. Default: on"`
	Model       string `json:"model,omitempty" maxLength:"200" doc:"The chat model: one of models.chat or models.chat.failover, or another model of the endpoint of models.chat. A name that the endpoint does not list is refused when a project is saved; if the endpoint does not answer or has no list, the name is stored and the answer has a notice. A question whose projectConfigOverride names a missing model fails with an error that names it. Default: the model of models.chat"`
	// Failover are the chat models that answer where Model fails, in their order; none means
	// the instance's.
	Failover    []string        `json:"failover,omitempty" maxItems:"10" doc:"Chat models that are tried in this order if the model fails: models of models.chat.failover, or other models of the endpoint of models.chat. Default: models.chat.failover"`
	Temperature *float64        `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	MaxTokens   int             `json:"maxTokens,omitempty" minimum:"1" maximum:"200000"`
	Embeddings  Embeddings      `json:"embeddings,omitzero" doc:"The embedding model of documents and questions. Documents that were embedded with another model are searched with that model until a reindex has embedded them again"`
	Splitter    Splitter        `json:"textSplitter,omitzero"`
	Enrichment  Enrichment      `json:"enrichment,omitzero" doc:"What the chat model extracts from each document at ingestion"`
	Retrieval   RetrievalConfig `json:"retrieval,omitzero"`
	History     HistoryConfig   `json:"history,omitzero"`
	// EnhanceQuery has the chat model rewrite a question before it is searched; see Enhances.
	EnhanceQuery *bool `json:"enhanceQuery,omitempty" doc:"The chat model rewrites a follow-up question so that it can be understood without the conversation; the rewritten question is searched. Default: true for a question of a conversation that has messages, which costs a call before its search"`
	// SelfQuery says who chooses the tags of the documents that a question is about.
	SelfQuery string `json:"selfQuery,omitempty" enum:"disabled,enabled,user" doc:"How a search is narrowed by tags. enabled: the chat model chooses tags and other fields. user: the tags of the question or else of the user's preferences. Default: disabled"`
	// Tags restrict every question to the documents with one of them.
	Tags []string `json:"tags,omitempty" doc:"Every question searches only documents with one of these tags"`
	// MandatoryTags restrict the questions of users and groups.
	MandatoryTags []MandatoryTags `json:"mandatoryTags,omitempty" maxItems:"1000" doc:"The questions of these users and groups search only documents with one of the tags. One question cannot override tags and mandatoryTags"`
	PostQuery     PostQuery       `json:"postQuery,omitzero"`
	// Multimodal has a model describe the pictures of documents at their ingestion, and
	// shows the pictures that a question finds to the model that answers.
	Multimodal bool `json:"multimodal,omitempty" doc:"A model describes the pictures of documents at ingestion, and the pictures that a question finds are shown to the chat model. The chat model must accept images"`
	// Tables makes tables of the rows of spreadsheets, which the tool query_table queries.
	Tables bool `json:"tables,omitempty" doc:"The rows of CSV files and spreadsheets become tables at ingestion, and the chat model may query them in SQL with the tool query_table (docs/tables.md). A reindex makes the tables of earlier documents"`
	// Reflection asks the model to begin its answer with a block about the question.
	Reflection bool `json:"reflection,omitempty" doc:"Answers begin with a reflection of the chat model about the question: **Reflection:**, a line in italics, an empty line"`
	// Reasoning is ReasoningShow or ReasoningHide.
	Reasoning string `json:"reasoning,omitempty" enum:"show,hide" doc:"Whether the reasoning of a chat model that thinks before it answers is shown while it comes, in events named reasoning. It is never part of the answer. Default: show"`
}

// Whether readers of an answer see the reasoning of the model.
const (
	ReasoningShow = "show"
	ReasoningHide = "hide"
)

// PostQuery is what happens after the answer to a question.
type PostQuery struct {
	Suggestions  bool `json:"suggestions,omitempty" doc:"The chat model suggests up to three follow-up questions, in suggestions of the answer. This costs one call after each answer"`
	SourceFilter bool `json:"sourceFilter,omitempty" doc:"List only the sources that the answer cites. They keep their ranks"`
}

// EntitiesKey is the key of the metadata that names the entities of a document.
const EntitiesKey = "entities"

// Enrichment selects what a model finds out about each document at its ingestion. Each
// costs calls of the chat model.
type Enrichment struct {
	Summary  bool `json:"summary,omitempty" doc:"A summary, in metadata.summary"`
	Topics   bool `json:"topics,omitempty" doc:"The main topics, in metadata.topics"`
	Entities bool `json:"entities,omitempty" doc:"People, organisations, products and places, in metadata.entities"`
	Tags     bool `json:"tags,omitempty" doc:"Tags of the document"`
	Context  bool `json:"context,omitempty" doc:"A sentence that places each chunk in its document; it is embedded with the chunk"`
}

// VersionEnrichment is what a model finds out about a version, and what happens to its
// personal data. It is fixed when the version is added.
type VersionEnrichment struct {
	Enrichment

	Pictures bool   `json:"pictures,omitempty"` // a description of each picture
	Tables   bool   `json:"tables,omitempty"`   // its rows become tables
	Model    string `json:"model,omitempty"`    // that reads text and pictures; "" = the instance's chat model
	// Privacy is what happens to personal data before the text is cut.
	Privacy VersionPrivacy `json:"privacy,omitzero"`
	// Steps is the version of the pipeline that it goes through; "" = none.
	Steps string `json:"steps,omitempty"`
}

// Describes reports whether a model describes the document as a whole.
func (e Enrichment) Describes() bool { return e.Summary || e.Topics || e.Entities || e.Tags }

// ReadsText reports whether a model reads the text of the document.
func (e Enrichment) ReadsText() bool { return e.Describes() || e.Context }

// RetrievalConfig says how passages are found and chosen.
type RetrievalConfig struct {
	Preset         string   `json:"preset,omitempty" enum:"fast,balanced,thorough" doc:"The defaults of the settings below. fast: 5 passages, so the chat model reads half as much. balanced: 10 passages. thorough: 15 of up to 100 passages, sorted by models.rerank or else by the chat model, which also splits a question with several parts. docs/retrieval.md compares their cost and quality. Default: balanced"`
	Strategy       string   `json:"strategy,omitempty" enum:"hybrid,multi_stage,dense,bm25" doc:"hybrid: vector and full-text search, fused. multi_stage: full-text search, then the nearest by vector, then the reranker if there is one. dense: vector search only. bm25: full-text search only. Default: hybrid"`
	NumberOfChunks int      `json:"numberOfChunks,omitempty" minimum:"1" maximum:"100" doc:"The number of passages for the model. Default: by the preset, 10 without one"`
	Candidates     int      `json:"candidates,omitempty" minimum:"1" maximum:"1000" doc:"The number of passages that each search (vector and full text) returns. Default: by the preset, 50 without one"`
	Fusion         string   `json:"fusion,omitempty" enum:"weighted,rrf" doc:"Default: weighted"`
	Weights        *Weights `json:"weights,omitempty" doc:"The weights of the vector search (dense) and the full-text search (bm25). Default: by their scores, dense 0.3 to 0.7; with the offline model dense 0.35 for a question in English, else 0.05"`
	MinScore       float64  `json:"minScore,omitempty" minimum:"0" maximum:"1" doc:"Passages with a lower score are dropped. If there is a reranker, its score counts"`
	HyDE           bool     `json:"hyde,omitempty" doc:"The chat model writes a hypothetical answer, and its vector is searched"`
	Decompose      *bool    `json:"decompose,omitempty" doc:"The chat model splits a question with several parts; each part is searched. Default: true with the preset thorough, else false"`
	Phrasings      int      `json:"phrasings,omitempty" minimum:"0" maximum:"5" doc:"The chat model writes the question in so many other ways, and each is searched. Default: 0"`
	Compress       bool     `json:"compress,omitempty" doc:"The chat model reduces passages to their relevant sentences"`
	Route          bool     `json:"route,omitempty" doc:"Choose the search by the question: identifiers and quoted phrases use full text only, and a question with several parts is decomposed"`
	Translate      bool     `json:"translate,omitempty" doc:"The chat model translates the question into up to three other languages of the documents; each translation is searched"`
	Entities       bool     `json:"entities,omitempty" doc:"Passages rank higher if the question names an entity in metadata.entities of their document"`
	Web            bool     `json:"web,omitempty" doc:"Search the web too, with the settings of tools.web_search; its pages are ranked among the passages (docs/retrieval.md)"`
	Reranker       string   `json:"reranker,omitempty" maxLength:"200" doc:"The reranker of the candidates: judge (the chat model), the name of models.rerank, or none. Default: models.rerank if there is one, except with the preset fast; without one judge with the preset thorough, else none"`

	ContextTokens int    `json:"contextTokens,omitempty" minimum:"1" maximum:"1000000" doc:"The largest number of estimated tokens of all passages together. A passage that does not fit is dropped, except the first. Default: half of what the chat model reads, where its name says that this is little, else no limit"`
	PerDocument   int    `json:"perDocument,omitempty" minimum:"1" maximum:"100" doc:"The largest number of passages of one document. Default: no limit"`
	Neighbours    int    `json:"neighbours,omitempty" minimum:"0" maximum:"5" doc:"The number of chunks before and after a passage that are added to it for the model. Chunks with a parent have none. Default: 0"`
	Order         string `json:"order,omitempty" enum:"relevance,document,edges" doc:"The order of the passages in the prompt. relevance: best first. document: documents by their best passage, passages in the order of the document. edges: the best at the beginning and at the end. Default: relevance"`
}

// Whether rules stand around the prompt of a project.
const (
	PromptRulesOn  = "on"
	PromptRulesOff = "off"
)

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
	Dense float64 `json:"dense" required:"false" minimum:"0" maximum:"1" doc:"Default where bm25 is given: 0.4"`
	BM25  float64 `json:"bm25" required:"false" minimum:"0" maximum:"1" doc:"Default where dense is given: 0.6"`
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
	Messages *int `json:"messages,omitempty" minimum:"0" maximum:"100" doc:"0: no history. Default: 10"`
	Tokens   int  `json:"tokens,omitempty" minimum:"1" maximum:"100000" doc:"Default: 4000"`
}

// LimitsConfig bounds what a project may hold and ask. A zero field means the instance's
// limit, which a request leaves out: it cannot send zero.
type LimitsConfig struct {
	Documents        int   `json:"documents,omitempty" minimum:"1"`
	Pages            int   `json:"pages,omitempty" minimum:"1" doc:"The largest number of pages of all documents"`
	Bytes            int64 `json:"bytes,omitempty" minimum:"1" doc:"The largest total size of all files"`
	FileBytes        int64 `json:"fileBytes,omitempty" minimum:"1"`
	QueriesPerMinute int   `json:"queriesPerMinute,omitempty" minimum:"1"`

	RequestsPerMinute int     `json:"requestsPerMinute,omitempty" minimum:"1" maximum:"1000000" doc:"Requests that name the project, in any sixty seconds"`
	TokensPerDay      int64   `json:"tokensPerDay,omitempty" minimum:"1" maximum:"1000000000000" doc:"Tokens of models, by the day in UTC"`
	CostPerDay        float64 `json:"costPerDay,omitempty" minimum:"0.000001" maximum:"1000000000" doc:"The price of tokens by models.prices, by the day in UTC"`
}

// Use returns the limits that keys, users and workspaces have too.
func (l LimitsConfig) Use() UseLimits {
	return UseLimits{
		RequestsPerMinute: l.RequestsPerMinute, TokensPerDay: l.TokensPerDay, CostPerDay: l.CostPerDay, Documents: l.Documents, Bytes: l.Bytes,
	}
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
	return r.Web || r.Reranker != "" && r.Reranker != RerankerNone || r.Preset == PresetThorough || r.Strategy == StrategyMultiStage || r.HyDE || r.Phrasings > 0 || r.Decomposes() || r.Compress || r.Route || r.Translate || r.Entities
}

// Enhances reports whether the chat model rewrites a question before it is searched. followsUp says
// whether there are messages before the question.
func (c AIConfig) Enhances(followsUp bool) bool {
	if c.EnhanceQuery != nil {
		return *c.EnhanceQuery
	}
	return followsUp
}

// AsksModel reports whether the search for a question asks a model beside the
// embedding model. followsUp is as in Enhances.
func (c AIConfig) AsksModel(followsUp bool) bool {
	return c.Enhances(followsUp) || c.SelfQuery == SelfQueryEnabled || c.Retrieval.AsksModel()
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
	for _, n := range c.NewModels(location, before) {
		wrong = append(wrong, UnknownModel(n.Location, n.Name, known)...)
	}
	return wrong
}

// NamedModel is a chat model that a configuration names.
type NamedModel struct {
	Location string // of the name
	Name     string
}

// NewModels returns the chat models that the configuration, which stands at location, names
// and that before did not name there.
func (c AIConfig) NewModels(location string, before AIConfig) []NamedModel {
	var named []NamedModel
	if c.Model != "" && c.Model != before.Model {
		named = append(named, NamedModel{location + ".model", c.Model})
	}
	for i, name := range c.Failover {
		if !slices.Contains(before.Failover, name) {
			named = append(named, NamedModel{fmt.Sprintf("%s.failover[%d]", location, i), name})
		}
	}
	return named
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
	c.AI.Retrieval = c.AI.Retrieval.WithDefaults()
	if c.AI.History.Messages == nil {
		ten := 10
		c.AI.History.Messages = &ten
	}
	c.AI.History.Tokens = cmp.Or(c.AI.History.Tokens, 4000)
	c.Tools.MaxPerRequest = cmp.Or(c.Tools.MaxPerRequest, 5)
	return c
}
