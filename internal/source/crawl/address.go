package crawl

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// Limits of addresses. They end a crawl of a site that makes up addresses: a
// calendar without an end, links that grow by a folder on every page, filters
// that can be combined in any order.
const (
	maxAddress     = 2000 // bytes
	maxSegments    = 20   // of the path
	maxRepetitions = 3    // of a segment
	maxQueries     = 100  // different queries of a path
	minPattern     = 100  // addresses that differ in their numbers alone
)

// add adds an address to the queue, unless it is known, on another host, no page,
// or looks like a trap. A sitemap names pages that exist, so the limits of
// patterns do not apply to it.
func (f *frontier) add(u *url.URL, depth, pages int, fromSitemap bool) (added bool) {
	clean := normal(u)
	if len(f.Queue) >= maxQueue || !slices.Contains(f.Hosts, clean.Host) || !isVisitable(clean) || !f.see(sameAs(clean)) {
		return false
	}
	if !fromSitemap && f.isCrowded(clean, pages) {
		return false
	}
	f.Queue = append(f.Queue, target{Address: clean.String(), Depth: depth})
	return true
}

// isVisitable reports whether an address can be the address of a page.
func isVisitable(u *url.URL) bool {
	if (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || len(u.String()) > maxAddress {
		return false
	}
	segments := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(segments) > maxSegments {
		return false
	}
	count := map[string]int{}
	for _, segment := range segments {
		if count[segment]++; count[segment] >= maxRepetitions && segment != "" {
			return false
		}
	}
	return !hasNoText(strings.ToLower(path.Ext(u.Path)))
}

// hasNoText reports whether files with an extension hold no text to read.
func hasNoText(extension string) bool {
	switch extension {
	case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".heic", ".heif", ".svg", ".ico", ".bmp", ".tif", ".tiff",
		".mp3", ".mp4", ".m4a", ".m4v", ".aac", ".wav", ".ogg", ".opus", ".webm", ".avi", ".mov", ".mpg", ".mpeg", ".flac",
		".css", ".js", ".mjs", ".map", ".wasm", ".woff", ".woff2", ".ttf", ".otf", ".eot",
		".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".jar", ".whl", ".deb", ".rpm", ".apk",
		".exe", ".dmg", ".msi", ".iso", ".img", ".bin", ".torrent", ".rss", ".atom":
		return true
	}
	return false
}

// normal returns an address as it is requested: without its fragment, and without
// parameters that only track visitors.
func normal(u *url.URL) *url.URL {
	clean := *u
	clean.Fragment, clean.RawFragment = "", ""
	clean.Scheme, clean.Host = strings.ToLower(u.Scheme), hostOf(u)
	if clean.Path == "" {
		clean.Path = "/"
	}
	if session := strings.Index(strings.ToLower(clean.Path), ";jsessionid="); session >= 0 {
		clean.Path, clean.RawPath = clean.Path[:session], ""
	}
	clean.ForceQuery = false
	clean.RawQuery = withoutTracking(u.RawQuery)
	return &clean
}

// hostOf returns the host of an address without the usual port.
func hostOf(u *url.URL) string {
	usual := map[string]string{"http": ":80", "https": ":443"}[strings.ToLower(u.Scheme)]
	return strings.TrimSuffix(strings.ToLower(u.Host), usual)
}

// withoutTracking returns a query without the parameters that name a visitor, a
// session or the way to the page.
func withoutTracking(query string) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(strings.ToLower(part), "=")
		switch {
		case part == "", strings.HasPrefix(name, "utm_"):
		case slices.Contains([]string{"gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_ga", "phpsessid", "jsessionid", "sessionid", "sid"}, name):
		default:
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// sameAs returns a text that is equal for addresses of one page: it ignores the
// scheme and the order of the parameters.
func sameAs(u *url.URL) string {
	parameters := strings.Split(u.RawQuery, "&")
	slices.Sort(parameters)
	return hostOf(u) + u.EscapedPath() + "?" + strings.Join(parameters, "&")
}

// isCrowded counts an address, and reports whether enough addresses like it were
// counted before: the same path with another query, or the same address with
// other numbers.
func (f *frontier) isCrowded(u *url.URL, pages int) bool {
	if u.RawQuery != "" {
		f.Queries[u.EscapedPath()]++
		if f.Queries[u.EscapedPath()] > maxQueries {
			return true
		}
	}
	pattern, numbers := withoutNumbers(u.EscapedPath() + "?" + u.RawQuery)
	if !numbers {
		return false
	}
	f.Patterns[pattern]++
	return f.Patterns[pattern] > max(minPattern, pages/10)
}

// withoutNumbers replaces each number in a text by "#", and reports whether there
// was one.
func withoutNumbers(text string) (string, bool) {
	var b strings.Builder
	found, inNumber := false, false
	for _, r := range text {
		isDigit := r >= '0' && r <= '9'
		switch {
		case !isDigit:
			b.WriteRune(r)
		case !inNumber:
			b.WriteByte('#')
			found = true
		}
		inNumber = isDigit
	}
	return b.String(), found
}
