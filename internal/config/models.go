package config

import (
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Azure is the type of the endpoints of Azure OpenAI.
const Azure = "azure"

// Local is the type of a model in the data folder, which has no endpoint.
const Local = "local"

// rerankCohere is the default protocol of the endpoints that rerank.
const rerankCohere = "cohere"

// Models are the models that answer, embed, hear, paint and rerank. The comment of a model
// lists the keys that mean something else there than in Endpoint and Model.
type Models struct {
	// The model that answers.
	Chat Model `koanf:"chat"`
	// The model that makes embeddings.
	//   - type: The kind of the endpoint: openai, or azure for Azure OpenAI, which gets the key in
	//     the header api-key; or local for a model that cairn models add has fetched into the
	//     data folder, which has a model but no base_url. Defaults to openai.
	Embedding Model `koanf:"embedding"`
	// The model that transcribes audio and video. After a time-out no other endpoint is asked.
	//   - base_url: The address of the endpoint, up to and with /v1; for azure the address of
	//     the resource. It answers at /audio/transcriptions with segments (verbose_json).
	//     Defaults to none: audio and video are then read only from a transcript that comes
	//     with them.
	//   - model: The model's name at the endpoint, such as whisper-1. Needed with a base_url.
	//     Defaults to none.
	//   - timeout: How long one call may take. It transcribes up to 25 MB, or 20 minutes of a
	//     longer recording that ffmpeg cuts. Defaults to 10m, the largest value.
	Transcription Model `koanf:"transcription" without:"dimensions max_tokens idle_timeout"`
	// The model that makes pictures. After a time-out no other endpoint is asked, because the
	// picture may have been made, and costs.
	//   - base_url: The address of the endpoint, up to and with /v1; for azure the address of
	//     the resource. It answers at /images/generations with pictures in base64. Defaults to
	//     none: the tool image_generation is refused.
	//   - model: The model's name at the endpoint, such as gpt-image-1. Needed with a base_url.
	//     Defaults to none.
	//   - timeout: How long one picture may take. Defaults to 4m; the tool waits 5 minutes.
	Image Model `koanf:"image" without:"dimensions max_tokens idle_timeout"`
	// The model that scores how relevant passages are to a question. A project selects it by
	// its name in ai.retrieval.reranker.
	//   - base_url: The address of the endpoint, up to and without /rerank, such as
	//     https://api.jina.ai/v1. Defaults to none.
	//   - type: The protocol of the endpoint: cohere, which Cohere, Jina, Voyage and vLLM
	//     speak, or tei, the protocol of text-embeddings-inference. Defaults to cohere.
	//   - model: The model's name at the endpoint. Needed with a base_url. tei serves one model,
	//     and then this is only the name that projects select. Defaults to none.
	//   - timeout: How long a search waits for the scores of this endpoint. Without scores it
	//     keeps the order that it had. Defaults to 5s.
	//   - failover.type: The protocol of the endpoint: cohere or tei. Defaults to cohere.
	//   - failover.model: The model's name at the endpoint, which is needed. Projects select the
	//     name of the first one. Defaults to none.
	//   - failover.timeout: How long a search waits for the scores of this endpoint. Defaults to
	//     the timeout of the first endpoint.
	Rerank Model `koanf:"rerank" without:"dimensions max_tokens idle_timeout api_version deployment failover.idle_timeout failover.api_version failover.deployment"`
	// The offline model, which serves whatever no endpoint is named for.
	Offline Offline `koanf:"offline"`
	// The currency of the prices, which all have the same, such as EUR. Defaults to USD.
	Currency string `koanf:"currency"`
	// What tokens cost. Runs and usage then show their cost. Defaults to none: no cost is shown.
	Prices []Price `koanf:"prices"`
}

// Price is the price of the tokens of a model, whatever endpoint serves it.
type Price struct {
	// The model's name, as models.<model>.model, ai.model or another setting has it, which is needed. Defaults to none.
	Model string `koanf:"model"`
	// The price of a million tokens that the model reads: prompts, texts to embed or to
	// rerank. Defaults to 0.
	Input float64 `koanf:"input"`
	// The price of a million tokens that the model writes. Defaults to 0.
	Output float64 `koanf:"output"`
}

// Model is a model and the endpoints that serve it.
type Model struct {
	// The endpoint that is asked first.
	Endpoint `koanf:",squash"`
	// The length of the vectors, for embeddings only; 0 takes what the model
	// gives. Defaults to 0, and to 1536 for OpenAI's default model.
	Dimensions int `koanf:"dimensions"`
	// How many tokens one text may have, for embeddings only, counted as OpenAI's
	// models do (cl100k_base). A chunk with what stands around it is cut to that. For
	// a model with another vocabulary, set three quarters of its limit. 0 sets no
	// bound. Defaults to 8191.
	MaxTokens int `koanf:"max_tokens"`
	// Endpoints that are asked where the first one fails, in their order.
	//   - base_url: The endpoint's address, in the form of the first endpoint's, which is needed.
	//     Defaults to none.
	//   - model: The model's name at the endpoint, which is needed. A project that names it in
	//     ai.model or ai.failover is answered by this endpoint. One for embeddings has the name
	//     of the first endpoint's. Defaults to none.
	//   - key_env: The name of the environment variable that holds the endpoint's key. Defaults
	//     to none.
	//   - timeout: How long one call may take as a whole. Defaults to the timeout of the first
	//     endpoint.
	//   - idle_timeout: How long the endpoint may say nothing during a call. Defaults to the value
	//     of the first endpoint.
	Failover []Endpoint `koanf:"failover"`
}

// Endpoint is a model at one address, which speaks the OpenAI protocol unless it reranks.
type Endpoint struct {
	// The endpoint's address, up to and with /v1; for azure the address of the resource, such as
	// https://name.openai.azure.com. Defaults to the offline model
	// in the process, or, when OPENAI_API_KEY is set and no base_url is, to
	// https://api.openai.com/v1.
	BaseURL string `koanf:"base_url"`
	// The kind of the endpoint: openai, or azure for Azure OpenAI, which gets the key in
	// the header api-key. Defaults to openai.
	Type string `koanf:"type"`
	// The version of Azure's API, such as 2024-10-21, for addresses with
	// /openai/deployments/. Defaults to none: the addresses begin with /openai/v1/, which
	// has no versions; preview selects its preview.
	APIVersion string `koanf:"api_version"`
	// The name of the model's deployment in Azure. Defaults to the model's name.
	Deployment string `koanf:"deployment"`
	// The model's name at the endpoint. Needed with a base_url. Defaults to the
	// offline model's name; at OpenAI to gpt-4.1-mini and text-embedding-3-small.
	Model string `koanf:"model"`
	// The name of the environment variable that holds the endpoint's key. Defaults to none,
	// and to OPENAI_API_KEY where that alone switches answers and embeddings to OpenAI.
	KeyEnv string `koanf:"key_env"`
	// How long one call may take as a whole. Defaults to 10m, the largest value.
	// Embedding a batch of passages ends after 5m, a question after 1m, in any case.
	Timeout time.Duration `koanf:"timeout"`
	// How long the endpoint may say nothing during a call. Defaults to 1m.
	IdleTimeout time.Duration `koanf:"idle_timeout"`

	// APIKey is the value of the variable that KeyEnv names.
	APIKey string `koanf:"-"`
}

// Offline is the offline model.
type Offline struct {
	// How fast the offline model answers; 0 is at once. Defaults to 0.
	TokensPerSecond int `koanf:"tokens_per_second"`
}

// namedModel is a model with its key, such as models.chat, and the types that its endpoints
// can have, the default first.
type namedModel struct {
	*Model

	key   string
	types []string
}

// all returns the models that have endpoints.
func (m *Models) all() []namedModel {
	openAI, rerank := []string{"", "openai", Azure}, []string{rerankCohere, "tei"}
	embedding := append(slices.Clone(openAI), Local)
	return []namedModel{
		{&m.Chat, "models.chat", openAI}, {&m.Embedding, "models.embedding", embedding},
		{&m.Transcription, "models.transcription", openAI}, {&m.Image, "models.image", openAI},
		{&m.Rerank, "models.rerank", rerank},
	}
}

// failoverKey returns the key of the section of one failover.
func (m namedModel) failoverKey(i int) string { return fmt.Sprintf("%s.failover.%d", m.key, i) }

// Offline reports whether the offline model in the process stands for e.
func (e Endpoint) Offline() bool { return e.BaseURL == "" && !e.Local() }

// Local reports whether the model is in the data folder.
func (e Endpoint) Local() bool { return e.Type == Local }

// Provider is a short name of the endpoint for logs, metrics and messages: its host, with
// the port if the address names one, "local" or "offline".
func (e Endpoint) Provider() string {
	if e.Local() {
		return Local
	}
	if e.Offline() {
		return "offline"
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return "model"
	}
	return u.Host
}
