package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"time"
)

// DefaultData is the folder in the working folder where everything is kept.
const DefaultData = "cairn-data"

// Azure is the type of the endpoints of Azure OpenAI.
const Azure = "azure"

// embedded is the value of temporal.address for the server in the process.
const embedded = "embedded"

// The endpoint and the models that are used when only OPENAI_API_KEY is set.
const (
	openAIVariable       = "OPENAI_API_KEY"
	openAIURL            = "https://api.openai.com/v1"
	openAIChatModel      = "gpt-4.1-mini"
	openAIEmbeddingModel = "text-embedding-3-small"
	openAIDimensions     = 1536
	openAIEmbeddedTokens = 8191
)

// numbers returns the default of every number.
func numbers() Config {
	model := Model{Timeout: 10 * time.Minute, IdleTimeout: time.Minute}
	embedding := model
	embedding.MaxTokens = openAIEmbeddedTokens
	return Config{
		ShutdownSeconds: 10,
		Models:          Models{Chat: model, Embedding: embedding, Transcription: Transcription{Timeout: model.Timeout}, Image: Image{Timeout: 4 * time.Minute}, Rerank: Rerank{Type: "cohere", Timeout: 5 * time.Second}},
		Limits: Limits{
			FileBytes: 100e6, TextBytes: 20e6, RequestBytes: 2e9,
			ParseSeconds: 60, ParseMemory: 1e9, Parsers: min(runtime.NumCPU(), 4), Streams: 2000,
		},
	}
}

// withDefaults completes c and looks up the secrets that it names.
func (c Config) withDefaults(env map[string]string) (Config, error) {
	data, err := filepath.Abs(or(c.Data, DefaultData))
	if err != nil {
		return Config{}, fmt.Errorf("data: %w", err)
	}
	c.Data = data
	c.Listen = or(c.Listen, "127.0.0.1:8080")
	c.Temporal.Address = or(c.Temporal.Address, embedded)
	c.Temporal.Namespace = or(c.Temporal.Namespace, "cairn")
	c.Temporal.Listen = or(c.Temporal.Listen, "127.0.0.1:7233")
	c.Temporal.UIListen = or(c.Temporal.UIListen, "127.0.0.1:8233")
	c.Temporal.IngestRetention = or(c.Temporal.IngestRetention, 24*time.Hour)
	c.Temporal.Sync = or(c.Temporal.Sync, "full")
	c.Database.URL = or(c.Database.URL, fileURL("sqlite", filepath.Join(data, "cairn.db")))
	c.Vector.URL = or(c.Vector.URL, fileURL("sqlite", filepath.Join(data, "index.db")))
	c.Blob.URL = or(c.Blob.URL, fileURL("file", filepath.Join(data, "blobs")))
	c.Log.Level = or(c.Log.Level, "info")
	c.Sandbox.Helpers = or(c.Sandbox.Helpers, HelpersInNamespaces)
	if c.Operator.Names == nil {
		names := c.Temporal.Embedded()
		c.Operator.Names = &names
	}
	c = c.withSecrets(env)
	if c.Temporal, err = c.Temporal.withAPIKey(env); err != nil {
		return Config{}, err
	}
	if c.Models, err = c.Models.withDefaults(env); err != nil {
		return Config{}, err
	}
	if c.Auth.JWT, err = c.Auth.JWT.withSecret(env); err != nil {
		return Config{}, err
	}
	if c.Extract, err = c.Extract.withLicense(env); err != nil {
		return Config{}, err
	}
	if c.Vector, err = c.Vector.withToken(env); err != nil {
		return Config{}, err
	}
	if c.Blob, err = c.Blob.withCredentials(env); err != nil {
		return Config{}, err
	}
	if c.WebSearch, err = c.WebSearch.withKey(env); err != nil {
		return Config{}, err
	}
	return c, nil
}

