package config

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Config is the whole configuration. Load returns one that is complete and valid.
type Config struct {
	// The folder where everything is kept, unless a key below says otherwise. It
	// is created. Defaults to cairn-data in the working folder.
	Data string `koanf:"data"`
	// The address of the API. Port 0 takes a free one. Defaults to
	// 127.0.0.1:8080.
	Listen string `koanf:"listen"`
	// The address at which clients reach the API, put before the links in answers
	// (eventsUrl, the url of a source). Defaults to none: these links are paths,
	// which hold at whatever address the answer came from.
	PublicURL string `koanf:"public_url"`
	// Admin key of the instance, at least 20 characters. Defaults to a random
	// one, which the first start writes to admin.key in the data folder.
	AdminKey string `koanf:"admin_key" secret:"true"`
	// The key that seals the secrets of users in the database, 32 bytes in base64. Each
	// process of a cluster needs the same. Defaults to secret.key in the data folder,
	// which the first start, or cairn migrate, writes.
	SecretKey string `koanf:"secret_key" secret:"true"`
	// The address at which cairn worker answers /healthz, /readyz and /metrics, which
	// the other servers answer at their API. Port 0 takes a free one. Defaults to none.
	HealthListen string `koanf:"health_listen"`
	// How many seconds a stop waits for what is under way. Defaults to 10.
	ShutdownSeconds int `koanf:"shutdown_seconds"`
	// The secrets that projects name, by their names. Defaults to none.
	Secrets map[string]Secret `koanf:"secrets"`

	Temporal  Temporal  `koanf:"temporal"`
	Database  Database  `koanf:"database"`
	Vector    Vector    `koanf:"vector"`
	Blob      Blob      `koanf:"blob"`
	Models    Models    `koanf:"models"`
	WebSearch WebSearch `koanf:"web_search"`
	Scrape    Scrape    `koanf:"scrape"`
	Extract   Extract   `koanf:"extract"`
	Sandbox   Sandbox   `koanf:"sandbox"`
	Auth      Auth      `koanf:"auth"`
	Egress    Egress    `koanf:"egress"`
	Limits    Limits    `koanf:"limits"`
	Log       Log       `koanf:"log"`
	Operator  Operator  `koanf:"operator"`
	Import    Import    `koanf:"import"`

	// Warnings are sentences for the operator about what Load ignored, and about what
	// cannot be used.
	Warnings []string `koanf:"-"`

	// SecretVariables are the values of the variables that Secrets name.
	SecretVariables map[string]string `koanf:"-"`
}

// Temporal is the server that runs the workflows.
type Temporal struct {
	// The host and port of a Temporal server, which cairn api, cairn worker and
	// cairn migrate need, or embedded: cairn up then runs one in its process. Defaults
	// to embedded.
	Address string `koanf:"address"`
	// The namespace for the workflows at temporal.address. cairn migrate creates it.
	// One instance of Cairn uses a namespace. Defaults to cairn.
	Namespace string `koanf:"namespace"`
	// The name of the environment variable that holds an API key for
	// temporal.address, such as a key of Temporal Cloud. A key implies TLS. Defaults to
	// none.
	APIKeyEnv string `koanf:"api_key_env"`
	// The address of the Temporal UI, for the links of operators (operatorUrl) when
	// the server is at temporal.address. Defaults to none: the links are empty.
	UIURL string `koanf:"ui_url"`
	// The loopback address of the Temporal server. Port 0 takes a free one.
	// Defaults to 127.0.0.1:7233.
	Listen string `koanf:"listen"`
	// The loopback address of Temporal's web UI. Port 0 takes a free one.
	// Defaults to 127.0.0.1:8233.
	UIListen string `koanf:"ui_listen"`
	// How durable an acknowledged step of a workflow is: with "full" it survives a
	// loss of power, with "normal", about a quarter faster, a kill of the process. Defaults to full.
	Sync string `koanf:"sync"`
	// How long the embedded Temporal server keeps the history of an ingest or a removal
	// of a document that completed. Other histories stay for 30 days, and the history of
	// an ingest goes with its document. At temporal.address the retention of the namespace
	// counts alone. Defaults to 24h.
	IngestRetention time.Duration `koanf:"ingest_retention"`
	// How the connection to temporal.address is encrypted.
	TLS TemporalTLS `koanf:"tls"`

	// APIKey is the value of the variable that APIKeyEnv names.
	APIKey string `koanf:"-"`
}

