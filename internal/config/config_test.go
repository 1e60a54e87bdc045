package config_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/internal/config"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cairn.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, options config.Options) config.Config {
	t.Helper()
	c, err := config.Load(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{Overrides: map[string]any{"data": "/srv/a b"}})
	if c.Limits.Parsers < 1 || c.Limits.Parsers > 4 {
		t.Errorf("got %d parsers", c.Limits.Parsers)
	}
	at := func(timeout, idle time.Duration) config.Model {
		return config.Model{Endpoint: config.Endpoint{Timeout: timeout, IdleTimeout: idle}}
	}
	model, rerank := at(10*time.Minute, time.Minute), at(5*time.Second, 5*time.Second)
	rerank.Type = "cohere"
	embedding := model
	embedding.MaxTokens = 8191
	names := true
	want := config.Config{
		Data:            "/srv/a b",
		Listen:          "127.0.0.1:8080",
		ShutdownSeconds: 10,
		Temporal:        config.Temporal{Address: "embedded", Namespace: "cairn", Listen: "127.0.0.1:7233", UIListen: "127.0.0.1:8233", Sync: "full", IngestRetention: 24 * time.Hour},
		Database:        config.Database{URL: "sqlite:///srv/a%20b/cairn.db"},
		Vector:          config.Vector{URL: "sqlite:///srv/a%20b/index.db"},
		Blob:            config.Blob{URL: "file:///srv/a%20b/blobs"},
		Models:          config.Models{Chat: model, Embedding: embedding, Transcription: at(model.Timeout, model.Timeout), Image: at(4*time.Minute, 4*time.Minute), Rerank: rerank, Currency: "USD"},
		Limits: config.Limits{
			FileBytes: 100e6, TextBytes: 20e6, RequestBytes: 2e9, ParseSeconds: 60, ParseMemory: 1e9, Streams: 2000,
		},
		Auth:     config.Auth{OIDC: config.OIDC{Scopes: []string{"openid", "profile", "email"}, Workspace: "default", Claims: config.OIDCClaims{User: "sub"}}},
		Sandbox:  config.Sandbox{Helpers: "namespaces"},
		Log:      config.Log{Level: "info"},
		Operator: config.Operator{Names: &names},
		Audit:    config.Audit{Questions: "hash"},
		Privacy:  config.Privacy{Analyzer: config.Analyzer{Language: "en", Timeout: 30 * time.Second}},
	}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreFields(config.Limits{}, "Parsers"), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if !c.Models.Chat.Offline() || c.Models.Chat.Provider() != "offline" {
		t.Errorf("the chat model is %s", c.Models.Chat.Provider())
	}
	if c := load(t, config.Options{}); !filepath.IsAbs(c.Data) || filepath.Base(c.Data) != "cairn-data" {
		t.Errorf("got data folder %s", c.Data)
	}
}

const sample = `
listen: 127.0.0.1:1
temporal.listen: 127.0.0.1:2
temporal:
  ui_listen: 127.0.0.1:3
  sync: normal
models:
  chat: {base_url: "https://llm.example.com/v1", model: m, key_env: LLM_KEY, timeout: 90s}
  embedding:
  offline: {tokens_per_second: 40}
auth: {jwt: {issuer: me, secret_env: JWT_SECRET}}
egress:
  allow: [10.0.0.0/8, "fd00::/8"]
limits: {file_bytes: 200MB, text_bytes: 1000, parse_memory: 2GiB}
`

