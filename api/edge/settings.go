package edge

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// newSchemas returns an empty registry of schemas that knows how types of the
// vocabulary are described, which has no tags for huma.
func newSchemas() huma.Registry {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[knowledge.Box](), reflect.TypeFor[[4]float64]())
	registry.RegisterTypeAlias(reflect.TypeFor[knowledge.CustomTools](), reflect.TypeFor[customTools]())
	for setting, described := range describedSettings() {
		registry.RegisterTypeAlias(setting, described)
	}
	return registry
}

// customTools describes knowledge.CustomTools. In a change, null removes a tool.
type customTools knowledge.CustomTools

// Schema implements huma.SchemaProvider.
func (customTools) Schema(r huma.Registry) *huma.Schema {
	one := *r.Schema(reflect.TypeFor[knowledge.CustomTool](), false, "")
	one.Nullable = true
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &one}
}

// describedSettings returns, for each type of a project's settings, a type with
// the same name, fields and JSON names, whose tags are the descriptions and the
// limits that clients see and that requests are checked against. The types are
// declared in the function because huma takes the name of a schema from its type.
func describedSettings() map[reflect.Type]reflect.Type {
	type AIConfig struct {
		Prompt        string                    `json:"prompt,omitempty" maxLength:"20000" doc:"System prompt. ${context} is replaced by the passages and ${date} by the date. Without ${context} nothing is searched before the first call of the model; rag_search then adds its passages at the end"`
		Model         string                    `json:"model,omitempty" maxLength:"200" doc:"The chat model: one of models.chat or models.chat.failover, or another model of the endpoint of models.chat. The name is not checked when it is set. A question whose projectConfigOverride names a model that is known to be missing is refused; a question to a project with a missing model fails with an error that names it. Default: the model of models.chat"`
		Failover      []string                  `json:"failover,omitempty" maxItems:"10" doc:"Chat models that are tried in this order if the model fails: models of models.chat.failover, or other models of the endpoint of models.chat. Default: models.chat.failover"`
		Temperature   *float64                  `json:"temperature,omitempty" minimum:"0" maximum:"2"`
		MaxTokens     int                       `json:"maxTokens,omitempty" minimum:"0" maximum:"200000"`
		Embeddings    knowledge.Embeddings      `json:"embeddings,omitzero" doc:"The embedding model of documents and questions. Documents that were embedded with another model are searched with that model until a reindex has embedded them again"`
		Splitter      knowledge.Splitter        `json:"textSplitter,omitzero"`
		Enrichment    knowledge.Enrichment      `json:"enrichment,omitzero" doc:"What the chat model extracts from each document at ingestion"`
		Retrieval     knowledge.RetrievalConfig `json:"retrieval,omitzero"`
		History       knowledge.HistoryConfig   `json:"history,omitzero"`
		EnhanceQuery  bool                      `json:"enhanceQuery,omitempty" doc:"The chat model rewrites a follow-up question so that it can be understood without the conversation; the rewritten question is searched"`
		SelfQuery     string                    `json:"selfQuery,omitempty" enum:"disabled,enabled,user" doc:"How a search is narrowed by tags. enabled: the chat model chooses tags and other fields. user: the tags of the question or else of the user's preferences. Default: disabled"`
		Tags          []string                  `json:"tags,omitempty" doc:"Every question searches only documents with one of these tags"`
		MandatoryTags []knowledge.MandatoryTags `json:"mandatoryTags,omitempty" maxItems:"1000" doc:"The questions of these users and groups search only documents with one of the tags. One question cannot override tags and mandatoryTags"`
		PostQuery     knowledge.PostQuery       `json:"postQuery,omitzero"`
		Multimodal    bool                      `json:"multimodal,omitempty" doc:"A model describes the pictures of documents at ingestion, and the pictures that a question finds are shown to the chat model. The chat model must accept images"`
		Reflection    bool                      `json:"reflection,omitempty" doc:"Answers begin with a reflection of the chat model about the question: **Reflection:**, a line in italics, an empty line"`
	}
	type PostQuery struct {
		Suggestions  bool `json:"suggestions,omitempty" doc:"The chat model suggests up to three follow-up questions, in suggestions of the answer. This costs one call after each answer"`
		SourceFilter bool `json:"sourceFilter,omitempty" doc:"List only the sources that the answer cites. They keep their ranks"`
	}
	type MandatoryTags struct {
		Users  []string `json:"users,omitempty" maxItems:"1000" doc:"User ids of either kind: userId or externalUserId"`
		Groups []string `json:"groups,omitempty" maxItems:"1000"`
		Tags   []string `json:"tags" minItems:"1" maxItems:"64"`
	}
	type Embeddings struct {
		Model      string `json:"model,omitempty" maxLength:"200" doc:"A model of the endpoint of models.embedding. Default: the configured model"`
		Dimensions int    `json:"dimensions,omitempty" minimum:"0" maximum:"8192" doc:"Length of the vectors. Default: the setting of the instance for its model, or the default of the model"`
	}
	type HistoryConfig struct {
		Messages *int `json:"messages,omitempty" minimum:"0" maximum:"100" doc:"Default: 10"`
		Tokens   int  `json:"tokens,omitempty" minimum:"0" maximum:"100000" doc:"Default: 4000"`
	}
	type Enrichment struct {
		Summary  bool `json:"summary,omitempty" doc:"A summary, in metadata.summary"`
		Topics   bool `json:"topics,omitempty" doc:"The main topics, in metadata.topics"`
		Entities bool `json:"entities,omitempty" doc:"People, organisations, products and places, in metadata.entities"`
		Tags     bool `json:"tags,omitempty" doc:"Tags of the document"`
		Context  bool `json:"context,omitempty" doc:"A sentence that places each chunk in its document; it is embedded with the chunk"`
	}
	type ToolsConfig struct {
		MaxPerRequest   int                              `json:"maxPerRequest,omitempty" minimum:"0" maximum:"50" doc:"The largest number of turns with tool calls. Default: 5"`
		WebSearch       *knowledge.WebSearchConfig       `json:"web_search,omitempty" doc:"Let the model search the web. Refused if the instance has no web_search"`
		CodeInterpreter bool                             `json:"code_interpreter,omitempty" doc:"Let the model run code. Refused if the instance has no code_interpreter"`
		ImageGeneration *knowledge.ImageGenerationConfig `json:"image_generation,omitempty" doc:"Let the model create pictures. Refused if the instance has no models.image"`
		Approval        []string                         `json:"approval,omitempty" maxItems:"100" doc:"Names of tools whose calls need the approval of a person: tools of Cairn, tools in custom, and name_tool for a tool of an MCP server. Unknown names are refused"`
		DeepResearch    knowledge.ResearchConfig         `json:"deep_research,omitzero" doc:"Limits of a question with deepResearch (docs/research.md)"`
		Custom          knowledge.CustomTools            `json:"custom,omitempty" doc:"Custom tools of the project by name: 1 to 64 letters, digits, - and _. projectConfigOverride can remove them, but not change them"`
	}
	type ResearchConfig struct {
		Depth   int                      `json:"depth,omitempty" minimum:"0" maximum:"10" doc:"Rounds of sub-questions. Default: 2"`
		Breadth int                      `json:"breadth,omitempty" minimum:"0" maximum:"20" doc:"Sub-questions in each round. Default: 4"`
		Timeout int                      `json:"timeout,omitempty" minimum:"0" maximum:"86400" doc:"The longest duration in seconds, without pauses. Default: 1800"`
		Budget  knowledge.ResearchBudget `json:"budget,omitzero" doc:"Limits of the use of models"`
	}
	type ResearchBudget struct {
		Tokens int `json:"tokens,omitempty" minimum:"0" maximum:"100000000" doc:"The largest number of tokens in prompts and completions. Default: 1000000"`
		Calls  int `json:"calls,omitempty" minimum:"0" maximum:"1000" doc:"The largest number of model calls. Default: 60"`
	}
	type CustomTool struct {
		Type        string                `json:"type" required:"false" enum:"automation,agent,mcp"`
		Description string                `json:"description,omitempty" maxLength:"2000" doc:"What the tool does, for the model"`
		Arguments   map[string]any        `json:"arguments,omitempty" doc:"JSON schema of the arguments; the type must be object. Default: any object"`
		Automation  *knowledge.Automation `json:"automation,omitempty"`
		MCP         *knowledge.MCP        `json:"mcp,omitempty"`
		Agent       *knowledge.Agent      `json:"agent,omitempty"`
	}
	type Agent struct {
		ID   string `json:"id" required:"false" maxLength:"200" doc:"The id of another project of the workspace, which the model may ask"`
		Name string `json:"name,omitempty" maxLength:"200" doc:"A name for people who read the configuration"`
	}
	type MCP struct {
		URL     string              `json:"url" required:"false" maxLength:"2000" doc:"The URL of an MCP server with streamable HTTP or SSE"`
		Headers map[string]string   `json:"headers,omitempty" doc:"Headers as in an automation"`
		Tools   []knowledge.MCPTool `json:"tools,omitempty" maxItems:"64" doc:"The tools to offer. Default: all tools of the server"`
	}
	type MCPTool struct {
		Name        string         `json:"name" required:"false" maxLength:"64"`
		Description string         `json:"description,omitempty" maxLength:"2000" doc:"What the tool does, for the model"`
		InputSchema map[string]any `json:"inputSchema,omitempty" doc:"JSON schema of the arguments; the type must be object. Default: any object"`
	}
	type Automation struct {
		URL     string            `json:"url" required:"false" maxLength:"2000" doc:"{name} in its path or query is replaced by an argument"`
		Method  string            `json:"method,omitempty" enum:"GET,HEAD,POST,PUT,PATCH,DELETE" doc:"Default: POST. Only GET and HEAD are retried; other requests are sent once, with an Idempotency-Key"`
		Headers map[string]string `json:"headers,omitempty" doc:"secrets.NAME, or ${secrets.NAME} in a value, is replaced by a secret with the use header and the host of url (PUT …/secrets)"`
		Body    map[string]any    `json:"body,omitempty" doc:"Additional fields of the JSON body"`
	}
	type WebSearchConfig struct {
		Provider           string   `json:"provider,omitempty" enum:"searxng,brave,serper,google" doc:"Default: the provider of the instance"`
		Type               string   `json:"type,omitempty" enum:"search,news,images,videos,places,scholar,patents,shopping" doc:"Default: search"`
		DateRange          string   `json:"dateRange,omitempty" enum:"qdr:h,qdr:d,qdr:w,qdr:m,qdr:y" doc:"Only pages from the last hour, day, week, month or year. Default: no limit"`
		WhitelistedDomains []string `json:"whitelistedDomains,omitempty" maxItems:"100" doc:"Only these domains and their subdomains"`
		BonusDomains       []string `json:"bonusDomains,omitempty" maxItems:"100" doc:"Results of these domains rank higher"`
		BlacklistedDomains []string `json:"blacklistedDomains,omitempty" maxItems:"100" doc:"Exclude these domains and their subdomains"`
		Scrape             bool     `json:"scrape,omitempty" doc:"Read the pages, not only the snippets of the search engine. Default: false"`
	}
	type ImageGenerationConfig struct {
		Model string `json:"model,omitempty" maxLength:"200" doc:"A model of the endpoint of models.image. The name is not checked when it is set; a call with an unknown model fails with an error that names it. Default: the configured model"`
	}
	type LimitsConfig struct {
		Documents        int   `json:"documents,omitempty" minimum:"0"`
		Pages            int   `json:"pages,omitempty" minimum:"0" doc:"The largest number of pages of all documents"`
		Bytes            int64 `json:"bytes,omitempty" minimum:"0" doc:"The largest total size of all files"`
		FileBytes        int64 `json:"fileBytes,omitempty" minimum:"0"`
		QueriesPerMinute int   `json:"queriesPerMinute,omitempty" minimum:"0"`
	}
	splitter, retrieval, weights := describedRetrieval()
	return map[reflect.Type]reflect.Type{
		reflect.TypeFor[knowledge.AIConfig]():              reflect.TypeFor[AIConfig](),
		reflect.TypeFor[knowledge.Embeddings]():            reflect.TypeFor[Embeddings](),
		reflect.TypeFor[knowledge.Enrichment]():            reflect.TypeFor[Enrichment](),
		reflect.TypeFor[knowledge.MandatoryTags]():         reflect.TypeFor[MandatoryTags](),
		reflect.TypeFor[knowledge.HistoryConfig]():         reflect.TypeFor[HistoryConfig](),
		reflect.TypeFor[knowledge.ToolsConfig]():           reflect.TypeFor[ToolsConfig](),
		reflect.TypeFor[knowledge.WebSearchConfig]():       reflect.TypeFor[WebSearchConfig](),
		reflect.TypeFor[knowledge.ImageGenerationConfig](): reflect.TypeFor[ImageGenerationConfig](),
		reflect.TypeFor[knowledge.ResearchConfig]():        reflect.TypeFor[ResearchConfig](),
		reflect.TypeFor[knowledge.ResearchBudget]():        reflect.TypeFor[ResearchBudget](),
		reflect.TypeFor[knowledge.CustomTool]():            reflect.TypeFor[CustomTool](),
		reflect.TypeFor[knowledge.Automation]():            reflect.TypeFor[Automation](),
		reflect.TypeFor[knowledge.PostQuery]():             reflect.TypeFor[PostQuery](),
		reflect.TypeFor[knowledge.MCP]():                   reflect.TypeFor[MCP](),
		reflect.TypeFor[knowledge.MCPTool]():               reflect.TypeFor[MCPTool](),
		reflect.TypeFor[knowledge.Agent]():                 reflect.TypeFor[Agent](),
		reflect.TypeFor[knowledge.LimitsConfig]():          reflect.TypeFor[LimitsConfig](),
		reflect.TypeFor[knowledge.Splitter]():              splitter,
		reflect.TypeFor[knowledge.RetrievalConfig]():       retrieval,
		reflect.TypeFor[knowledge.Weights]():               weights,
	}
}

