package server

import (
	"net/http"
	"net/url"
)

// decodePath is the route of the API that decrypts payloads.
const decodePath = "/codec/decode"

// codec returns what decrypts payloads for the embedded Temporal UI: the API, which asks for
// credentials. It returns nil if nothing is encrypted.
func (p *platform) codec() http.Handler {
	if !p.ring.On() {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := p.decodes.Load()
		if serve == nil {
			http.Error(w, "Cairn is starting.", http.StatusServiceUnavailable)
			return
		}
		(*serve).ServeHTTP(w, r)
	})
}

// allowTemporalUI lets pages of the Temporal UI at temporal.ui_url have payloads decrypted. They
// send a bearer token: the cookie of a session counts for Cairn's own pages only.
func (p *platform) allowTemporalUI(next http.Handler) http.Handler {
	ui, err := url.Parse(p.cfg.Temporal.UIURL)
	if err != nil || ui.Host == "" {
		return next
	}
	origin := ui.Scheme + "://" + ui.Host
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != decodePath || r.Header.Get("Origin") != origin {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Add("Vary", "Origin")
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Authorization-Extras, Content-Type, X-Namespace")
		w.WriteHeader(http.StatusNoContent)
	})
}
