// Package websearch asks a search engine for web pages: SearXNG, Brave, Serper or
// Google, each by its plain REST interface. It keeps results to the domains that may be
// used. It does not fetch the pages; package scrape does.
package websearch
