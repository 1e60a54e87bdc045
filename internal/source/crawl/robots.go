package crawl

import (
	"bufio"
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// maxRobots is the part of a robots.txt that is read, in bytes, as RFC 9309 says.
const maxRobots = 500 << 10

// maxCrawlDelay is the longest Crawl-delay that is obeyed.
const maxCrawlDelay = 2 * time.Minute

// robots returns the rules of the host of an address. A host without a robots.txt
// allows everything. One that cannot be reached allows nothing: its error is
// returned.
func (v *visitor) robots(ctx context.Context, u *url.URL) (*rules, error) {
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
	parsed := &rules{group: parseRobots(text)}
	if v.rules == nil {
		v.rules = map[string]*rules{}
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
	text, err := web.ReadAll(r.Body, maxRobots)
	if knowledge.IsCode(err, knowledge.CodeTooLarge) {
		return "", knowledge.Errorf(knowledge.CodeForbidden, "the robots.txt of %q is longer than %d bytes, so its rules cannot be known", u.Host, maxRobots)
	}
	return string(text), err
}

// rules are what a robots.txt says to Cairn.
type rules struct{ group *robotstxt.Group }

// allows reports whether an address may be requested.
func (r *rules) allows(u *url.URL) bool {
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return r.group == nil || r.group.Test(path)
}

// delay returns the time between two requests.
func (r *rules) delay(least time.Duration) time.Duration {
	if r.group == nil {
		return least
	}
	return max(least, min(r.group.CrawlDelay, maxCrawlDelay))
}

// parseRobots returns the rules of a robots.txt for Cairn, nil if there are none.
// Lines that it does not know are left out, because the library would refuse the
// whole file for one of them.
func parseRobots(text string) *robotstxt.Group {
	var kept strings.Builder
	for line := range lines(text) {
		name, value := directive(line)
		switch name {
		case "user-agent", "allow", "disallow":
			kept.WriteString(name + ": " + value + "\n")
		case "crawl-delay":
			if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < 1e6 {
				kept.WriteString(name + ": " + value + "\n")
			}
		}
	}
	parsed, err := robotstxt.FromString(kept.String())
	if err != nil {
		return nil // as for a site without a robots.txt
	}
	return parsed.FindGroup(web.Agent)
}

// sitemapsIn returns the sitemaps that a robots.txt names.
func sitemapsIn(text string) []string {
	var found []string
	for line := range lines(text) {
		if name, value := directive(line); name == "sitemap" && value != "" {
			found = append(found, value)
		}
	}
	return found
}

func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		scanner := bufio.NewScanner(strings.NewReader(text))
		scanner.Buffer(nil, maxRobots)
		for scanner.Scan() && yield(scanner.Text()) {
		}
	}
}

// directive returns the name, in lower case, and the value of a line.
func directive(line string) (name, value string) {
	line, _, _ = strings.Cut(strings.TrimPrefix(line, "\ufeff"), "#")
	name, value, _ = strings.Cut(line, ":")
	return strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
}
