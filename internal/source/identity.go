package source

import (
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The hosts for which credentials are given that go to a provider itself.
const (
	hostS3    = "s3.amazonaws.com"
	hostGCS   = "storage.googleapis.com"
	hostAzure = ".blob.core.windows.net" // behind the account
)

// CredentialHost returns the host that gets the credentials of a bucket, or the requests
// that they sign: the host of the endpoint, else the provider's. It is "" for other sources.
func (s Spec) CredentialHost() string {
	if !s.isBucket() {
		return ""
	}
	if s.Options.Endpoint != "" {
		u, err := url.Parse(s.Options.Endpoint)
		if err != nil {
			return ""
		}
		return u.Hostname()
	}
	switch s.Type {
	case TypeS3:
		return hostS3
	case TypeGCS:
		return hostGCS
	}
	account, _, _ := strings.Cut(strings.TrimPrefix(s.URI, "azblob://"), "/")
	return account + hostAzure
}

// NeedsIdentity reports whether only the server's own cloud identity can read the source:
// it is a bucket, and is neither read with a secret nor anonymously.
func (s Spec) NeedsIdentity() bool { return s.isBucket() && s.Secret == "" && !s.Options.Anonymous }

func (s Spec) isBucket() bool { return s.Type == TypeS3 || s.Type == TypeGCS || s.Type == TypeAzure }

// NoIdentity returns the error of an import that would need the server's identity, and may
// not use it.
func NoIdentity(workspace string) error {
	return knowledge.Invalid("body.source.secret", "is missing: name a secret with the credentials, or set source.options.anonymous for a public bucket, or have an operator add the workspace %s to import.ambient_identity, so that its imports use the identity of the server", workspace)
}
