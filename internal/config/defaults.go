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
	model := Model{Endpoint: Endpoint{Timeout: 10 * time.Minute, IdleTimeout: time.Minute}}
	embedding := model
	embedding.MaxTokens = openAIEmbeddedTokens
	return Config{
		ShutdownSeconds: 10,
		Models: Models{
			Chat: model, Embedding: embedding,
			Transcription: Model{Endpoint: Endpoint{Timeout: model.Timeout}},
			Image:         Model{Endpoint: Endpoint{Timeout: 4 * time.Minute}},
			Rerank:        Model{Endpoint: Endpoint{Type: rerankCohere, Timeout: 5 * time.Second}},
		},
		Privacy: Privacy{Analyzer: Analyzer{Timeout: 30 * time.Second}},
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
	c.Privacy.Analyzer.Language = or(c.Privacy.Analyzer.Language, "en")
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
	c.Audit.Questions = or(c.Audit.Questions, questionsHash)
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
	if c.Auth.OIDC, err = c.Auth.OIDC.withDefaults(env); err != nil {
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
	if c.Audit, err = c.Audit.withCredentials(env); err != nil {
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
		if m.Embedding.Model == "" && !m.Embedding.Local() {
			m.Embedding.Dimensions = or(m.Embedding.Dimensions, openAIDimensions)
		}
		if !m.Embedding.Local() {
			m.Embedding = m.Embedding.atOpenAI(openAIEmbeddingModel)
		}
	}
	for i, f := range m.Rerank.Failover {
		m.Rerank.Failover[i].IdleTimeout = or(f.Timeout, m.Rerank.Timeout)
	}
	for _, silent := range []*Model{&m.Transcription, &m.Image, &m.Rerank} { // they say nothing before the result
		silent.IdleTimeout = silent.Timeout
	}
	m.Currency = or(m.Currency, "USD")
	for _, named := range m.all() {
		if err := named.complete(env); err != nil {
			return Models{}, err
		}
	}
	return m, nil
}

func (m Model) atOpenAI(model string) Model {
	m.BaseURL = openAIURL
	m.Model = or(m.Model, model)
	m.KeyEnv = or(m.KeyEnv, openAIVariable)
	return m
}

// complete fills in the settings that failovers share with the first endpoint, and the keys.
func (m namedModel) complete(env map[string]string) error {
	if err := m.setAPIKey(m.key, env); err != nil {
		return err
	}
	for i := range m.Failover {
		f := &m.Failover[i]
		f.Type = or(f.Type, m.types[0])
		f.Timeout, f.IdleTimeout = or(f.Timeout, m.Timeout), or(f.IdleTimeout, m.IdleTimeout)
		if err := f.setAPIKey(m.failoverKey(i), env); err != nil {
			return err
		}
	}
	return nil
}

func (e *Endpoint) setAPIKey(key string, env map[string]string) error {
	if e.KeyEnv == "" {
		return nil
	}
	if e.APIKey = env[e.KeyEnv]; e.APIKey == "" {
		return fmt.Errorf("%s.key_env names the environment variable %s, which is not set", key, e.KeyEnv)
	}
	return nil
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

func (a Audit) withCredentials(env map[string]string) (Audit, error) {
	if a.CredentialsEnv == "" {
		return a, nil
	}
	if a.Credentials = env[a.CredentialsEnv]; a.Credentials == "" {
		return Audit{}, fmt.Errorf("audit.credentials_env names the environment variable %s, which is not set", a.CredentialsEnv)
	}
	return a, nil
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