func (m Models) withDefaults(env map[string]string) (Models, error) {
	if env[openAIVariable] != "" && m.Chat.BaseURL == "" && m.Embedding.BaseURL == "" {
		m.Chat = m.Chat.atOpenAI(openAIChatModel)
		if m.Embedding.Model == "" {
			m.Embedding.Dimensions = or(m.Embedding.Dimensions, openAIDimensions)
		}
		m.Embedding = m.Embedding.atOpenAI(openAIEmbeddingModel)
	}
	var err error
	if m.Chat, err = m.Chat.withDefaults("models.chat", env); err != nil {
		return Models{}, err
	}
	if m.Embedding, err = m.Embedding.withDefaults("models.embedding", env); err != nil {
		return Models{}, err
	}
	transcription, err := m.Transcription.Endpoint().withDefaults("models.transcription", env)
	if err != nil {
		return Models{}, err
	}
	m.Transcription.APIKey = transcription.APIKey
	image, err := m.Image.Endpoint().withDefaults("models.image", env)
	if err != nil {
		return Models{}, err
	}
	m.Image.APIKey = image.APIKey
	m.Rerank, err = m.Rerank.withDefaults(env)
	return m, err
}

func (r Rerank) withDefaults(env map[string]string) (Rerank, error) {
	first, err := r.Endpoint().withDefaults("models.rerank", env)
	if err != nil {
		return Rerank{}, err
	}
	r.APIKey = first.APIKey
	for i, f := range r.Failover {
		f.Type, f.Timeout = or(f.Type, "cohere"), or(f.Timeout, r.Timeout)
		next, err := f.Endpoint().withDefaults(fmt.Sprintf("models.rerank.failover.%d", i), env)
		if err != nil {
			return Rerank{}, err
		}
		f.APIKey = next.APIKey
		r.Failover[i] = f
	}
	return r, nil
}

func (m Model) atOpenAI(model string) Model {
	m.BaseURL = openAIURL
	m.Model = or(m.Model, model)
	m.KeyEnv = or(m.KeyEnv, openAIVariable)
	return m
}

func (m Model) withDefaults(key string, env map[string]string) (Model, error) {
	for i, f := range m.Failover {
		f.Timeout, f.IdleTimeout = or(f.Timeout, m.Timeout), or(f.IdleTimeout, m.IdleTimeout)
		next, err := f.Endpoint().withDefaults(fmt.Sprintf("%s.failover.%d", key, i), env)
		if err != nil {
			return Model{}, err
		}
		f.APIKey = next.APIKey
		m.Failover[i] = f
	}
	if m.KeyEnv == "" {
		return m, nil
	}
	if m.APIKey = env[m.KeyEnv]; m.APIKey == "" {
		return Model{}, fmt.Errorf("%s.key_env names the environment variable %s, which is not set", key, m.KeyEnv)
	}
	return m, nil
}

func (t Temporal) withAPIKey(env map[string]string) (Temporal, error) {
	if t.APIKeyEnv == "" {
		return t, nil
	}
	if t.APIKey = env[t.APIKeyEnv]; t.APIKey == "" {
		return Temporal{}, fmt.Errorf("temporal.api_key_env names the environment variable %s, which is not set", t.APIKeyEnv)
	}
	return t, nil
}

// Embedded reports whether cairn up runs the Temporal server in its process.
func (t Temporal) Embedded() bool { return t.Address == embedded }

// On reports whether the connection is encrypted.
func (t TemporalTLS) On() bool { return t != TemporalTLS{} }

func (j JWT) withSecret(env map[string]string) (JWT, error) {
	if j.SecretEnv == "" {
		return j, nil
	}
	if j.Secret != "" {
		return JWT{}, fmt.Errorf("auth.jwt has both secret and secret_env: keep one")
	}
	if j.Secret = env[j.SecretEnv]; j.Secret == "" {
		return JWT{}, fmt.Errorf("auth.jwt.secret_env names the environment variable %s, which is not set", j.SecretEnv)
	}
	return j, nil
}

func (v Vector) withToken(env map[string]string) (Vector, error) {
	if v.TokenEnv == "" {
		return v, nil
	}
	if v.Token = env[v.TokenEnv]; v.Token == "" {
		return Vector{}, fmt.Errorf("vector.token_env names the environment variable %s, which is not set", v.TokenEnv)
	}
	return v, nil
}

