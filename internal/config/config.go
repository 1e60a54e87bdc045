package config

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
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

	Classification Classification `koanf:"classification"`

	Egress    Egress    `koanf:"egress"`
	Limits    Limits    `koanf:"limits"`
	Log       Log       `koanf:"log"`
	Operator  Operator  `koanf:"operator"`
	Import    Import    `koanf:"import"`
	Audit     Audit     `koanf:"audit"`
	Retention Retention `koanf:"retention"`
	Privacy   Privacy   `koanf:"privacy"`

	Encryption Encryption `koanf:"encryption"`
	Scan       Scan       `koanf:"scan"`

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
	// Whether each run stays with the workers of the version of Cairn that began it, so
	// that two versions work side by side at temporal.address. cairn workers use names the
	// version that begins new runs (runbook.md). Defaults to false: any worker continues
	// any run.
	PinVersions bool `koanf:"pin_versions"`
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
	// Domains whose pages rank higher in every project, with their sub-domains. Defaults to none.
	BonusDomains []string `koanf:"bonus_domains"`
	// Domains whose pages no project uses, with their sub-domains. Defaults to none.
	BlacklistedDomains []string `koanf:"blacklisted_domains"`
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
	// The sign-in of browsers with an identity provider.
	OIDC OIDC `koanf:"oidc"`
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

// Classification is how confidential documents are.
type Classification struct {
	// The levels of classification, the lowest first. Defaults to public, internal,
	// confidential and restricted.
	Levels []string `koanf:"levels"`
	// The level of documents without a classification, and the clearance of readers without
	// one. Defaults to internal.
	Default string `koanf:"default"`
}

// Of returns the levels as the other packages take them.
func (c Classification) Of() knowledge.Levels {
	return knowledge.Levels{Names: c.Levels, Default: c.Default}
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
	// How many seconds the parsing of one document may take: on Linux of processor time,
	// within four times as long. Defaults to 60.
	ParseSeconds int `koanf:"parse_seconds"`
	// How much memory the parsing of one document may take. All that are parsed at a
	// time have twice as much together: the others wait. Defaults to 1GB.
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
	// The limits of a key without its own (docs/governance.md).
	Key UseLimits `koanf:"key"`
	// The limits of a user: a member without own limits, or a user of an application.
	User UseLimits `koanf:"user"`
	// The limits of a project without its own.
	Project UseLimits `koanf:"project"`
	// The limits of a workspace without its own.
	Workspace UseLimits `koanf:"workspace"`
}

// UseLimits are what one key, user, project or workspace may use.
type UseLimits struct {
	// Requests in any sixty seconds; 0 sets no bound. Defaults to 0.
	RequestsPerMinute int `koanf:"requests_per_minute"`
	// Tokens of models by the day in UTC; 0 sets no bound. Defaults to 0.
	TokensPerDay int64 `koanf:"tokens_per_day"`
	// Documents that are kept; 0 sets no bound. Defaults to 0.
	Documents int `koanf:"documents"`
	// The size of the originals that are kept; 0 sets no bound. Defaults to 0.
	Bytes Bytes `koanf:"bytes"`
	// The price of tokens by models.prices, by the day in UTC; 0 sets no bound. Defaults to 0.
	CostPerDay float64 `koanf:"cost_per_day"`
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
