package connect

import (
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Guard returns a transport that refuses each request which would list or read what is
// below the address of a store, at whatever host: a user who imports from the service of
// the store may name the host, the bucket and the prefix in many ways, and a redirect may
// name others. The error is a *knowledge.Error with CodeInvalid. If the address is no
// bucket, Guard returns next.
//
// It refuses too much rather than too little: also an object of another bucket whose key
// contains the bucket and the prefix of the store as folders.
func Guard(store string, next http.RoundTripper) http.RoundTripper {
	a, isService, err := parse(store)
	if err != nil || !isService {
		return next
	}
	g := guard{own: fold("/" + path.Join(a.bucket, a.path) + "/"), bucket: strings.ToLower(a.bucket), next: next}
	if u, err := url.Parse(a.endpoint); err == nil {
		g.base = fold(strings.TrimSuffix(u.Path, "/"))
	}
	return g
}

type guard struct {
	own    string // "/bucket/prefix/"
	bucket string
	base   string // path of the store's endpoint, without "/" at its end
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.reads(r) {
		if r.Body != nil {
			_ = r.Body.Close() // http.RoundTripper requires it
		}
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "refused address: it is where this server keeps its own data; name another bucket or prefix")
	}
	return g.next.RoundTrip(r)
}

// CloseIdleConnections closes connections that are not in use.
func (g guard) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// googlePath matches the paths of Google's JSON interface.
var googlePath = regexp.MustCompile(`^(?:/upload|/download)?/storage/v1/b/([^/]*)/o(?:/|$)`)

// reads reports whether a request lists or reads what the store has.
func (g guard) reads(r *http.Request) bool {
	query := r.URL.Query()
	for _, place := range g.places(r) {
		if strings.Contains(place+"/", g.own) {
			return true
		}
		for _, prefix := range append(query["prefix"], query.Get("prefix")) {
			for _, listed := range forms(prefix) {
				list := strings.TrimSuffix(place, "/") + "/" + listed
				if strings.Contains(list, g.own) || strings.HasPrefix(g.own, list) && isBucket(place) {
					return true
				}
			}
		}
	}
	return false
}

// isBucket reports whether a place names a bucket and no object.
func isBucket(place string) bool {
	place = strings.Trim(place, "/")
	return place != "" && !strings.Contains(place, "/")
}

// places returns what the path of a request may mean to a server, as "/bucket/key".
func (g guard) places(r *http.Request) []string {
	var all []string
	for _, p := range append(forms(r.URL.Path), forms(r.URL.EscapedPath())...) {
		p = fold(p)
		for _, q := range []string{p, strings.TrimPrefix(p, g.base)} {
			all = append(all, q, fold(googlePath.ReplaceAllString(q, "/$1/")))
			if host := strings.ToLower(r.URL.Host); strings.HasPrefix(host, g.bucket+".") {
				all = append(all, fold("/"+g.bucket+"/"+q))
			}
			if host := strings.ToLower(r.Host); strings.HasPrefix(host, g.bucket+".") {
				all = append(all, fold("/"+g.bucket+"/"+q))
			}
		}
	}
	return all
}

// forms returns a text as it is, with its escapes decoded once and twice, and each of them
// without relative parts.
func forms(text string) []string {
	all := []string{text}
	for range 2 {
		decoded, err := url.PathUnescape(all[len(all)-1])
		if err != nil {
			break
		}
		all = append(all, decoded)
	}
	for _, form := range all {
		clean := strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(form, `\`, "/")), "/")
		if strings.HasSuffix(form, "/") && clean != "" {
			clean += "/"
		}
		all = append(all, strings.ToLower(clean), strings.ToLower(form))
	}
	return all
}

// manySlashes matches what a server may take for one slash.
var manySlashes = regexp.MustCompile(`/{2,}`)

// fold returns a path in the form in which paths are compared.
func fold(p string) string {
	return manySlashes.ReplaceAllString("/"+strings.ToLower(p), "/")
}
