package crawl

import (
	"context"
	"net/url"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// robots returns the rules of the host of an address. A host without a robots.txt
// allows everything. One that cannot be reached allows nothing: its error is
// returned.
func (v *visitor) robots(ctx context.Context, u *url.URL) (*web.Rules, error) {
	host := hostOf(u)
	if r := v.rules[host]; r != nil {
		return r, nil
	}
	text, known := v.frontier.Robots[host]
	if !known {
		var err error
		if text, err = v.fetchRobots(ctx, u); err != nil {
			return nil, err
		}
		v.frontier.Robots[host] = text
		v.frontier.addSitemaps(sitemapsIn(text)...)
	}
	parsed := web.ParseRobots(text)
	if v.rules == nil {
		v.rules = map[string]*web.Rules{}
	}
	v.rules[host] = parsed
	return parsed, nil
}

func (v *visitor) fetchRobots(ctx context.Context, u *url.URL) (string, error) {
	address := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}).String()
	r, err := v.client.Fetch(ctx, web.Request{Address: address, Delay: v.delay, Timeout: pageTimeout})
	if web.IsGone(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := web.ReadAll(r.Body, web.MaxRobots)
	if knowledge.IsCode(err, knowledge.CodeTooLarge) {
		return "", knowledge.Errorf(knowledge.CodeForbidden, "the robots.txt of %q is longer than %d bytes, so its rules cannot be known", u.Host, web.MaxRobots)
	}
	return string(text), err
}

// sitemapsIn returns the sitemaps that a robots.txt names.
func sitemapsIn(text string) []string {
	var found []string
	for name, value := range web.Directives(text) {
		if name == "sitemap" && value != "" {
			found = append(found, value)
		}
	}
	return found
}