// TemporalTLS is how a connection to a Temporal server is encrypted.
type TemporalTLS struct {
	// Whether the connection is encrypted. Each key below implies it. Defaults to
	// false.
	Enabled bool `koanf:"enabled"`
	// The file with the certificates of the authorities that sign the server's.
	// Defaults to the authorities of the system.
	CAFile string `koanf:"ca_file"`
	// The file with the certificate of this client. Defaults to none.
	CertFile string `koanf:"cert_file"`
	// The file with the key of this client. Defaults to none.
	KeyFile string `koanf:"key_file"`
	// The name in the server's certificate. Defaults to the host of the address.
	ServerName string `koanf:"server_name"`
}

// Database is where metadata is kept.
type Database struct {
	// The address of the database of the metadata: sqlite:///absolute/path, or
	// postgres://user:password@host:5432/database (postgres.md). Defaults to cairn.db
	// in the data folder.
	URL string `koanf:"url"`
}

// Postgres reports whether metadata is kept by a PostgreSQL server.
func (d Database) Postgres() bool {
	return strings.HasPrefix(d.URL, "postgres://") || strings.HasPrefix(d.URL, "postgresql://")
}

// Vector is where vectors and full text are kept.
type Vector struct {
	// The address of the index of vectors and full text: sqlite:///absolute/path, of another file
	// than database.url, or milvus://host:19530/database (milvus.md). Defaults to
	// index.db in the data folder.
	URL string `koanf:"url"`
	// The name of the environment variable that holds Milvus's API key, or its
	// user:password. Defaults to none.
	TokenEnv string `koanf:"token_env"`

	// Token is the value of the variable that TokenEnv names.
	Token string `koanf:"-"`
}

// Milvus reports whether vectors and full text are kept in Milvus.
func (v Vector) Milvus() bool { return strings.HasPrefix(v.URL, "milvus://") }

// Blob is where bytes are kept.
type Blob struct {
	// The address of the store of originals, intermediate results and answers: a folder
	// as file:///absolute/folder, or a bucket as s3://bucket/prefix?region=eu-central-1,
	// gs://bucket/prefix or azblob://account/container/prefix (buckets.md). With ?sync=off
	// behind a folder, a write survives a kill but no loss of power. In the folder, blobs
	// of up to 64 KiB are in the file small.db. Defaults to blobs in the data folder.
	URL string `koanf:"url"`
	// The name of the environment variable that holds the credentials for the bucket
	// (buckets.md). Defaults to none: the service's usual chain finds them.
	CredentialsEnv string `koanf:"credentials_env"`
	// Whether a request for an original is answered with an address at which the client
	// downloads it from the bucket itself, for five minutes (buckets.md). Defaults to
	// false: the clients need not reach the bucket.
	Presign bool `koanf:"presign"`

	// Credentials is the value of the variable that CredentialsEnv names.
	Credentials string `koanf:"-"`
}

// Bucket reports whether blobs are kept by a service.
func (b Blob) Bucket() bool { return slices.Contains(bucketSchemes, scheme(b.URL)) }

// bucketSchemes begin the addresses of buckets.
var bucketSchemes = []string{"s3", "gs", "azblob"}

func scheme(address string) string {
	scheme, _, _ := strings.Cut(address, "://")
	return scheme
}

// Models are the models that answer and embed.
type Models struct {
	// The model that answers.
	Chat Model `koanf:"chat"`
	// The model that makes embeddings.
	Embedding Model `koanf:"embedding"`
	// The model that transcribes audio and video.
	Transcription Transcription `koanf:"transcription"`
	// The model that makes pictures.
	Image Image `koanf:"image"`
	// The model that reranks the passages of a search.
	Rerank Rerank `koanf:"rerank"`
	// The offline model, which serves whatever no endpoint is named for.
	Offline Offline `koanf:"offline"`
}

