package azure

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Repetitions of one request. An import repeats a step with longer delays.
const (
	retries    = 2
	firstDelay = 300 * time.Millisecond
	lastDelay  = 2 * time.Second
)

// newClient returns a client for the container, which dials through httpClient.
func newClient(p place, r source.Request, httpClient *http.Client) (*container.Client, error) {
	options := &container.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: transport{httpClient},
		Retry:     policy.RetryOptions{MaxRetries: retries, RetryDelay: firstDelay, MaxRetryDelay: lastDelay},
		Telemetry: policy.TelemetryOptions{Disabled: true},
	}}
	address := p.service(r.Options.Endpoint) + "/" + p.container
	trusted := isAzure(address)
	c, err := credentialsOf(r, p.account)
	if err != nil {
		return nil, err
	}
	switch {
	case c.AccountKey != "": // signs requests, and is not sent
		key, err := container.NewSharedKeyCredential(c.Account, c.AccountKey)
		if err != nil {
			return nil, wrongSecret(r.Secret)
		}
		return container.NewClientWithSharedKeyCredential(address, key, options)
	case !trusted || r.Options.Anonymous:
		return container.NewClientWithNoCredential(address, options)
	case c.SAS != "":
		return container.NewClientWithNoCredential(address+"?"+strings.TrimPrefix(c.SAS, "?"), options)
	}
	if c.ClientID == "" && !r.Identity {
		return nil, noCredentials(r.URI)
	}
	identity, err := identityOf(c)
	if err != nil {
		return nil, noCredentials(r.URI).WithCause(err)
	}
	return container.NewClient(address, identity, options)
}

// identityOf returns the identity of a secret, else the one that Azure's chain
// finds.
func identityOf(c credentials) (azcore.TokenCredential, error) {
	if c.ClientID != "" {
		return azidentity.NewClientSecretCredential(c.TenantID, c.ClientID, c.ClientSecret, nil)
	}
	return azidentity.NewDefaultAzureCredential(nil)
}

func noCredentials(uri string) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeForbidden, "the server has no credentials for %q: name a secret in source.secret, set source.options.anonymous, or give the server credentials", uri)
}

// isAzure reports whether an address is one of Azure's. Only it receives tokens
// and signed addresses, which whoever receives them can use.
func isAzure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return false
	}
	for _, cloud := range []string{".blob.core.windows.net", ".blob.core.usgovcloudapi.net", ".blob.core.chinacloudapi.cn"} {
		if strings.HasSuffix(u.Hostname(), cloud) {
			return true
		}
	}
	return false
}

// credentials is the JSON form of a secret. A connection string has it too.
type credentials struct {
	Account      string `json:"access_key_id"`
	AccountKey   string `json:"secret_access_key"`
	SAS          string `json:"sas_token"`
	TenantID     string `json:"tenantId"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
}

// credentialsOf returns the credentials of the request, none for Azure's chain.
func credentialsOf(r source.Request, account string) (credentials, error) {
	c := credentials{}
	text := strings.TrimSpace(string(r.Credentials))
	switch {
	case r.Credentials == nil || r.Options.Anonymous:
		return c, nil
	case strings.HasPrefix(text, "{"):
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return c, wrongSecret(r.Secret)
		}
	default:
		for part := range strings.SplitSeq(text, ";") {
			switch name, value, _ := strings.Cut(part, "="); name {
			case "AccountName":
				c.Account = value
			case "AccountKey":
				c.AccountKey = value
			case "SharedAccessSignature":
				c.SAS = value
			}
		}
	}
	if c.Account == "" {
		c.Account = account
	}
	if c.AccountKey == "" && c.SAS == "" && (c.TenantID == "" || c.ClientID == "" || c.ClientSecret == "") {
		return c, wrongSecret(r.Secret)
	}
	return c, nil
}

func wrongSecret(name string) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "the secret %q holds no credentials for Azure: it must be a connection string, or JSON with access_key_id (the account) and secret_access_key, with sas_token, or with tenantId, clientId and clientSecret", name)
}

// transport marks refused addresses, which are not tried again.
type transport struct{ client *http.Client }

// Do implements policy.Transporter.
func (t transport) Do(r *http.Request) (*http.Response, error) {
	response, err := t.client.Do(r)
	if e, ok := errors.AsType[*knowledge.Error](err); ok {
		return nil, refused{e}
	}
	return response, err
}

// refused is an error that the SDK does not retry.
type refused struct{ cause *knowledge.Error }

// Error implements error.
func (r refused) Error() string { return r.cause.Error() }

// Unwrap returns the error for the user.
func (r refused) Unwrap() error { return r.cause }

// NonRetriable marks the error for the SDK.
func (refused) NonRetriable() {}