func TestSources(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s", 32)
	environ := []string{
		"PATH=/bin", "LLM_KEY=sk-1", "JWT_SECRET=" + secret, "CAIRN_URL=http://x", "CAIRN_KEY=k", "CAIRN_TEST_X=1",
		"CAIRN_LISTEN=127.0.0.1:11", "CAIRN_TEMPORAL__UI_LISTEN=127.0.0.1:13", "CAIRN_LIMITS__TEXT_BYTES=5 kB",
		"CAIRN_MODELS__CHAT__IDLE_TIMEOUT=2m", "CAIRN_SHUTDOWN_SECONDS=7",
	}
	path := file(t, sample)
	c := load(t, config.Options{File: path, Environ: environ, Overrides: map[string]any{"listen": "127.0.0.1:111"}})

	t.Run("the_later_wins_over_the_earlier", func(t *testing.T) {
		t.Parallel()
		got := []any{c.Listen, c.Temporal.Listen, c.Temporal.UIListen, c.Temporal.Sync, c.ShutdownSeconds}
		if diff := cmp.Diff([]any{"127.0.0.1:111", "127.0.0.1:2", "127.0.0.1:13", "normal", 7}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("sizes_and_times_have_units", func(t *testing.T) {
		t.Parallel()
		got := []config.Bytes{c.Limits.FileBytes, c.Limits.TextBytes, c.Limits.ParseMemory}
		if diff := cmp.Diff([]config.Bytes{200e6, 5000, 2 << 30}, got); diff != "" {
			t.Error(diff)
		}
		if c.Models.Chat.Timeout != 90*time.Second || c.Models.Chat.IdleTimeout != 2*time.Minute {
			t.Errorf("got %s, %s", c.Models.Chat.Timeout, c.Models.Chat.IdleTimeout)
		}
	})
	t.Run("lists_come_from_both", func(t *testing.T) {
		t.Parallel()
		want := []string{"10.0.0.0/8", "fd00::/8"}
		if diff := cmp.Diff(want, prefixes(c.Egress.Allow)); diff != "" {
			t.Error(diff)
		}
		c := load(t, config.Options{Environ: []string{"CAIRN_EGRESS__ALLOW=10.0.0.0/8, fd00::/8"}})
		if diff := cmp.Diff(want, prefixes(c.Egress.Allow)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("secrets_are_looked_up_by_name", func(t *testing.T) {
		t.Parallel()
		if c.Models.Chat.APIKey != "sk-1" || c.Auth.JWT.Secret != secret {
			t.Errorf("got key %q, secret %q", c.Models.Chat.APIKey, c.Auth.JWT.Secret)
		}
		if c.Models.Chat.Provider() != "llm.example.com" || !c.Models.Embedding.Offline() {
			t.Errorf("got %+v", c.Models)
		}
	})
	t.Run("the_file_can_be_named_by_a_variable", func(t *testing.T) {
		t.Parallel()
		c := load(t, config.Options{Environ: append(environ, "CAIRN_CONFIG="+path)})
		if c.Temporal.Listen != "127.0.0.1:2" {
			t.Errorf("got %s", c.Temporal.Listen)
		}
	})
}

func TestServices(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{File: file(t, "temporal: {address: 'temporal.example:7233', tls: {enabled: true}}\nvector: {url: 'milvus://milvus.example'}\nblob: {url: 's3://shelf/cairn?endpoint=https://minio.example'}")})
	want := []config.Service{{Host: "temporal.example", Port: 7233}, {Host: "milvus.example", Port: 19530}, {Host: "minio.example", Port: 443}}
	if diff := cmp.Diff(want, c.Services()); diff != "" {
		t.Error(diff)
	}
	if !c.Temporal.TLS.On() || c.Temporal.Embedded() {
		t.Errorf("got %+v", c.Temporal)
	}
	if got := load(t, config.Options{}).Services(); len(got) != 0 {
		t.Errorf("without services: %v", got)
	}
}

func prefixes(list []netip.Prefix) []string {
	var got []string
	for _, p := range list {
		got = append(got, p.String())
	}
	return got
}

func TestOpenAI(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{Environ: []string{"OPENAI_API_KEY=sk-2"}})
	for _, m := range []config.Model{c.Models.Chat, c.Models.Embedding} {
		if m.BaseURL != "https://api.openai.com/v1" || m.APIKey != "sk-2" || m.Model == "" {
			t.Errorf("got %+v", m)
		}
	}
	if c.Models.Embedding.Dimensions != 1536 {
		t.Errorf("got %d dimensions", c.Models.Embedding.Dimensions)
	}
	c = load(t, config.Options{Environ: []string{"OPENAI_API_KEY=sk-2", "CAIRN_MODELS__EMBEDDING__MODEL=text-embedding-3-large"}})
	if m := c.Models.Embedding; m.Model != "text-embedding-3-large" || m.Dimensions != 0 || m.Offline() {
		t.Errorf("got %+v", m)
	}
	c = load(t, config.Options{Environ: []string{
		"OPENAI_API_KEY=sk-2", "CAIRN_MODELS__CHAT__BASE_URL=http://127.0.0.1:9/v1", "CAIRN_MODELS__CHAT__MODEL=m",
	}})
	if c.Models.Chat.APIKey != "" || !c.Models.Embedding.Offline() {
		t.Errorf("a local endpoint was mixed with OpenAI: %+v", c.Models)
	}
}

func TestTranscription(t *testing.T) {
	t.Parallel()
	if m := load(t, config.Options{Environ: []string{"OPENAI_API_KEY=sk-2"}}).Models.Transcription.Endpoint; !m.Offline() || m.APIKey != "" {
		t.Errorf("without a setting it is at %s", m.Provider())
	}
	c := load(t, config.Options{Environ: []string{"K=sk-3"}, File: file(t, "models: {transcription: {base_url: 'https://x/v1', model: whisper-1, key_env: K}}")})
	want := config.Endpoint{
		BaseURL: "https://x/v1", Model: "whisper-1", KeyEnv: "K", APIKey: "sk-3", Timeout: 10 * time.Minute, IdleTimeout: 10 * time.Minute,
	}
	if diff := cmp.Diff(want, c.Models.Transcription.Endpoint); diff != "" {
		t.Error(diff)
	}
}

func TestRerank(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{Environ: []string{"K=sk-4"}, File: file(t, "models: {rerank: {base_url: 'https://x', type: tei, model: bge, key_env: K, timeout: 2s}}")})
	want := config.Endpoint{BaseURL: "https://x", Type: "tei", Model: "bge", KeyEnv: "K", APIKey: "sk-4", Timeout: 2 * time.Second, IdleTimeout: 2 * time.Second}
	if diff := cmp.Diff(want, c.Models.Rerank.Endpoint); diff != "" {
		t.Error(diff)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		yaml string
		env  []string
		want []string
	}{
		"unknown_key":                      {"listn: x", nil, []string{"cairn.yaml", `"listn"`, `"listen"`, "CAIRN_LISTEN"}},
		"unknown_nested_key":               {"temporal: {ui_listn: x}", nil, []string{`"temporal.ui_listn"`, `"temporal.ui_listen"`}},
		"a_licence_that_is_not_set":        {"extract: {unioffice_license_env: UNIDOC_KEY}", nil, []string{"extract.unioffice_license_env", "UNIDOC_KEY", "not set"}},
		"a_key_without_its_section":        {"file_bytes: 1", nil, []string{`"limits.file_bytes"`}},
		"a_section_as_a_value":             {"database: sqlite:///x", nil, []string{"section", "database.url"}},
		"a_search_engine_without_provider": {"web_search: {url: 'https://x'}", nil, []string{"web_search.provider", "searxng"}},
		"searxng_without_an_address":       {"web_search: {provider: searxng}", nil, []string{"web_search.url"}},
		"brave_without_a_key":              {"web_search: {provider: brave}", nil, []string{"web_search.key", "key_env"}},
		"google_without_an_engine":         {"web_search: {provider: google, key: k}", nil, []string{"web_search.engine"}},
		"two_keys_of_a_search_engine":      {"web_search: {provider: brave, key: k, key_env: K}", []string{"K=k"}, []string{"web_search", "both"}},
		"another_rerank_protocol":          {"models: {rerank: {base_url: 'https://x', model: m, type: best}}", nil, []string{"models.rerank.type", "cohere, tei"}},
		"a_reranker_without_a_name":        {"models: {rerank: {base_url: 'https://x'}}", nil, []string{"models.rerank.model"}},
		"not_YAML":                         {"a: [", nil, []string{"cairn.yaml"}},
		"a_list_for_one_value":             {"listen: [a, b]", nil, []string{"listen takes one value"}},
		"one_value_for_a_list":             {"egress: {allow: 3}", nil, []string{"egress.allow takes a list"}},
		"not_a_network":                    {"egress: {allow: [localhost]}", nil, []string{"allow", "localhost"}},
		"not_a_size":                       {"limits: {file_bytes: big}", nil, []string{"file_bytes", "big"}},
		"not_a_number":                     {"shutdown_seconds: soon", nil, []string{"shutdown_seconds"}},
		"out_of_range":                     {"limits: {parse_seconds: -1}", nil, []string{"limits.parse_seconds", "from 1 to 3600"}},
		"no_time_to_stop":                  {"shutdown_seconds: 0", nil, []string{"shutdown_seconds", "from 1 to 3600"}},
		"no_streams":                       {"limits: {streams: 0}", nil, []string{"limits.streams", "from 1"}},
		"no_bytes":                         {"", []string{"CAIRN_LIMITS__FILE_BYTES=0"}, []string{"limits.file_bytes", "from 1"}},
		"no_time_for_a_call":               {"models: {embedding: {timeout: 0s}}", nil, []string{"models.embedding.timeout", "from 1s"}},
		"too_few_tokens_for_a_text":        {"models: {embedding: {max_tokens: 100}}", nil, []string{"models.embedding.max_tokens", "from 128"}},
		"a_time_without_its_unit":          {"models: {chat: {base_url: 'http://x/v1', model: m, timeout: 60}}", nil, []string{"models.chat.timeout", "unit"}},
		"address_without_port":             {"listen: localhost", nil, []string{"listen", "127.0.0.1:8080"}},
		"public_url_without_scheme":        {"public_url: cairn.example.com", nil, []string{"public_url", "https://"}},
		"another_database":                 {"database: {url: 'mysql://user:hunter2@host/db'}", nil, []string{"database.url", "supported is sqlite:///", "postgres://"}},
		"a_password_with_a_percent_sign":   {"database: {url: 'postgres://user:hunter2%@host/db'}", nil, []string{"database.url", "%XX"}},
		"a_server_without_a_database":      {"database: {url: 'postgres://user:hunter2@host'}", nil, []string{"database.url", "postgres://user:password@host:5432/database"}},
		"another_index":                    {"vector: {url: 'qdrant://host:6334'}", nil, []string{"vector.url", "sqlite:///", "milvus://"}},
		"a_password_in_the_index":          {"vector: {url: 'milvus://root:hunter2@host:19530'}", nil, []string{"vector.token_env"}},
		"an_index_without_a_host":          {"vector: {url: 'milvus:///default'}", nil, []string{"vector.url", "milvus://host:19530"}},
		"an_index_token_that_is_not_set":   {"vector: {url: 'milvus://host', token_env: NOPE}", nil, []string{"vector.token_env", "NOPE"}},
		"another_blob_store":               {"blob: {url: 'ftp://bucket'}", nil, []string{"blob.url", "file:///", "s3://"}},
		"a_bucket_without_a_name":          {"blob: {url: 's3:///prefix'}", nil, []string{"blob.url", "s3://bucket/prefix"}},
		"credentials_in_a_buckets_address": {"blob: {url: 's3://key:word@bucket'}", nil, []string{"blob.credentials_env"}},
		"credentials_of_no_bucket":         {"blob: {credentials_env: X}", []string{"X=1"}, []string{"blob.credentials_env"}},
		"addresses_of_no_bucket":           {"blob: {presign: true}", nil, []string{"blob.presign"}},
		"one_file_for_two":                 {"database: {url: 'sqlite:///x'}\nvector: {url: 'sqlite:///x'}", nil, []string{"two"}},
		"a_model_without_an_endpoint":      {"models: {chat: {model: gpt-5}}", nil, []string{"models.chat.base_url"}},
		"an_endpoint_without_a_model":      {"models: {embedding: {base_url: 'https://x/v1'}}", nil, []string{"models.embedding.model"}},
		"a_key_variable_that_is_not_set":   {"models: {chat: {base_url: 'https://x/v1', model: m, key_env: NOPE}}", nil, []string{"models.chat.key_env", "NOPE"}},
		"a_transcription_without_a_model":  {"models: {transcription: {base_url: 'https://x/v1'}}", nil, []string{"models.transcription.model"}},
		"a_transcription_without_its_url":  {"models: {transcription: {model: whisper-1}}", nil, []string{"models.transcription.base_url"}},
		"a_short_admin_key":                {"", []string{"CAIRN_ADMIN_KEY=hunter2"}, []string{"admin_key", "20"}},
		"a_short_token_secret":             {"auth: {jwt: {secret: hunter2}}", nil, []string{"auth.jwt.secret", "32"}},
		"an_issuer_without_a_secret":       {"auth: {jwt: {issuer: x}}", nil, []string{"secret_env"}},
		"two_token_secrets":                {"auth: {jwt: {secret: x, secret_env: Y}}", []string{"Y=z"}, []string{"keep one"}},
		"a_token_secret_that_is_not_set":   {"auth: {jwt: {secret_env: NOPE}}", nil, []string{"NOPE"}},
		"a_temporal_server_without_port":   {"temporal: {address: host}", nil, []string{"temporal.address", "host:7233"}},
		"a_namespace_without_a_server":     {"temporal: {namespace: x}", nil, []string{"temporal.namespace", "temporal.address"}},
		"a_temporal_key_that_is_not_set":   {"temporal: {address: 'a:1', api_key_env: NOPE}", nil, []string{"temporal.api_key_env", "NOPE"}},
		"half_a_certificate":               {"temporal: {address: 'a:1', tls: {cert_file: /x}}", nil, []string{"cert_file", "key_file"}},
		"a_short_key_for_secrets":          {"secret_key: aHVudGVyMg==", nil, []string{"secret_key", "32 bytes"}},
		"a_retention_without_its_unit":     {"temporal: {ingest_retention: 24}", nil, []string{"temporal.ingest_retention", "1s"}},
		"an_unknown_choice":                {"temporal: {sync: never}", nil, []string{"temporal.sync", "full, normal"}},
		"every_mistake_is_named_at_once":   {"listen: x\nlog: {level: loud}", nil, []string{"listen", "log.level"}},
		"a_secret_is_not_in_the_message":   {"auth: {jwt: {secret: hunter2}}", []string{"CAIRN_ADMIN_KEY=hunter2"}, []string{"admin_key", "auth.jwt.secret"}},
		"a_misplaced_url_keeps_its_words":  {"models: {chat: {base_url: 'https://u:hunter2@x/v1', model: m}}", nil, []string{"models.chat.base_url", "without user"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Options{File: file(t, test.yaml), Environ: test.env})
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %q tells a secret", err)
			}
		})
	}
	if _, err := config.Load(config.Options{File: "/nowhere/cairn.yaml"}); err == nil {
		t.Error("a file that is not there was taken")
	}
	if _, err := config.Load(config.Options{Overrides: map[string]any{"lissten": "x"}}); err == nil {
		t.Error("an unknown override was taken")
	}
}

func TestUnknownVariablesAreWarnings(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string][]string{
		"CAIRN_TEMPORAL__LISTN=hunter2": {"CAIRN_TEMPORAL__LISTN", `"temporal.listen"`, "CAIRN_TEMPORAL__LISTEN"},
		"CAIRN_VECTOR_URL=hunter2":      {"CAIRN_VECTOR_URL", `"vector.url"`, "CAIRN_VECTOR__URL"}, // one underscore for two
		"CAIRN_DATABASE=hunter2":        {"CAIRN_DATABASE", "section", "database.url"},
		"CAIRN_PORT=8080":               {"CAIRN_PORT"}, // a mistake: an orchestrator sets an address
		"CAIRN_LISTEN__X=hunter2":       {"CAIRN_LISTEN__X"},
		"CAIRN_=hunter2":                {"CAIRN_ "},
		"CAIRN___=":                     {"CAIRN___ "},
		"CAIRN_\xff=\xff":               {"CAIRN_"},
	} {
		c := load(t, config.Options{Environ: []string{variable, "CAIRN_LISTEN=127.0.0.1:9"}})
		if len(c.Warnings) != 1 || c.Listen != "127.0.0.1:9" {
			t.Errorf("%s: warnings %q, listen %s", variable, c.Warnings, c.Listen)
			continue
		}
		for _, word := range want {
			if !strings.Contains(c.Warnings[0], word) {
				t.Errorf("%s: the warning %q does not have %q", variable, c.Warnings[0], word)
			}
		}
		if strings.Contains(c.Warnings[0], "hunter2") {
			t.Errorf("%s: the warning %q has the value", variable, c.Warnings[0])
		}
	}
}

