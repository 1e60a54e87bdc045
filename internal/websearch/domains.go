package websearch

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Domains are domains of web pages, in the form that ParseDomains returns.
type Domains []string

// maxDomains bounds a list of domains.
const maxDomains = 100

// ParseDomains reads a list of domains, such as example.com, which stands for its
// sub-domains too. An address stands for its host. location is the location of the list in a
// request.
func ParseDomains(location string, given []string) (Domains, error) {
	if len(given) > maxDomains {
		return nil, knowledge.Invalid(location, "must have at most %d domains", maxDomains)
	}
	domains := make(Domains, 0, len(given))
	for _, text := range given {
		d, ok := parseDomain(text)
		if !ok {
			return nil, knowledge.Invalid(location, "must be names of domains, such as example.com; %q is none", text)
		}
		domains = append(domains, d)
	}
	return domains, nil
}

func parseDomain(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil {
		return "", false
	}
	return hostOf(strings.TrimSuffix(strings.TrimPrefix(u.Hostname(), "*."), "."))
}

// hostOf returns a host as it is resolved: in lower case, and in ASCII.
func hostOf(host string) (string, bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String(), ip.Zone() == ""
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil || ascii == "" || strings.HasSuffix(ascii, ".") || strings.Contains(ascii, "..") || strings.ContainsAny(ascii, " %:/") {
		return "", false
	}
	return ascii, true
}

// Contain reports whether a page lies in one of the domains: on its host or on a
// sub-domain of it, at any port. An address with a user's name, or with a host that is
// not written as usual, lies in none.
func (d Domains) Contain(u *url.URL) bool {
	host, ok := hostOf(u.Hostname())
	if !ok || u.User != nil {
		return false
	}
	return slices.ContainsFunc(d, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain) && !isAddress(domain)
	})
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Rules say which pages may be used.
type Rules struct {
	Only  []Domains // pages lie in a domain of each of these lists
	Never Domains
	Bonus Domains // their pages are preferred
}

// bonus is added to the score of a page in a preferred domain, before all scores are
// scaled to at most 1.
const bonus = 0.2

// Allow reports whether a page may be used: it is at an address by http or https without
// a user's name, and the lists have nothing against it.
func (r Rules) Allow(address string) bool {
	u, err := url.Parse(address)
	return err == nil && r.AllowURL(u)
}

// AllowURL is Allow.
func (r Rules) AllowURL(u *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return false
	}
	// A trailing dot names the same host, which must not be outside of Never.
	plain := *u
	plain.Host = strings.TrimSuffix(u.Hostname(), ".")
	if r.Never.Contain(&plain) {
		return false
	}
	return !slices.ContainsFunc(r.Only, func(d Domains) bool { return !d.Contain(u) })
}

// Score returns the score of a page, which is at most 1, with its bonus.
func (r Rules) Score(address string, score float64) float64 {
	if len(r.Bonus) == 0 {
		return score
	}
	if u, err := url.Parse(address); err == nil && r.Bonus.Contain(u) {
		score += bonus
	}
	return score / (1 + bonus)
}

// operators returns the restriction to the domains as search engines read it.
func (d Domains) operators() string {
	switch len(d) {
	case 0:
		return ""
	case 1:
		return " site:" + d[0]
	}
	return " (site:" + strings.Join(d, " OR site:") + ")"
}