func (b Blob) withCredentials(env map[string]string) (Blob, error) {
	if b.CredentialsEnv == "" {
		return b, nil
	}
	if b.Credentials = env[b.CredentialsEnv]; b.Credentials == "" {
		return Blob{}, fmt.Errorf("blob.credentials_env names the environment variable %s, which is not set", b.CredentialsEnv)
	}
	return b, nil
}

func (w WebSearch) withKey(env map[string]string) (WebSearch, error) {
	if w.KeyEnv == "" {
		return w, nil
	}
	if w.Key != "" {
		return WebSearch{}, fmt.Errorf("web_search has both key and key_env: keep one")
	}
	if w.Key = env[w.KeyEnv]; w.Key == "" {
		return WebSearch{}, fmt.Errorf("web_search.key_env names the environment variable %s, which is not set", w.KeyEnv)
	}
	return w, nil
}

func (e Extract) withLicense(env map[string]string) (Extract, error) {
	if e.UniofficeLicenseEnv == "" {
		return e, nil
	}
	if e.UniofficeLicense = env[e.UniofficeLicenseEnv]; e.UniofficeLicense == "" {
		return Extract{}, fmt.Errorf("extract.unioffice_license_env names the environment variable %s, which is not set", e.UniofficeLicenseEnv)
	}
	return e, nil
}

// Endpoint returns the model in the form that all kinds of models share.
func (f Failover) Endpoint() Model {
	return Model{
		BaseURL: f.BaseURL, Type: f.Type, APIVersion: f.APIVersion, Deployment: f.Deployment, Model: f.Model,
		KeyEnv: f.KeyEnv, APIKey: f.APIKey, Timeout: f.Timeout, IdleTimeout: f.IdleTimeout,
	}
}

// Endpoint returns the model in the form that all kinds of models share. An endpoint that transcribes
// says nothing before it has heard the whole recording.
func (t Transcription) Endpoint() Model {
	return Model{
		BaseURL: t.BaseURL, Type: t.Type, APIVersion: t.APIVersion, Deployment: t.Deployment, Model: t.Model,
		KeyEnv: t.KeyEnv, APIKey: t.APIKey, Timeout: t.Timeout, IdleTimeout: t.Timeout, Failover: t.Failover,
	}
}

// Endpoint returns the model in the form that all kinds of models share. The endpoint says nothing
// before the picture is made.
func (i Image) Endpoint() Model {
	return Model{
		BaseURL: i.BaseURL, Type: i.Type, APIVersion: i.APIVersion, Deployment: i.Deployment, Model: i.Model,
		KeyEnv: i.KeyEnv, APIKey: i.APIKey, Timeout: i.Timeout, IdleTimeout: i.Timeout, Failover: i.Failover,
	}
}

// Endpoint returns the model in the form that all kinds of models share.
func (r Rerank) Endpoint() Model {
	return Model{BaseURL: r.BaseURL, Model: r.Model, KeyEnv: r.KeyEnv, APIKey: r.APIKey, Timeout: r.Timeout, IdleTimeout: r.Timeout}
}

// Endpoint returns the model in the form that all kinds of models share.
func (f RerankFailover) Endpoint() Model {
	return Model{BaseURL: f.BaseURL, Model: f.Model, KeyEnv: f.KeyEnv, APIKey: f.APIKey, Timeout: f.Timeout, IdleTimeout: f.Timeout}
}

// Offline reports whether the offline model in the process stands for m.
func (m Model) Offline() bool { return m.BaseURL == "" }

// Provider is a short name of the endpoint for logs, metrics and messages: its host, with
// the port if the address names one, or "offline".
func (m Model) Provider() string {
	if m.Offline() {
		return "offline"
	}
	u, err := url.Parse(m.BaseURL)
	if err != nil {
		return "model"
	}
	return u.Host
}

func or[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}

func fileURL(scheme, path string) string {
	return (&url.URL{Scheme: scheme, Path: filepath.ToSlash(path)}).String()
}
