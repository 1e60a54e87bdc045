package gcs

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// newService returns a client for the bucket, which dials through httpClient.
func newService(ctx context.Context, r source.Request, httpClient *http.Client) (*storage.Service, error) {
	client := *httpClient
	if !r.Options.Anonymous && isGoogle(r.Options.Endpoint) {
		tokens, err := tokensOf(r, httpClient)
		if err != nil {
			return nil, err
		}
		if _, err := tokens.Token(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, knowledge.Errorf(knowledge.CodeForbidden, "Google refused access to %q; check the credentials", r.URI).WithCause(err)
		}
		client.Transport = authorized{next: httpClient.Transport, tokens: tokens}
	}
	options := []option.ClientOption{option.WithHTTPClient(&client)}
	if r.Options.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(r.Options.Endpoint, "/")+"/storage/v1/"))
	}
	return storage.NewService(ctx, options...)
}

// authorized adds a token to the requests to Google, and to no other host: a
// redirect, and an endpoint that a user gave, must not receive it.
type authorized struct {
	next   http.RoundTripper
	tokens *auth.Credentials
}

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if isGoogleURL(r.URL) {
		token, err := a.tokens.Token(r.Context())
		if err != nil {
			return nil, source.Unavailable(err)
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", token.Type+" "+token.Value)
	}
	return a.next.RoundTrip(r)
}

// isGoogle reports whether an endpoint is Google's, which the empty one is.
func isGoogle(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return endpoint == "" || err == nil && isGoogleURL(u)
}

func isGoogleURL(u *url.URL) bool {
	return u.Scheme == "https" && strings.HasSuffix(u.Hostname(), ".googleapis.com")
}

// tokensOf returns the credentials of the request: the ones in the secret, else
// the ones that Google's chain finds.
func tokensOf(r source.Request, httpClient *http.Client) (*auth.Credentials, error) {
	options := &credentials.DetectOptions{Scopes: []string{storage.DevstorageReadOnlyScope}}
	if r.Credentials == nil {
		if !r.Identity {
			return nil, noCredentials(r)
		}
		found, err := credentials.DetectDefault(options)
		if err != nil {
			return nil, noCredentials(r).WithCause(err)
		}
		return found, nil
	}
	if r.Untrusted { // the file names the address at which the tokens are asked for
		options.Client = httpClient
	}
	var file struct {
		Type credentials.CredType `json:"type"`
	}
	if err := json.Unmarshal(r.Credentials, &file); err != nil || !slices.Contains(kinds(r), file.Type) {
		return nil, wrongSecret(r.Secret)
	}
	found, err := credentials.NewCredentialsFromJSON(file.Type, r.Credentials, options)
	if err != nil { // whose text may repeat the secret
		return nil, wrongSecret(r.Secret)
	}
	return found, nil
}

// kinds returns the kinds of credentials that a secret may hold. Those that read a file,
// run a program or ask an address of the server for a token must be an operator's.
func kinds(r source.Request) []credentials.CredType {
	list := []credentials.CredType{credentials.ServiceAccount, credentials.AuthorizedUser}
	if !r.Untrusted {
		list = append(list, credentials.ExternalAccount, credentials.ImpersonatedServiceAccount)
	}
	return list
}

func noCredentials(r source.Request) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeForbidden, "the server has no credentials for %q: name a secret in source.secret, set source.options.anonymous, or give the server credentials", r.URI)
}

func wrongSecret(name string) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "the secret %q holds no credentials for Google Cloud Storage: it must be the JSON file of a service account", name)
}
