package knowledge

import (
	"fmt"
	"slices"
)

// WebProvider is a search engine for the web.
type WebProvider string

// The search engines.
const (
	SearXNG WebProvider = "searxng"
	Brave   WebProvider = "brave"
	Serper  WebProvider = "serper"
	Google  WebProvider = "google" // Custom Search, which ends on 1 January 2027
)

// WebType is what a search of the web looks for.
type WebType string

// The types of a search. Not every provider has all of them.
const (
	WebPages    WebType = "search"
	WebNews     WebType = "news"
	WebImages   WebType = "images"
	WebVideos   WebType = "videos"
	WebPlaces   WebType = "places"
	WebScholar  WebType = "scholar"
	WebPatents  WebType = "patents"
	WebShopping WebType = "shopping"
)

// Has reports whether the provider has searches of a type; "" is WebPages.
func (p WebProvider) Has(t WebType) bool {
	switch p {
	case SearXNG, Serper:
		return t == "" || slices.Contains([]WebType{WebPages, WebNews, WebImages, WebVideos, WebPlaces, WebScholar, WebPatents, WebShopping}, t)
	case Brave:
		return t == "" || slices.Contains([]WebType{WebPages, WebNews, WebImages, WebVideos, WebPlaces, WebPatents}, t)
	case Google:
		return t == "" || slices.Contains([]WebType{WebPages, WebImages, WebPatents}, t)
	}
	return false
}

// WebRequest is what a caller of web_search asks for beside the query.
type WebRequest struct {
	Since string   `json:"since,omitempty"` // hour, day, week, month or year; "" = any time
	Only  []string `json:"only,omitempty"`  // domains; empty = all
}

// Since returns the time that DateRange names in a word, "" for none.
func (c WebSearchConfig) Since() string { return WebSince(c.DateRange) }

// WebSince returns a time in a word: "qdr:d" and "day" are "day". "none" and "" are "".
func WebSince(text string) string {
	for _, word := range []string{"hour", "day", "week", "month", "year"} {
		if text == word || text == "qdr:"+word[:1] {
			return word
		}
	}
	return ""
}

// ProviderFields returns what is wrong with the configuration for an instance whose search
// engine is configured, as found at location.
func (c WebSearchConfig) ProviderFields(location string, configured WebProvider) []Field {
	if configured == "" {
		return nil // an instance without the tool refuses it as a whole
	}
	var wrong []Field
	if c.Provider != "" && WebProvider(c.Provider) != configured {
		wrong = append(wrong, Field{location + ".provider", fmt.Sprintf("must be %s, the instance's web_search.provider", configured)})
	}
	if !configured.Has(WebType(c.Type)) {
		wrong = append(wrong, Field{location + ".type", fmt.Sprintf("is not a search that %s has", configured)})
	}
	return wrong
}
