package console

import (
	"net/http"
	"strings"
)

// agentModule is where the page of an agent starts.
const agentModule = "agent/page.js"

// agentPages serves the page of every agent, which reads by the API what its agent is, and the
// script that shows that page on pages of other sites.
type agentPages struct {
	page    file
	script  file
	framers Framers
}

// serve answers a GET for one of them, and reports whether it did.
func (a agentPages) serve(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path == "/embed.js" {
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		a.script.send(w, r, "public, max-age=300", "'none'")
		return true
	}
	slug, ok := strings.CutPrefix(r.URL.Path, "/agents/")
	if !ok || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	slug, isFrame := strings.CutSuffix(slug, "/frame")
	if slug == "" || strings.Contains(slug, "/") {
		return false
	}
	framers := "'none'"
	if isFrame {
		if origins := a.framers(r.Context(), slug); len(origins) > 0 {
			framers = strings.Join(origins, " ")
		}
	}
	a.page.send(w, r, "no-store", framers) // its policy changes with the publication
	return true
}
