package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The least lengths of secrets that somebody chooses.
const (
	minAdminKey  = 20
	minJWTSecret = 32
	// secretKeyBytes is the length of the key for secrets.
	secretKeyBytes = 32
)

// maxIngestRetention is how long the embedded Temporal server keeps all histories.
const maxIngestRetention = 30 * 24 * time.Hour

// validate returns every mistake at once.
func (c Config) validate() error {
	errs := []error{
		checkAddress("listen", c.Listen),
		checkAddress("temporal.listen", c.Temporal.Listen),
		checkAddress("temporal.ui_listen", c.Temporal.UIListen),
		checkURL("public_url", c.PublicURL),
		checkURL("temporal.ui_url", c.Temporal.UIURL),
		c.Temporal.validate(),
		checkChoice("temporal.sync", c.Temporal.Sync, "full", "normal"),
		checkChoice("audit.questions", c.Audit.Questions, questionsHash, questionsText),
		c.Audit.validate(),
		c.Encryption.validate(),
		c.Scan.validate(),
		checkChoice("log.level", c.Log.Level, "debug", "info", "warn", "error"),
		checkChoice("sandbox.helpers", c.Sandbox.Helpers, HelpersInNamespaces, HelpersUnconfined),
		c.Database.validate(),
		c.Vector.validate(),
		c.Blob.validate(),
		c.Models.validate(),
		c.Classification.validate(),
		c.WebSearch.validate(),
		checkURL("privacy.analyzer.url", c.Privacy.Analyzer.URL),
		c.validateSecrets(),
		c.validateNamedSecrets(),
		c.validateNumbers(),
	}
	if c.HealthListen != "" {
		errs = append(errs, checkAddress("health_listen", c.HealthListen))
	}
	if c.Database.URL == c.Vector.URL {
		errs = append(errs, errors.New("database.url and vector.url are the same file: they must be two"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

func (c Classification) validate() error {
	if wrong := c.Of().Check(); wrong != "" {
		return errors.New(wrong)
	}
	return nil
}

// validate refuses a search engine that lacks what it needs.
func (w WebSearch) validate() error {
	if w.Provider == "" {
		if w.URL+w.Key+w.KeyEnv+w.Engine != "" || len(w.BonusDomains)+len(w.BlacklistedDomains) > 0 {
			return errors.New("web_search has no provider: set web_search.provider to searxng, brave, serper or google")
		}
		return nil
	}
	errs := []error{checkChoice("web_search.provider", w.Provider, "searxng", "brave", "serper", "google"), checkURL("web_search.url", w.URL)}
	switch {
	case w.Provider == "searxng" && w.URL == "":
		errs = append(errs, errors.New("web_search.url: the address of the SearXNG instance is needed"))
	case w.Provider != "searxng" && w.Key == "":
		errs = append(errs, fmt.Errorf("web_search.key or key_env: the key of %s is needed", w.Provider))
	case w.Provider == "google" && w.Engine == "":
		errs = append(errs, errors.New("web_search.engine: the id of the Programmable Search Engine is needed"))
	}
	return errors.Join(errs...)
}

// validate refuses keys of one server that stand beside the address of the other.
func (t Temporal) validate() error {
	if t.Embedded() {
		if t.Namespace != "cairn" || t.APIKeyEnv != "" || t.TLS.On() || t.UIURL != "" || t.PinVersions {
			return errors.New("temporal.namespace, api_key_env, tls, ui_url and pin_versions are for a server at temporal.address, which is not set")
		}
		if t.IngestRetention < time.Second || t.IngestRetention > maxIngestRetention {
			return fmt.Errorf("temporal.ingest_retention is %s: it can be from 1s to %s, written with its unit", t.IngestRetention, maxIngestRetention)
		}
		return nil
	}
	if _, port, err := net.SplitHostPort(t.Address); err != nil || port == "" || strings.Contains(t.Address, "/") {
		return fmt.Errorf("temporal.address %q: the host and port of a Temporal server are needed, such as host:7233, or embedded", t.Address)
	}
	if (t.TLS.CertFile == "") != (t.TLS.KeyFile == "") {
		return errors.New("temporal.tls has one of cert_file and key_file: both are needed")
	}
	return nil
}

func (c Config) validateSecrets() error {
	var errs []error
	if key, err := base64.StdEncoding.DecodeString(c.SecretKey); err != nil || c.SecretKey != "" && len(key) != secretKeyBytes {
		errs = append(errs, fmt.Errorf("secret_key: %d bytes in base64 are needed, such as openssl rand -base64 %d prints", secretKeyBytes, secretKeyBytes))
	}
	if c.AdminKey != "" {
		errs = append(errs, CheckAdminKey(c.AdminKey))
	}
	j := c.Auth.JWT
	if j.Secret != "" && len(j.Secret) < minJWTSecret {
		errs = append(errs, fmt.Errorf("auth.jwt.secret: at least %d bytes are needed", minJWTSecret))
	}
	if j.Secret == "" && j.JWKSURL == "" && (j.Issuer != "" || j.Audience != "") {
		errs = append(errs, errors.New("auth.jwt has an issuer or audience but neither secret, secret_env nor jwks_url"))
	}
	if j.Secret != "" && j.JWKSURL != "" {
		errs = append(errs, errors.New("auth.jwt has a secret and a jwks_url: set one of them"))
	}
	if u, err := url.Parse(j.JWKSURL); j.JWKSURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		errs = append(errs, errors.New("auth.jwt.jwks_url: an http or https address is needed"))
	}
	errs = append(errs, c.Auth.OIDC.validate())
	return errors.Join(errs...)
}

// CheckAdminKey refuses an admin key that is too easily guessed or cannot be
// sent in a header.
func CheckAdminKey(key string) error {
	if len(key) < minAdminKey || strings.ContainsFunc(key, notKeyRune) {
		return fmt.Errorf("admin_key: at least %d characters are needed, all of them visible ASCII", minAdminKey)
	}
	return nil
}

func notKeyRune(r rune) bool { return r <= ' ' || r > '~' }

func (c Config) validateNumbers() error {
	l := c.Limits
	return errors.Join(
		checkRange("shutdown_seconds", int64(c.ShutdownSeconds), 1, 3600),
		checkRange("models.offline.tokens_per_second", int64(c.Models.Offline.TokensPerSecond), 0, 1e6),
		checkRange("retention.audit", int64(c.Retention.Audit), 0, 36500),
		checkRange("limits.file_bytes", int64(l.FileBytes), 1, 10e9),
		checkRange("limits.text_bytes", int64(l.TextBytes), 1, 20<<20),
		checkRange("limits.request_bytes", int64(l.RequestBytes), 1, 15e9),
		checkRange("limits.parse_seconds", int64(l.ParseSeconds), 1, 3600),
		checkRange("limits.parse_memory", int64(l.ParseMemory), 128e6, 100e9),
		checkRange("limits.parsers", int64(l.Parsers), 1, 256),
		checkRange("limits.streams", int64(l.Streams), 1, 1e6),
		checkRange("limits.user_queries_per_minute", int64(l.UserQueriesPerMinute), 0, 1e6),
		checkRange("limits.key_queries_per_minute", int64(l.KeyQueriesPerMinute), 0, 1e6),
		l.Key.validate("limits.key"), l.User.validate("limits.user"), l.Project.validate("limits.project"), l.Workspace.validate("limits.workspace"),
	)
}

func (l UseLimits) validate(at string) error {
	var cost error
	if !(l.CostPerDay >= 0 && l.CostPerDay <= 1e9) { // false for NaN
		cost = fmt.Errorf("%s.cost_per_day is %g: it can be from 0 to 1000000000", at, l.CostPerDay)
	}
	return errors.Join(
		checkRange(at+".requests_per_minute", int64(l.RequestsPerMinute), 0, 1e6),
		checkRange(at+".tokens_per_day", l.TokensPerDay, 0, 1e12),
		checkRange(at+".documents", int64(l.Documents), 0, 1e9),
		checkRange(at+".bytes", int64(l.Bytes), 0, 1e15),
		cost,
	)
}

// checkTimeout catches a number without its unit, which counts nanoseconds, and
// a time that the step which makes the call does not have.
func checkTimeout(key string, d time.Duration) error {
	if d < time.Second || d > 10*time.Minute {
		return fmt.Errorf("%s is %s: it can be from 1s to 10m, written with its unit", key, d)
	}
	return nil
}

func checkAddress(key, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s %q is not an address with a port, such as 127.0.0.1:8080", key, address)
	}
	return nil
}

func checkURL(key, address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%s is not an address such as https://host/path, without user, query or fragment", key)
	}
	return nil
}

func checkChoice(key, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return fmt.Errorf("%s %q: choose one of %s", key, value, strings.Join(choices, ", "))
}

func checkStore(key, address, scheme, example string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != scheme || u.Host != "" || u.User != nil || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
		return fmt.Errorf("%s: supported is %s", key, example)
	}
	if u.RawQuery != "" && (scheme != "file" || u.RawQuery != "sync=off") {
		return fmt.Errorf("%s: nothing may stand behind the path in %s", key, example)
	}
	return nil
}

