package connect

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The schemes of the services.
const (
	schemeS3    = "s3"
	schemeGCS   = "gs"
	schemeAzure = "azblob"
)

// address is a bucket of a service, or a part of one.
type address struct {
	scheme    string
	account   string // in Azure
	bucket    string // the container in Azure
	path      string // without "/" at its ends
	endpoint  string
	region    string
	pathStyle bool
}

// parameters are those that the address of a scheme may have.
var parameters = map[string][]string{
	schemeS3:    {"endpoint", "path_style", "region"},
	schemeGCS:   {"endpoint"},
	schemeAzure: {"endpoint"},
}

// parse reads an address such as s3://bucket/prefix?region=eu-central-1. It returns false
// for one that names no service.
func parse(text string) (a address, isService bool, err error) {
	scheme, _, _ := strings.Cut(text, "://")
	known, isService := parameters[scheme]
	if !isService {
		return a, false, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Port() != "" || u.User != nil || u.Fragment != "" {
		return a, true, invalid("write %s; credentials belong into the variable that blob.credentials_env names", examples[scheme])
	}
	a = address{scheme: scheme, bucket: u.Host, path: strings.Trim(u.Path, "/")}
	if scheme == schemeAzure {
		a.account = a.bucket
		if a.bucket, a.path, _ = strings.Cut(a.path, "/"); a.bucket == "" {
			return a, true, invalid("write %s", examples[scheme])
		}
	}
	query := u.Query()
	for name := range maps.Keys(query) {
		if !slices.Contains(known, name) {
			return a, true, invalid("%q is no parameter of it; there are %s. A prefix stands in the path: %s", name, strings.Join(known, ", "), examples[scheme])
		}
	}
	a.region = query.Get("region")
	if a.endpoint, err = endpointOf(query.Get("endpoint")); err != nil {
		return a, true, err
	}
	a.pathStyle = a.endpoint != ""
	if style := query.Get("path_style"); style != "" {
		if a.pathStyle, err = strconv.ParseBool(style); err != nil {
			return a, true, invalid("path_style is true or false")
		}
	}
	return a, true, nil
}

// Overlaps reports whether the blobs of a store are below an address such as s3://bucket/
// or s3://bucket/prefix, or whether that address is below theirs. A store that is no
// bucket overlaps with nothing.
func Overlaps(store, other string) bool {
	a, isService, err := parse(store)
	if err != nil || !isService {
		return false
	}
	own := strings.ToLower(a.scheme + "://" + path.Join(a.account, a.bucket, a.path) + "/")
	other = strings.ToLower(other)
	if host, ok := strings.CutPrefix(other, a.scheme+"://"); ok && !strings.Contains(host, "/") {
		other += "/" // "s3://bucket" is the whole bucket, and not another one's beginning
	}
	return strings.HasPrefix(other, own) || strings.HasPrefix(own, other)
}

// examples are addresses for messages.
var examples = map[string]string{
	schemeS3:    "s3://bucket/prefix?region=eu-central-1, or s3://bucket/prefix?endpoint=https://host:9000",
	schemeGCS:   "gs://bucket/prefix",
	schemeAzure: "azblob://account/container/prefix",
}

func endpointOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", invalid("endpoint is an address such as https://host:9000")
	}
	return strings.TrimSuffix(text, "/"), nil
}

// prefix returns what begins the keys in the bucket.
func (a address) prefix() string {
	if a.path == "" {
		return ""
	}
	return a.path + "/"
}

// place names the bucket for operators.
func (a address) place() string {
	place := a.scheme + "://" + path.Join(a.account, a.bucket, a.path)
	if a.endpoint != "" {
		place += " at " + a.endpoint
	}
	return place
}

func invalid(format string, args ...any) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "blob.url: "+format, args...)
}