// describedRetrieval returns the described types of Splitter, RetrievalConfig and
// Weights.
func describedRetrieval() (splitter, retrieval, weights reflect.Type) {
	type Splitter struct {
		Strategy     string   `json:"strategy,omitempty" enum:"structure,fixed,sliding,semantic,hierarchical,dynamic" doc:"structure: at headings, then between blocks, rows and sentences. fixed: pieces of equal size. sliding: windows of whole sentences. semantic: where the embeddings of neighbouring sentences differ most. hierarchical: small chunks are found and cited, and the model reads the larger ones around them. dynamic: structure or sliding, as the layout of each section suggests. Default: structure"`
		ChunkSize    int      `json:"chunkSize,omitempty" minimum:"100" maximum:"8000" doc:"The size of a chunk in characters; with hierarchical, of the parent chunk. A chunk is smaller if it would exceed models.embedding.max_tokens. Default: 1000"`
		ChunkOverlap *int     `json:"chunkOverlap,omitempty" minimum:"0" doc:"The overlap in characters, less than half of chunkSize. semantic and hierarchical chunks do not overlap. Default: 100, or less if chunkSize is small"`
		Separators   []string `json:"separators,omitempty" maxItems:"20" doc:"Texts after which a passage longer than a chunk may be cut, most important first, each of 1 to 100 characters. Rows of tables and lines of code are not cut. Default: the ends of sentences"`
	}
	type RetrievalConfig struct {
		Strategy       string             `json:"strategy,omitempty" enum:"hybrid,multi_stage,dense,bm25" doc:"hybrid: vector and full-text search, fused. multi_stage: full-text search, then the nearest by vector, then the reranker if there is one. dense: vector search only. bm25: full-text search only. Default: hybrid"`
		NumberOfChunks int                `json:"numberOfChunks,omitempty" minimum:"0" maximum:"100" doc:"The number of passages for the model. Default: 10"`
		Candidates     int                `json:"candidates,omitempty" minimum:"0" maximum:"1000" doc:"The number of passages that each search (vector and full text) returns. Default: 50"`
		Fusion         string             `json:"fusion,omitempty" enum:"weighted,rrf" doc:"Default: weighted"`
		Weights        *knowledge.Weights `json:"weights,omitempty" doc:"The weights of the vector search (dense) and the full-text search (bm25). Default: by their scores, dense 0.3 to 0.7; with the offline model dense 0.35 for a question in English, else 0.05"`
		MinScore       float64            `json:"minScore,omitempty" minimum:"0" maximum:"1" doc:"Passages with a lower score are dropped. If there is a reranker, its score counts"`
		HyDE           bool               `json:"hyde,omitempty" doc:"The chat model writes a hypothetical answer, and its vector is searched"`
		Decompose      bool               `json:"decompose,omitempty" doc:"The chat model splits a question with several parts; each part is searched"`
		Compress       bool               `json:"compress,omitempty" doc:"The chat model reduces passages to their relevant sentences"`
		Route          bool               `json:"route,omitempty" doc:"Choose the search by the question: identifiers and quoted phrases use full text only, and a question with several parts is decomposed"`
		Translate      bool               `json:"translate,omitempty" doc:"The chat model translates the question into up to three other languages of the documents; each translation is searched"`
		Entities       bool               `json:"entities,omitempty" doc:"Passages rank higher if the question names an entity in metadata.entities of their document"`
		Web            bool               `json:"web,omitempty" doc:"Search the web too, with the settings of tools.web_search; its pages are ranked among the passages (docs/retrieval.md)"`
		Reranker       string             `json:"reranker,omitempty" maxLength:"200" doc:"The reranker of the candidates: judge (the chat model), the name of models.rerank, or none. Default: none"`
		ContextTokens  int                `json:"contextTokens,omitempty" minimum:"0" maximum:"1000000" doc:"The largest number of estimated tokens of all passages together. A passage that does not fit is dropped, except the first. Default: no limit"`
		PerDocument    int                `json:"perDocument,omitempty" minimum:"0" maximum:"100" doc:"The largest number of passages of one document. Default: no limit"`
		Neighbours     int                `json:"neighbours,omitempty" minimum:"0" maximum:"5" doc:"The number of chunks before and after a passage that are added to it for the model. Chunks with a parent have none. Default: 0"`
		Order          string             `json:"order,omitempty" enum:"relevance,document,edges" doc:"The order of the passages in the prompt. relevance: best first. document: documents by their best passage, passages in the order of the document. edges: the best at the beginning and at the end. Default: relevance"`
	}
	type Weights struct {
		Dense float64 `json:"dense" required:"false" minimum:"0" maximum:"1" doc:"Default where bm25 is given: 0.4"`
		BM25  float64 `json:"bm25" required:"false" minimum:"0" maximum:"1" doc:"Default where dense is given: 0.6"`
	}
	return reflect.TypeFor[Splitter](), reflect.TypeFor[RetrievalConfig](), reflect.TypeFor[Weights]()
}
