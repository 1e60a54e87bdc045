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
		Prompt        string                    `json:"prompt,omitempty" maxLength:"20000" doc:"System prompt; ${context} and ${date} are filled in. rag_search adds its passages to one without ${context}"`
		Model         string                    `json:"model,omitempty" maxLength:"200" doc:"Chat model: one of models.chat or of models.chat.failover, or another one that the endpoint of models.chat serves. A project may name it before the instance has its endpoint; an endpoint need not list all that it serves. A question whose projectConfigOverride names a model that is known to be missing is refused; one to a project that names it fails, with an error that names the model. Default: that of models.chat"`
		Failover      []string                  `json:"failover,omitempty" maxItems:"10" doc:"Chat models that answer where the model fails, in their order: models of models.chat.failover, or others of the endpoint of models.chat. Default: models.chat.failover"`
		Temperature   *float64                  `json:"temperature,omitempty" minimum:"0" maximum:"2"`
		MaxTokens     int                       `json:"maxTokens,omitempty" minimum:"0" maximum:"200000"`
		Embeddings    knowledge.Embeddings      `json:"embeddings,omitzero" doc:"Embedding model of documents and questions. Documents that were embedded with another one are found by it until a reindex has embedded them again"`
		Splitter      knowledge.Splitter        `json:"textSplitter,omitzero"`
		Enrichment    knowledge.Enrichment      `json:"enrichment,omitzero" doc:"What the chat model finds out about each document at its ingestion"`
		Retrieval     knowledge.RetrievalConfig `json:"retrieval,omitzero"`
		History       knowledge.HistoryConfig   `json:"history,omitzero"`
		EnhanceQuery  bool                      `json:"enhanceQuery,omitempty" doc:"The chat model rewrites a question so that it stands alone, without the conversation before it, and that is searched"`
		SelfQuery     string                    `json:"selfQuery,omitempty" enum:"disabled,enabled,user" doc:"Who chooses the tags of the documents that a question is about. enabled: the chat model, also other fields. user: the user, by the tags of the question or else of its preferences. Default: disabled"`
		Tags          []string                  `json:"tags,omitempty" doc:"Every question searches only documents with one of these tags"`
		MandatoryTags []knowledge.MandatoryTags `json:"mandatoryTags,omitempty" maxItems:"1000" doc:"The questions of these users and groups search only documents with one of the tags. One question cannot override tags and mandatoryTags"`
		PostQuery     knowledge.PostQuery       `json:"postQuery,omitzero"`
		Multimodal    bool                      `json:"multimodal,omitempty" doc:"A model describes the pictures of documents at their ingestion, and the pictures that a question finds are shown to the model that answers. The chat model must be one that sees pictures"`
		Reflection    bool                      `json:"reflection,omitempty" doc:"An answer begins with a block about the question: **Reflection:**, a line in italics, an empty line. The chat model writes it"`
	}
	type PostQuery struct {
		Suggestions  bool `json:"suggestions,omitempty" doc:"The chat model suggests up to three questions that may come next, in suggestions of the answer. That costs a call after each answer"`
		SourceFilter bool `json:"sourceFilter,omitempty" doc:"The sources of an answer are only those that it cites. They keep their ranks"`
	}
	type MandatoryTags struct {
		Users  []string `json:"users,omitempty" maxItems:"1000" doc:"User ids, also the application's own"`
		Groups []string `json:"groups,omitempty" maxItems:"1000"`
		Tags   []string `json:"tags" minItems:"1" maxItems:"64"`
	}
	type Embeddings struct {
		Model      string `json:"model,omitempty" maxLength:"200" doc:"A model of the endpoint of models.embedding. Default: the one that the instance is configured with"`
		Dimensions int    `json:"dimensions,omitempty" minimum:"0" maximum:"8192" doc:"Length of the vectors. Default: the instance's for its model, or else what the model gives"`
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
		Context  bool `json:"context,omitempty" doc:"A sentence for each chunk that places it in its document, and is embedded with it"`
	}
	type ToolsConfig struct {
		MaxPerRequest   int                              `json:"maxPerRequest,omitempty" minimum:"0" maximum:"50" doc:"Turns in which the model may call tools. Default: 5"`
		WebSearch       *knowledge.WebSearchConfig       `json:"web_search,omitempty" doc:"The model may search the web. Refused if the instance has no web_search"`
		CodeInterpreter bool                             `json:"code_interpreter,omitempty" doc:"The model may run code. Refused if the instance has no code_interpreter"`
		ImageGeneration *knowledge.ImageGenerationConfig `json:"image_generation,omitempty" doc:"The model may make pictures. Refused if the instance has no models.image"`
		Approval        []string                         `json:"approval,omitempty" maxItems:"100" doc:"Names of tools whose calls wait until a person approves or refuses them: tools of Cairn, those of custom, and name_tool of an MCP server. Others are refused"`
		DeepResearch    knowledge.ResearchConfig         `json:"deep_research,omitzero" doc:"Bounds of a question with deepResearch (docs/research.md)"`
		Custom          knowledge.CustomTools            `json:"custom,omitempty" doc:"Tools of the project's own, by their names: 1 to 64 letters, digits, - and _. One question can leave them out, and not change them"`
	}
	type ResearchConfig struct {
		Depth   int                      `json:"depth,omitempty" minimum:"0" maximum:"10" doc:"Rounds of sub-questions. Default: 2"`
		Breadth int                      `json:"breadth,omitempty" minimum:"0" maximum:"20" doc:"Sub-questions of a round. Default: 4"`
		Timeout int                      `json:"timeout,omitempty" minimum:"0" maximum:"86400" doc:"In seconds, without pauses. Default: 1800"`
		Budget  knowledge.ResearchBudget `json:"budget,omitzero" doc:"What it may ask of models"`
	}
	type ResearchBudget struct {
		Tokens int `json:"tokens,omitempty" minimum:"0" maximum:"100000000" doc:"Of prompts and completions. Default: 1000000"`
		Calls  int `json:"calls,omitempty" minimum:"0" maximum:"1000" doc:"Model calls. Default: 60"`
	}
	type CustomTool struct {
		Type        string                `json:"type" required:"false" enum:"automation,agent,mcp"`
		Description string                `json:"description,omitempty" maxLength:"2000" doc:"What the tool does, for the model"`
		Arguments   map[string]any        `json:"arguments,omitempty" doc:"JSON schema of the arguments, an object. Default: any object"`
		Automation  *knowledge.Automation `json:"automation,omitempty"`
		MCP         *knowledge.MCP        `json:"mcp,omitempty"`
		Agent       *knowledge.Agent      `json:"agent,omitempty"`
	}
	type Agent struct {
		ID   string `json:"id" required:"false" maxLength:"200" doc:"Of another project of the workspace, which the model may ask a question"`
		Name string `json:"name,omitempty" maxLength:"200" doc:"For people who read the configuration"`
	}
	type MCP struct {
		URL     string              `json:"url" required:"false" maxLength:"2000" doc:"Of a server that speaks streamable HTTP, or SSE"`
		Headers map[string]string   `json:"headers,omitempty" doc:"As those of an automation"`
		Tools   []knowledge.MCPTool `json:"tools,omitempty" maxItems:"64" doc:"The only tools that are offered. Default: those that the server lists"`
	}
	type MCPTool struct {
		Name        string         `json:"name" required:"false" maxLength:"64"`
		Description string         `json:"description,omitempty" maxLength:"2000" doc:"What the tool does, for the model"`
		InputSchema map[string]any `json:"inputSchema,omitempty" doc:"JSON schema of the arguments, an object. Default: any object"`
	}
	type Automation struct {
		URL     string            `json:"url" required:"false" maxLength:"2000" doc:"{name} in its path or query is replaced by an argument"`
		Method  string            `json:"method,omitempty" enum:"GET,HEAD,POST,PUT,PATCH,DELETE" doc:"Default: POST. Only GET and HEAD are repeated; the others are sent once, with an Idempotency-Key"`
		Headers map[string]string `json:"headers,omitempty" doc:"secrets.NAME, or ${secrets.NAME} in a value, is replaced by a secret with the use header and the host of url (PUT …/secrets)"`
		Body    map[string]any    `json:"body,omitempty" doc:"Fields of the JSON body beside the arguments"`
	}
	type WebSearchConfig struct {
		Provider           string   `json:"provider,omitempty" enum:"searxng,brave,serper,google" doc:"Default: the instance's"`
		Type               string   `json:"type,omitempty" enum:"search,news,images,videos,places,scholar,patents,shopping" doc:"Default: search"`
		DateRange          string   `json:"dateRange,omitempty" enum:"qdr:h,qdr:d,qdr:w,qdr:m,qdr:y" doc:"Only of the last hour, day, week, month or year. Default: no limit"`
		WhitelistedDomains []string `json:"whitelistedDomains,omitempty" maxItems:"100" doc:"Only these domains and those below them"`
		BonusDomains       []string `json:"bonusDomains,omitempty" maxItems:"100" doc:"Results of these domains rank higher"`
		BlacklistedDomains []string `json:"blacklistedDomains,omitempty" maxItems:"100" doc:"Not these domains, nor those below them"`
		Scrape             bool     `json:"scrape,omitempty" doc:"Read the pages that were found. Default: false"`
	}
	type ImageGenerationConfig struct {
		Model string `json:"model,omitempty" maxLength:"200" doc:"A model that the endpoint of models.image serves. It need not list it: a call with a name that it does not know fails, and says so. Default: the one that the instance is configured with"`
	}
	type LimitsConfig struct {
		Documents        int   `json:"documents,omitempty" minimum:"0"`
		Pages            int   `json:"pages,omitempty" minimum:"0" doc:"Of all documents together"`
		Bytes            int64 `json:"bytes,omitempty" minimum:"0" doc:"Of all files together"`
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
		ChunkSize    int      `json:"chunkSize,omitempty" minimum:"100" maximum:"8000" doc:"In characters; with hierarchical, of what the model reads. A chunk has fewer if models.embedding.max_tokens would be exceeded. Default: 1000"`
		ChunkOverlap *int     `json:"chunkOverlap,omitempty" minimum:"0" doc:"In characters, below half of chunkSize. semantic and hierarchical chunks do not overlap. Default: 100, or what is below half of chunkSize"`
		Separators   []string `json:"separators,omitempty" maxItems:"20" doc:"Texts after which a passage that is longer than a chunk is cut, the most important first, each of 1 to 100 characters. Rows of tables and lines of code stay whole. Default: the ends of sentences"`
	}
	type RetrievalConfig struct {
		Strategy       string             `json:"strategy,omitempty" enum:"hybrid,multi_stage,dense,bm25" doc:"hybrid: by vector and by words, fused. multi_stage: by words, of which the nearest by vector are kept, and a reranker if there is one. Default: hybrid"`
		NumberOfChunks int                `json:"numberOfChunks,omitempty" minimum:"0" maximum:"100" doc:"Passages given to the model. Default: 10"`
		Candidates     int                `json:"candidates,omitempty" minimum:"0" maximum:"1000" doc:"Passages that each leg finds. Default: 50"`
		Fusion         string             `json:"fusion,omitempty" enum:"weighted,rrf" doc:"Default: weighted"`
		Weights        *knowledge.Weights `json:"weights,omitempty" doc:"The shares of the legs. Default: by the scores of the legs, dense 0.3 to 0.7; with the offline model dense 0.35 for a question in English, 0.05 for any other"`
		MinScore       float64            `json:"minScore,omitempty" minimum:"0" maximum:"1" doc:"A passage with a lower score is dropped. It is the score of the reranker, if there is one"`
		HyDE           bool               `json:"hyde,omitempty" doc:"The chat model writes a passage that would answer the question, and its vector is searched"`
		Decompose      bool               `json:"decompose,omitempty" doc:"The chat model splits a question that asks for several things, and each is searched"`
		Compress       bool               `json:"compress,omitempty" doc:"The chat model chooses the sentences of the passages that matter"`
		Route          bool               `json:"route,omitempty" doc:"Choose by the question: identifiers and quoted phrases are searched by words alone, several questions in one are decomposed"`
		Translate      bool               `json:"translate,omitempty" doc:"The chat model translates the question into the other languages of the documents, up to three, and each is searched"`
		Entities       bool               `json:"entities,omitempty" doc:"Passages of documents whose metadata.entities the question names rank higher"`
		Web            bool               `json:"web,omitempty" doc:"The web is searched too, as tools.web_search says, and its pages are ranked among the passages (docs/retrieval.md)"`
		Reranker       string             `json:"reranker,omitempty" maxLength:"200" doc:"What reranks the candidates: judge (the chat model), the name of models.rerank, or none. Default: none"`
		ContextTokens  int                `json:"contextTokens,omitempty" minimum:"0" maximum:"1000000" doc:"Estimated tokens of the passages together; a passage that does not fit is dropped, the first one never. Default: no bound"`
		PerDocument    int                `json:"perDocument,omitempty" minimum:"0" maximum:"100" doc:"Passages of one document. Default: no bound"`
		Neighbours     int                `json:"neighbours,omitempty" minimum:"0" maximum:"5" doc:"Chunks before and after a passage that the model reads with it. Chunks with a parent have none. Default: 0"`
		Order          string             `json:"order,omitempty" enum:"relevance,document,edges" doc:"Order of the passages in the prompt. document: documents by their best passage, and passages as in the document. edges: the best at the beginning and at the end. Default: relevance"`
	}
	type Weights struct {
		Dense float64 `json:"dense" required:"false" minimum:"0" maximum:"1" doc:"Default where bm25 is given: 0.4"`
		BM25  float64 `json:"bm25" required:"false" minimum:"0" maximum:"1" doc:"Default where dense is given: 0.6"`
	}
	return reflect.TypeFor[Splitter](), reflect.TypeFor[RetrievalConfig](), reflect.TypeFor[Weights]()
}
