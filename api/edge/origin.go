package edge

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// changes reports whether a request may change something, or opens a connection on which
// no browser tells which page it came from.
func changes(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	return !read || r.Header.Get("Upgrade") != ""
}

// FromOwnPage reports whether the browser says that a page of Cairn itself made a request:
// a page at the address of the request, or at the configured address.
func (e *Edge) FromOwnPage(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		return true
	}
	origin := originOf(r.Header.Get("Origin"))
	return origin != "" && (origin == originOf(AddressOf("", r)) || origin == originOf(e.cfg.PublicURL))
}

// originOf returns the scheme, the host and the port of an address, as browsers compare
// them: without regard to case, and with the default port of the scheme. It returns "" for
// what is no address of the web, such as null.
func originOf(address string) string {
	u, err := url.Parse(address)
	port := map[string]string{"http": "80", "https": "443"}
	if err != nil || u.Hostname() == "" || port[u.Scheme] == "" {
		return ""
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), port[u.Scheme]))
}

// Address returns the address at which the sender of a request reaches the API.
func (e *Edge) Address(r *http.Request) string { return AddressOf(e.cfg.PublicURL, r) }

// AddressOf does the same with a configured address; "" = there is none.
func AddressOf(publicURL string, r *http.Request) string {
	if base := strings.TrimRight(publicURL, "/"); base != "" {
		return base
	}
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
