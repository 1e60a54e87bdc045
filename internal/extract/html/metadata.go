package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// metadataKeys lists for each key of the metadata the names of the meta elements that
// have it. The first one on the page counts.
var metadataKeys = map[string]string{
	"author":                 "author",
	"dc.creator":             "author",
	"dcterms.creator":        "author",
	"description":            "description",
	"og:description":         "description",
	"keywords":               "keywords",
	"og:site_name":           "publisher",
	"dc.publisher":           "publisher",
	"article:published_time": "created",
	"date":                   "created",
	"dc.date":                "created",
	"dcterms.created":        "created",
	"article:modified_time":  "modified",
	"dcterms.modified":       "modified",
}

// pageMetadata returns what a page says of itself, nil if that is nothing.
func pageMetadata(root *html.Node) map[string]string {
	found := map[string]string{}
	set := func(key, value string) {
		if value = strings.Join(strings.Fields(value), " "); key != "" && value != "" && found[key] == "" {
			found[key] = value
		}
	}
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Meta:
			name := attr(n, "name") + attr(n, "property")
			set(metadataKeys[name], content(n, "content"))
		case atom.Link:
			if attr(n, "rel") == "canonical" {
				set("url", content(n, "href"))
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// content returns an attribute as it is written.
func content(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
