package milvus

import (
	"log/slog"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/milvus-io/milvus/client/v2/index"
)

// Config configures an Index.
type Config struct {
	// Address is the server's host and port.
	Address string
	// Database is a database that exists. Defaults to "default".
	Database string
	// TLS encrypts the connection and checks the server's certificate.
	TLS bool
	// CAFile is a file with the certificates of the authorities that sign the server's, in
	// PEM. It implies TLS. Defaults to the authorities of the system.
	CAFile string
	// Token is an API key, or user:password. Defaults to none.
	Token string
	// Prefix begins the names of the collections. Defaults to "cairn".
	Prefix string
	// IndexType is the type of the index of the vectors. Defaults to HNSW.
	IndexType string
	// Analyzer is the tokenizer that splits the words, which are ASCII letters
	// and digits with spaces between them. Defaults to whitespace.
	Analyzer string
	// WithoutPartitionKey leaves out the partition key, for servers without it.
	// Each search then reads the entries of all workspaces.
	WithoutPartitionKey bool
	// ListEvery is how old the known list of collections may be. A writer that
	// creates a collection waits as long before it returns, so that every
	// process searches it. Defaults to a second.
	ListEvery time.Duration
	// Logger receives the index's log records. Defaults to one that discards
	// them.
	Logger *slog.Logger

	// withoutWords leaves the search for words out of the collections, for tests on a
	// server that has none.
	withoutWords bool
	// loadPatience is how long calls wait for a collection that the server loads, from the begin
	// of the load on. Defaults to loadPatience.
	loadPatience time.Duration
}

// IndexTypes are the types of a dense index that Config takes.
var IndexTypes = []string{string(index.HNSW), string(index.Flat), string(index.IvfFlat), string(index.AUTOINDEX)}

const defaultPort = "19530"

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,99}$`)

// ParseURL reads milvus://host:port/database with the parameters tls, ca_file,
// prefix, index, analyzer and partition_key.
func ParseURL(address string) (Config, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "milvus" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return Config{}, invalid("vector.url: write milvus://host:19530/database; user and password belong into the variable that vector.token_env names")
	}
	c := Config{Address: u.Host, Database: strings.Trim(u.Path, "/")}
	if u.Port() == "" {
		c.Address = u.Hostname() + ":" + defaultPort
	}
	if c.Database != "" && !plainName.MatchString(c.Database) {
		return Config{}, invalid("vector.url: %q is not the name of a database in Milvus", c.Database)
	}
	for name, values := range u.Query() {
		if err := c.set(name, values[0]); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

// set sets one parameter of the URL.
func (c *Config) set(name, value string) (err error) {
	switch name {
	case "tls":
		c.TLS, err = strconv.ParseBool(value)
	case "ca_file":
		if c.CAFile = value; !filepath.IsAbs(value) {
			return invalid("vector.url: ca_file is the absolute path of a file with certificates")
		}
	case "partition_key":
		var with bool
		with, err = strconv.ParseBool(value)
		c.WithoutPartitionKey = !with
	case "index":
		if c.IndexType = strings.ToUpper(value); !slices.Contains(IndexTypes, c.IndexType) {
			return invalid("vector.url: index is one of %s", strings.Join(IndexTypes, ", "))
		}
	case "analyzer":
		if c.Analyzer = value; !plainName.MatchString(value) {
			return invalid("vector.url: analyzer is the name of a tokenizer, such as whitespace")
		}
	case "prefix":
		if c.Prefix = value; !plainName.MatchString(value) {
			return invalid("vector.url: prefix has letters, digits and _, and begins with a letter")
		}
	default:
		return invalid("vector.url has no parameter %q: choose from tls, ca_file, prefix, index, analyzer and partition_key", name)
	}
	if err != nil {
		return invalid("vector.url: %s is true or false", name)
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Prefix = or(c.Prefix, "cairn")
	c.IndexType = or(c.IndexType, string(index.HNSW))
	c.Analyzer = or(c.Analyzer, "whitespace")
	if c.ListEvery == 0 {
		c.ListEvery = time.Second
	}
	if c.loadPatience == 0 {
		c.loadPatience = loadPatience
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func or(value, standard string) string {
	if value == "" {
		return standard
	}
	return value
}

func invalid(format string, args ...any) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeInvalid, format, args...)
}
