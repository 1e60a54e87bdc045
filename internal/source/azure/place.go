package azure

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// scheme begins the address of a prefix: azblob://account/container/prefix.
const scheme = "azblob"

// place is a prefix of a container of an account.
type place struct {
	account, container string
	prefix             source.Prefix // its Bucket is "account/container"
}

func parsePlace(uri string) (place, error) {
	p, err := source.ParsePrefix(scheme, uri)
	container, path, _ := strings.Cut(p.Path, "/")
	if err != nil || container == "" || strings.ContainsAny(container, "?#%") {
		return place{}, knowledge.Invalid("body.source.uri", "is %q; write azblob://account/container/prefix", uri)
	}
	return place{account: p.Bucket, container: container, prefix: source.Prefix{Scheme: scheme, Bucket: p.Bucket + "/" + container, Path: path}}, nil
}

// service returns the address of the account: the endpoint if there is one, else
// Azure's.
func (p place) service(endpoint string) string {
	if endpoint != "" {
		return strings.TrimSuffix(endpoint, "/")
	}
	return "https://" + p.account + ".blob.core.windows.net"
}