// validate checks what can be checked without PostgreSQL: package store reads the rest
// of its address. No error shows the address, which may have a password.
func (d Database) validate() error {
	const examples = "sqlite:///absolute/path and postgres://user:password@host:5432/database"
	if !d.Postgres() {
		return checkStore("database.url", d.URL, "sqlite", examples)
	}
	u, err := url.Parse(d.URL)
	if err != nil || u.Host == "" && u.Query().Get("host") == "" || strings.Trim(u.Path, "/") == "" {
		return errors.New("database.url: write postgres://user:password@host:5432/database, with special characters of the password as %XX")
	}
	return nil
}

// validate checks what can be checked without Milvus: package milvus reads the rest
// of its address.
func (v Vector) validate() error {
	if !v.Milvus() {
		return checkStore("vector.url", v.URL, "sqlite", "sqlite:///absolute/path and milvus://host:19530")
	}
	u, err := url.Parse(v.URL)
	if err != nil || u.Host == "" {
		return errors.New("vector.url: write milvus://host:19530/database")
	}
	if u.User != nil {
		return errors.New("vector.url: user and password belong into the variable that vector.token_env names")
	}
	return nil
}

// validate checks what can be checked without the service: package blob/connect reads the
// rest of a bucket's address.
func (b Blob) validate() error {
	if !b.Bucket() {
		if b.CredentialsEnv != "" || b.Presign {
			return errors.New("blob.credentials_env and blob.presign are for a bucket, which blob.url does not name")
		}
		return checkStore("blob.url", b.URL, "file", "file:///absolute/folder, s3://bucket/prefix, gs://bucket/prefix and azblob://account/container/prefix")
	}
	u, err := url.Parse(b.URL)
	if err != nil || u.Host == "" {
		return fmt.Errorf("blob.url: write %s://bucket/prefix", scheme(b.URL))
	}
	if u.User != nil {
		return errors.New("blob.url: credentials belong into the variable that blob.credentials_env names")
	}
	return nil
}

func (a Audit) validate() error {
	at := Blob{URL: a.Checkpoints}
	switch {
	case a.Checkpoints == "" && a.CredentialsEnv == "", at.Bucket():
		return nil
	case a.CredentialsEnv != "":
		return errors.New("audit.credentials_env is for a bucket, which audit.checkpoints does not name")
	}
	return checkStore("audit.checkpoints", a.Checkpoints, "file", "file:///absolute/folder, s3://bucket/prefix, gs://bucket/prefix and azblob://account/container/prefix")
}

func checkRange(key string, value, low, high int64) error {
	if value < low || value > high {
		return fmt.Errorf("%s is %d: it can be from %d to %d", key, value, low, high)
	}
	return nil
}