// Model is one model behind an endpoint that speaks the OpenAI protocol.
type Model struct {
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
	// The name of the environment variable that holds the endpoint's key.
	// Defaults to OPENAI_API_KEY at OpenAI, and to none elsewhere.
	KeyEnv string `koanf:"key_env"`
	// The length of the vectors, for embeddings only; 0 takes what the model
	// gives. Defaults to 0, and to 1536 for OpenAI's default model.
	Dimensions int `koanf:"dimensions"`
	// How many tokens one text may have, for embeddings only, counted as OpenAI's
	// models do (cl100k_base). A chunk with what stands around it is cut to that. For
	// a model with another vocabulary, set three quarters of its limit. 0 sets no
	// bound. Defaults to 8191.
	MaxTokens int `koanf:"max_tokens"`
	// How long one call may take as a whole. Defaults to 10m, the largest value.
	// Embedding a batch of passages ends after 5m, a question after 1m, in any case.
	Timeout time.Duration `koanf:"timeout"`
	// How long the endpoint may say nothing during a call. Defaults to 1m.
	IdleTimeout time.Duration `koanf:"idle_timeout"`
	// Endpoints that are asked where this one fails, in their order.
	Failover []Failover `koanf:"failover"`

	// APIKey is the value of the variable that KeyEnv names.
	APIKey string `koanf:"-"`
}

// Failover is an endpoint that is asked where another one fails.
type Failover struct {
	// The endpoint's address, in the form of the first endpoint's, which is needed.
	// Defaults to none.
	BaseURL string `koanf:"base_url"`
	// The kind of the endpoint: openai or azure. Defaults to openai.
	Type string `koanf:"type"`
	// The version of Azure's API, in the form of the first endpoint's. Defaults to none.
	APIVersion string `koanf:"api_version"`
	// The name of the model's deployment in Azure. Defaults to the model's name.
	Deployment string `koanf:"deployment"`
	// The model's name at the endpoint, which is needed. A project that names it in
	// ai.model or ai.failover is answered by this endpoint. One for embeddings has the
	// name of the first endpoint's. Defaults to none.
	Model string `koanf:"model"`
	// The name of the environment variable that holds the endpoint's key.
	// Defaults to none.
	KeyEnv string `koanf:"key_env"`
	// How long one call may take as a whole. Defaults to the timeout of the first endpoint.
	Timeout time.Duration `koanf:"timeout"`
	// How long the endpoint may say nothing during a call. Defaults to the value of the
	// first endpoint.
	IdleTimeout time.Duration `koanf:"idle_timeout"`

	// APIKey is the value of the variable that KeyEnv names.
	APIKey string `koanf:"-"`
}

// Transcription is a model that transcribes recordings.
type Transcription struct {
	// The address of the endpoint, up to and with /v1; for azure the address of the resource. It
	// answers at /audio/transcriptions with segments (verbose_json). Defaults to none: audio
	// and video are then read only from a transcript that comes with them.
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
	// The model's name at the endpoint, such as whisper-1. Needed with a
	// base_url. Defaults to none.
	Model string `koanf:"model"`
	// The name of the environment variable that holds the endpoint's key. Defaults to
	// none.
	KeyEnv string `koanf:"key_env"`
	// How long one call may take. It transcribes up to 25 MB, or 20 minutes of a longer
	// recording that ffmpeg cuts. Defaults to 10m, the largest value.
	Timeout time.Duration `koanf:"timeout"`
	// Endpoints that are asked where this one fails at once, in their order. After a
	// time-out none is.
	Failover []Failover `koanf:"failover"`

	// APIKey is the value of the variable that KeyEnv names.
	APIKey string `koanf:"-"`
}

