package model

import (
	"net/http"
	"time"
)

// The defaults of an Endpoint.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = 60 * time.Second
)

// Endpoint is one model behind one address.
type Endpoint struct {
	// Provider is the endpoint's name in logs, metrics and errors. Defaults to
	// "model".
	Provider string
	// BaseURL is the address that ends before "/chat/completions", usually in
	// "/v1".
	BaseURL string
	// Model is the model's name at the provider.
	Model string
	// APIKey is sent as a bearer token. Empty sends none.
	APIKey string
	// Dimensions is the length of the embedding vectors. It is asked for, and an
	// answer of another length is an error. 0 takes what comes.
	Dimensions int
	// Timeout bounds one call as a whole. Defaults to DefaultTimeout.
	Timeout time.Duration
	// IdleTimeout bounds the wait for the first byte of an answer's body and for
	// each further one. Defaults to DefaultIdleTimeout.
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

// NewHTTPClient gives the HTTP client that New uses when it is given none: many
// kept connections to one host, no compression (it would hold back a stream),
// and no redirects, since a redirect would carry the prompt elsewhere.
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