func TestVariablesOfAnOrchestratorAreIgnored(t *testing.T) {
	t.Parallel()
	var environ []string
	for _, service := range []string{"CAIRN", "CAIRN_API", "CAIRN_2_WEB"} {
		for _, variable := range []string{
			"SERVICE_HOST=10.96.0.12", "SERVICE_PORT=8080", "SERVICE_PORT_HTTP=8080", "SERVICE_PORT_GRPC_WEB=8081", "PORT=tcp://10.96.0.12:8080",
			"PORT_8080_TCP=tcp://10.96.0.12:8080", "PORT_8080_TCP_PROTO=tcp", "PORT_8080_TCP_PORT=8080", "PORT_8080_TCP_ADDR=10.96.0.12", "PORT_53_UDP=udp://10.96.0.12:53",
		} {
			environ = append(environ, service+"_"+variable)
		}
	}
	want, got := load(t, config.Options{}), load(t, config.Options{Environ: environ})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestMasked(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{
		File: file(t, sample),
		Environ: []string{
			"LLM_KEY=very-secret-1", "JWT_SECRET=very-secret-2-very-secret-2-very-secret", "CAIRN_ADMIN_KEY=very-secret-3-very-secret",
		},
	})
	text := c.Masked()
	if strings.Contains(text, "very-secret") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	for _, want := range []string{"admin_key: '********'", "key_env: LLM_KEY", "file_bytes: 200MB", "timeout: 1m30s", "- 10.0.0.0/8", "public_url: \"\""} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestMaskedIsAFileThatLoads(t *testing.T) {
	t.Parallel()
	environ := []string{"LLM_KEY=sk-1", "JWT_SECRET=" + strings.Repeat("s", 32)}
	want := load(t, config.Options{File: file(t, sample), Environ: environ, Overrides: map[string]any{"data": "/srv/x"}})
	got := load(t, config.Options{File: file(t, want.Masked()), Environ: environ})
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestBytesAreWrittenWithTheLargestUnit(t *testing.T) {
	t.Parallel()
	for b, want := range map[config.Bytes]string{
		0: "0", 17: "17", 2e9: "2GB", 15e9: "15GB", 128e6: "128MB", 1 << 30: "1GiB", 20 << 20: "20MiB", 512 << 10: "512KiB", 3000: "3KB",
	} {
		if got := b.String(); got != want {
			t.Errorf("%d was written as %s, want %s", int64(b), got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Bytes{
		"0": 0, "17": 17, "20MB": 20e6, "20 mb": 20e6, "1GiB": 1 << 30, "512KiB": 512 << 10, "3B": 3, "1GB": 1e9,
	} {
		var b config.Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: got %d, %v, want %d", text, b, err, want)
		}
		var again config.Bytes
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != b {
			t.Errorf("%s was written as %s", text, b)
		}
	}
	for _, text := range []string{"", "MB", "-1", "1.5GB", "1TB", "99999999999GB", "0x10"} {
		var b config.Bytes
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, b)
		}
	}
}