// Image is a model that makes pictures.
type Image struct {
	// The address of the endpoint, up to and with /v1; for azure the address of the resource. It
	// answers at /images/generations with pictures in base64. Defaults to none: the tool
	// image_generation is refused.
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
	// The model's name at the endpoint, such as gpt-image-1. Needed with a base_url.
	// Defaults to none.
	Model string `koanf:"model"`
	// The name of the environment variable that holds the endpoint's key. Defaults to
	// none.
	KeyEnv string `koanf:"key_env"`
	// How long one picture may take. Defaults to 4m; the tool waits 5 minutes.
	Timeout time.Duration `koanf:"timeout"`
	// Endpoints that are asked where this one has made no picture, in their order. After a
	// time-out none is, because the picture may have been made, and costs.
	Failover []Failover `koanf:"failover"`

	// APIKey is the value of the variable that KeyEnv names.
	APIKey string `koanf:"-"`
}

// Rerank is a model that scores how relevant passages are to a question. A project
// selects it by its name in ai.retrieval.reranker.
type Rerank struct {
	// The address of the endpoint, up to and without /rerank, such as
	// https://api.jina.ai/v1. Defaults to none.
	BaseURL string `koanf:"base_url"`
	// The protocol of the endpoint: cohere, which Cohere, Jina, Voyage and vLLM speak, or
	// tei, the protocol of text-embeddings-inference. Defaults to cohere.
	Type string `koanf:"type"`
	// The model's name at the endpoint. Needed with a base_url. tei serves one model, and
	// then this is only the name that projects select. Defaults to none.
	Model string `koanf:"model"`
	// The name of the environment variable that holds the endpoint's key. Defaults to
	// none.
	KeyEnv string `koanf:"key_env"`
	// How long a search waits for the scores of this endpoint. Without scores it keeps the
	// order that it had. Defaults to 5s.
	Timeout time.Duration `koanf:"timeout"`
	// Endpoints that are asked where this one fails, in their order.
	Failover []RerankFailover `koanf:"failover"`

	// APIKey is the value of the variable that KeyEnv names.
	APIKey string `koanf:"-"`
}

// RerankFailover is an endpoint that is asked for scores where another one fails.
type RerankFailover struct {
	// The address of the endpoint, in the form of the first endpoint's, which is needed.
	// Defaults to none.
	BaseURL string `koanf:"base_url"`
	// The protocol of the endpoint: cohere or tei. Defaults to cohere.
	Type string `koanf:"type"`
	// The model's name at the endpoint, which is needed. Projects select the name of the
	// first one. Defaults to none.
	Model string `koanf:"model"`
	// The name of the environment variable that holds the endpoint's key. Defaults to
	// none.
	KeyEnv string `koanf:"key_env"`
	// How long a search waits for the scores of this endpoint. Defaults to the timeout of
	// the first endpoint.
	Timeout time.Duration `koanf:"timeout"`

	// APIKey is the value of the variable that KeyEnv names.
	APIKey string `koanf:"-"`
}

// Offline is the offline model.
type Offline struct {
	// How fast the offline model answers; 0 is at once. Defaults to 0.
	TokensPerSecond int `koanf:"tokens_per_second"`
}

// WebSearch is the search engine for the web.
type WebSearch struct {
	// The search engine: searxng, brave, serper or google (Custom Search, which ends on 1
	// January 2027). Defaults to none, and then there is no web_search.
	Provider string `koanf:"provider"`
	// The address of the search engine. SearXNG needs one, and must serve the format json.
	// Defaults to the public address of the others.
	URL string `koanf:"url"`
	// The key of the search engine. Defaults to none.
	Key string `koanf:"key" secret:"true"`
	// The name of the environment variable that holds the key, in place of
	// web_search.key. Defaults to none.
	KeyEnv string `koanf:"key_env"`
	// The id of the Programmable Search Engine, for google. Defaults to none.
	Engine string `koanf:"engine"`
}

// Scrape is how pages of the web are read.
type Scrape struct {
	// Whether the scripts of pages are run that have little text without them, of those
	// that a search of the web found and those that are ingested by their address. It
	// needs Chromium and bubblewrap (web-search.md); a worker without them reads such pages
	// without their scripts and logs it. Defaults to false.
	Chromium bool `koanf:"chromium"`
}

