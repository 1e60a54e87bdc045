package model

import (
	"net/http"
	"time"
)

// Defaults of an Endpoint.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = 60 * time.Second
)

// Endpoint is one model at one address.
type Endpoint struct {
	// Provider is the endpoint's name in logs, metrics and errors. Defaults to
	// "model".
	Provider string
	// BaseURL is the address before "/chat/completions", usually ending in
	// "/v1". For Azure it is the address of the resource.
	BaseURL string
	// Azure reports that the endpoint is one of Azure OpenAI: the key is sent in the header
	// api-key, and the addresses begin with /openai/.
	Azure bool
	// APIVersion is a version of Azure's API, for addresses with /openai/deployments/.
	// "" and "preview" are the versions of /openai/v1/.
	APIVersion string
	// Deployment is the name that Model has in Azure. Defaults to Model.
	Deployment string
	// Model is the provider's name of the model.
	Model string
	// APIKey is sent as a bearer token, except to Azure. Empty sends none.
	APIKey string
	// Dimensions is the length of the embedding vectors. It is sent with each
	// request, and an answer of another length is an error. 0 accepts any
	// length.
	Dimensions int
	// InProcess means that the model runs in the process or beside it: texts do not leave
	// the instance.
	InProcess bool
	// MaxTokens is how many tokens of cl100k_base a text to embed may have. The
	// client does not check it. 0 is no bound.
	MaxTokens int
	// Prices are the prices of the models of all endpoints. nil = none is known.
	Prices *Prices
	// Timeout bounds a whole call. Defaults to DefaultTimeout.
	Timeout time.Duration
	// IdleTimeout bounds the wait for the first byte of an answer's body and
	// for each read after it. Defaults to DefaultIdleTimeout.
	IdleTimeout time.Duration
}

func (e Endpoint) withDefaults() Endpoint {
	if e.Provider == "" {
		e.Provider = "model"
	}
	if e.Timeout <= 0 {
		e.Timeout = DefaultTimeout
	}
	if e.IdleTimeout <= 0 {
		e.IdleTimeout = DefaultIdleTimeout
	}
	return e
}

// NewHTTPClient returns the HTTP client that New uses by default. It keeps many
// connections to one host, does not compress (compression would delay a
// stream), and does not follow redirects, which would send the prompt to
// another address.
func NewHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 1024
	transport.MaxIdleConnsPerHost = 256
	transport.IdleConnTimeout = 90 * time.Second
	transport.DisableCompression = true
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
