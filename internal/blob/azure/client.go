package azure

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// Tries of one request. An activity repeats a step with longer delays.
const (
	retries    = 2
	firstDelay = 300 * time.Millisecond
	lastDelay  = time.Second
)

// Config configures a Bucket.
type Config struct {
	// Account is the name of the storage account.
	Account string
	// Container is the name of a container that exists.
	Container string
	// Prefix begins the names of all blobs. It is empty or ends in "/".
	Prefix string
	// Endpoint is the address of the account. Defaults to Azure's.
	Endpoint string
	// Credentials is a connection string with AccountKey or SharedAccessSignature. Defaults
	// to what DefaultAzureCredential finds: variables of the environment, the identity of
	// the machine.
	Credentials []byte
	// Client makes the requests.
	Client *http.Client
}

// Bucket implements blob.Bucket.
type Bucket struct {
	client *container.Client
	prefix string
	names  Config
	key    *container.SharedKeyCredential // nil = it cannot sign addresses
	once   *container.Client              // whose requests are not repeated
}

// New returns the bucket. It does not ask the service.
func New(c Config) (*Bucket, error) {
	if c.Endpoint == "" {
		c.Endpoint = "https://" + c.Account + ".blob.core.windows.net"
	}
	b := &Bucket{prefix: c.Prefix, names: c}
	secret, err := parse(c.Credentials)
	if err != nil {
		return nil, err
	}
	if b.client, err = b.connect(secret, retries); err != nil {
		return nil, err
	}
	b.once, err = b.connect(secret, -1)
	return b, err
}

// connect returns a client that repeats a request so often; -1 is never.
func (b *Bucket) connect(s secret, retries int32) (*container.Client, error) {
	options := &container.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: b.names.Client,
		Retry:     policy.RetryOptions{MaxRetries: retries, RetryDelay: firstDelay, MaxRetryDelay: lastDelay},
		Telemetry: policy.TelemetryOptions{Disabled: true},
	}}
	address := b.names.Endpoint + "/" + b.names.Container
	switch {
	case s.key != "":
		key, err := container.NewSharedKeyCredential(b.names.Account, s.key)
		if err != nil {
			return nil, errWrongSecret
		}
		b.key = key
		return container.NewClientWithSharedKeyCredential(address, key, options)
	case s.signature != "":
		return container.NewClientWithNoCredential(address+"?"+strings.TrimPrefix(s.signature, "?"), options)
	}
	identity, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("find credentials for Azure: set blob.credentials_env, or give the machine an identity: %w", err)
	}
	return container.NewClient(address, identity, options)
}

// secret is what a connection string holds.
type secret struct{ key, signature string }

// errWrongSecret does not repeat the secret.
var errWrongSecret = errors.New("the variable that blob.credentials_env names holds no credentials for Azure: write a connection string with AccountKey or SharedAccessSignature")

func parse(text []byte) (s secret, err error) {
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ";") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "AccountKey":
			s.key = value
		case "SharedAccessSignature":
			s.signature = value
		}
	}
	if text != nil && s == (secret{}) {
		return s, errWrongSecret
	}
	return s, nil
}