// Extract is how documents are read.
type Extract struct {
	// The name of the environment variable that holds a licence key of unidoc/unioffice
	// for offline use. unioffice then reads DOCX, PPTX and XLSX: their text, headings
	// and tables only. It needs a build with -tags unioffice. Defaults to none: Cairn
	// reads these documents itself.
	UniofficeLicenseEnv string `koanf:"unioffice_license_env"`

	// UniofficeLicense is the value of the variable that UniofficeLicenseEnv names.
	UniofficeLicense string `koanf:"-"`
}

// Auth is how clients prove who they are, besides by keys.
type Auth struct {
	// JSON web tokens.
	JWT JWT `koanf:"jwt"`
}

// JWT is the check of JSON web tokens, signed with a secret (HS256) or by a key of a
// key set.
type JWT struct {
	// The issuer that a token must name. Defaults to any.
	Issuer string `koanf:"issuer"`
	// The audience that a token must name. Defaults to any.
	Audience string `koanf:"audience"`
	// The secret that tokens are signed with, at least 32 bytes. Defaults to
	// none, and then no token is accepted.
	Secret string `koanf:"secret" secret:"true"`
	// The name of the environment variable that holds the secret, in place of
	// auth.jwt.secret. Defaults to none.
	SecretEnv string `koanf:"secret_env"`
	// The address of the JSON Web Key Set whose keys sign tokens, in place of a secret,
	// as an identity provider names it in jwks_uri. Defaults to none.
	JWKSURL string `koanf:"jwks_url"`
}

// Egress is what addresses that users give may reach.
type Egress struct {
	// Networks that addresses given by users may reach although they are not
	// public, such as 10.1.0.0/16. In the environment, with commas between them.
	// Defaults to none.
	Allow []netip.Prefix `koanf:"allow"`
	// Networks that no address given by a user may reach, whatever egress.allow
	// has: the networks of a cluster's processes and of the services that they use, such
	// as 10.1.2.0/24. A process refuses its own listeners and the configured services
	// (Temporal, the stores) in any case. Defaults to none.
	Deny []netip.Prefix `koanf:"deny"`
}

// Limits are how much one request, document or process may take.
type Limits struct {
	// The size of an uploaded file. A PDF above 256MiB is taken in and then refused
	// by its parser. Defaults to 100MB.
	FileBytes Bytes `koanf:"file_bytes"`
	// The size of text content, in a request or of a text file, at most 20MiB.
	// Defaults to 20MB.
	TextBytes Bytes `koanf:"text_bytes"`
	// The size of a request that brings documents, with all its files. A file in
	// base64 is a third larger than the file. Defaults to 2GB.
	RequestBytes Bytes `koanf:"request_bytes"`
	// How many seconds the parsing of one document may take. Defaults to 60.
	ParseSeconds int `koanf:"parse_seconds"`
	// How much memory the parsing of one document may take. Defaults to 1GB.
	ParseMemory Bytes `koanf:"parse_memory"`
	// How many documents are parsed at a time. Defaults to the number of
	// processors, at most 4.
	Parsers int `koanf:"parsers"`
	// How many clients may follow runs at a time. Defaults to 2000.
	Streams int `koanf:"streams"`
	// How many questions one user may ask in a minute; 0 sets no bound. A project
	// has its own, limits.queriesPerMinute. Defaults to 0.
	UserQueriesPerMinute int `koanf:"user_queries_per_minute"`
	// How many questions one API key may ask in a minute; 0 sets no bound. A key may be
	// made with its own, queries_per_minute. Defaults to 0.
	KeyQueriesPerMinute int `koanf:"key_queries_per_minute"`
}

// Log is what is logged.
type Log struct {
	// The least level that is logged: debug, info, warn or error. Defaults to
	// info.
	Level string `koanf:"level"`
}

// Operator is what the people see who run the instance.
type Operator struct {
	// Whether Temporal's pages show the external ids of documents, which can be
	// confidential. Defaults to true with the embedded Temporal server, whose pages are
	// on loopback, and to false with another.
	Names *bool `koanf:"names"`
}
