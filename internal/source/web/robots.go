package web

import (
	"bufio"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
)

// MaxRobots is the part of a robots.txt that is read, in bytes, as RFC 9309 says.
const MaxRobots = 500 << 10

// maxCrawlDelay is the longest Crawl-delay that is obeyed.
const maxCrawlDelay = 2 * time.Minute

// Rules are what a robots.txt says to Cairn.
type Rules struct{ group *robotstxt.Group }

// ParseRobots returns the rules of a robots.txt. Lines that it does not know are left out,
// because the library would refuse the whole file for one of them.
func ParseRobots(text string) *Rules {
	var kept strings.Builder
	for name, value := range Directives(text) {
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
		return &Rules{} // as for a site without a robots.txt
	}
	return &Rules{group: parsed.FindGroup(Agent)}
}

// Allow reports whether an address may be requested.
func (r *Rules) Allow(u *url.URL) bool {
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return r.group == nil || r.group.Test(path)
}

// Delay returns the time between two requests, at least least.
func (r *Rules) Delay(least time.Duration) time.Duration {
	if r.group == nil {
		return least
	}
	return max(least, min(r.group.CrawlDelay, maxCrawlDelay))
}

// Directives yields the names, in lower case, and the values of the lines of a robots.txt.
func Directives(text string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		scanner := bufio.NewScanner(strings.NewReader(text))
		scanner.Buffer(nil, MaxRobots)
		for scanner.Scan() {
			line, _, _ := strings.Cut(strings.TrimPrefix(scanner.Text(), "\ufeff"), "#")
			name, value, _ := strings.Cut(line, ":")
			if !yield(strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)) {
				return
			}
		}
	}
}
