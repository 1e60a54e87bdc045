package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"
)

// googleBatches is Google's address of batches of requests.
const googleBatches = "https://storage.googleapis.com/batch/storage/v1"

// Config configures a Bucket.
type Config struct {
	// Bucket is the name of a bucket that exists.
	Bucket string
	// Prefix begins the names of all objects. It is empty or ends in "/".
	Prefix string
	// Endpoint is the address of a service that is compatible. It receives no credentials
	// unless it is Google's. Defaults to Google's.
	Endpoint string
	// Credentials is the JSON file of a service account, or of another identity. Defaults to
	// what Google's chain finds: GOOGLE_APPLICATION_CREDENTIALS, the identity of the machine.
	Credentials []byte
	// Client makes the requests.
	Client *http.Client
}

// Bucket implements blob.Bucket.
type Bucket struct {
	service *storage.Service
	client  *http.Client
	batches string // address of batches of requests
	name    string
	prefix  string
	signer  *signer // nil = the credentials cannot sign addresses
}

// New returns the bucket. It fetches a token, but does not ask the bucket.
func New(ctx context.Context, c Config) (*Bucket, error) {
	client, account := *c.Client, c.Credentials
	if isGoogle(c.Endpoint) {
		tokens, err := tokensOf(c.Credentials)
		if err != nil {
			return nil, err
		}
		if _, err := tokens.Token(ctx); err != nil {
			return nil, fmt.Errorf("get a token of Google: %w", err)
		}
		account = tokens.JSON()
		client.Transport = authorized{next: c.Client.Transport, tokens: tokens}
	}
	options, batches := []option.ClientOption{option.WithHTTPClient(&client)}, googleBatches
	if c.Endpoint != "" {
		options, batches = append(options, option.WithEndpoint(c.Endpoint+"/storage/v1/")), c.Endpoint+"/batch/storage/v1"
	}
	service, err := storage.NewService(ctx, options...)
	if err != nil {
		return nil, err
	}
	return &Bucket{service: service, client: &client, batches: batches, name: c.Bucket, prefix: c.Prefix, signer: newSigner(account, c.Endpoint)}, nil
}

// isGoogle reports whether an endpoint is Google's, which the empty one is.
func isGoogle(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return endpoint == "" || err == nil && u.Scheme == "https" && strings.HasSuffix(u.Hostname(), ".googleapis.com")
}

// authorized adds a token to each request.
type authorized struct {
	next   http.RoundTripper
	tokens *auth.Credentials
}

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := a.tokens.Token(r.Context())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", token.Type+" "+token.Value)
	return a.next.RoundTrip(r)
}

// tokensOf returns the credentials of a secret, else those that Google's chain finds. Its
// errors do not repeat the secret.
func tokensOf(secret []byte) (*auth.Credentials, error) {
	options := &credentials.DetectOptions{Scopes: []string{storage.DevstorageReadWriteScope}}
	if secret == nil {
		found, err := credentials.DetectDefault(options)
		if err != nil {
			return nil, fmt.Errorf("find credentials for Google Cloud Storage: set blob.credentials_env, or give the machine an identity: %w", err)
		}
		return found, nil
	}
	wrong := errors.New("the variable that blob.credentials_env names holds no credentials for Google Cloud Storage: write the JSON file of a service account into it")
	var file struct {
		Type credentials.CredType `json:"type"`
	}
	if err := json.Unmarshal(secret, &file); err != nil {
		return nil, wrong
	}
	found, err := credentials.NewCredentialsFromJSON(file.Type, secret, options)
	if err != nil {
		return nil, wrong
	}
	return found, nil
}
