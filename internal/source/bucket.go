package source

import (
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Prefix is the address of a part of a bucket.
type Prefix struct {
	Scheme string // "s3", "gs", "azblob"
	Bucket string
	Path   string // the beginning of the keys, "" for all
}

// ParsePrefix returns the parts of an address like "s3://bucket/prefix". The path
// is taken as it is written: nothing in it is decoded, because any character may
// occur in a key.
func ParsePrefix(scheme, uri string) (Prefix, error) {
	rest, ok := strings.CutPrefix(uri, scheme+"://")
	bucket, path, _ := strings.Cut(rest, "/")
	if !ok || bucket == "" || strings.ContainsAny(bucket, "@:?# ") {
		return Prefix{}, knowledge.Invalid("body.source.uri", "is %q; write %s://bucket/prefix", uri, scheme)
	}
	return Prefix{Scheme: scheme, Bucket: bucket, Path: path}, nil
}

// Inside returns the key of an object below the folder of the prefix: for the
// prefix "a/b" or "a/", the key "a/bc.txt" is "bc.txt". It reports false for a
// key that is no document: the marker of a folder, or a key outside the prefix.
func (p Prefix) Inside(key string) (string, bool) {
	folder := p.folder()
	if !strings.HasPrefix(key, p.Path) || strings.HasSuffix(key, "/") || len(key) <= len(folder) {
		return "", false
	}
	return key[len(folder):], true
}

// Outside returns the key in the bucket of an object of the source.
func (p Prefix) Outside(key string) string { return p.folder() + key }

// Address returns the whole address of a key in the bucket.
func (p Prefix) Address(key string) string { return p.Scheme + "://" + p.Bucket + "/" + key }

func (p Prefix) folder() string { return p.Path[:strings.LastIndexByte(p.Path, '/')+1] }

// CheckEndpoint refuses an endpoint that is not the address of a server.
func CheckEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return knowledge.Invalid("body.source.options.endpoint", "is not an address like https://host:port")
	}
	return nil
}
