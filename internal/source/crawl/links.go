package crawl

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/cairn-rag/cairn/internal/source/web"
)

// maxLinks is the largest number of links of a page that are followed.
const maxLinks = 5000

// maxToken is the largest number of bytes of a tag, of whose attributes each takes some 80
// bytes of memory, and of the text between two tags, such as a script.
const maxToken = 2 << 20

// found is what a page says of itself and of others.
type found struct {
	base      *url.URL
	links     []*url.URL
	canonical *url.URL // nil = none
	noIndex   bool     // not to be kept
	noFollow  bool     // its links are not to be followed
}

// read returns what a page with an address and a header says. It reads the tags
// one after the other and builds no tree.
func read(address *url.URL, header http.Header, body []byte) found {
	f := found{base: address}
	for _, value := range header.Values("X-Robots-Tag") {
		f.directives(value, true)
	}
	for tags := newTokenizer(body); ; {
		switch tags.Next() {
		case html.ErrorToken:
			return f
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tags.Token()
			f.tag(token)
		}
	}
}

// newTokenizer returns a reader of tags, which ends at the first one, or the first text,
// of more than maxToken bytes.
func newTokenizer(data []byte) *html.Tokenizer {
	tags := html.NewTokenizer(bytes.NewReader(data))
	tags.SetMaxBuf(maxToken)
	return tags
}

func (f *found) tag(token html.Token) {
	switch token.DataAtom {
	case atom.Base:
		if u := f.resolve(attribute(token, "href")); u != nil {
			f.base = u
		}
	case atom.A, atom.Area:
		if !hasWord(attribute(token, "rel"), "nofollow") {
			f.link(attribute(token, "href"))
		}
	case atom.Iframe, atom.Frame:
		f.link(attribute(token, "src"))
	case atom.Link:
		if hasWord(attribute(token, "rel"), "canonical") {
			f.canonical = f.resolve(attribute(token, "href"))
		}
	case atom.Meta:
		f.meta(token)
	}
}

func (f *found) meta(token html.Token) {
	content := attribute(token, "content")
	switch name := strings.ToLower(attribute(token, "name")); {
	case name == "robots" || name == web.Agent:
		f.directives(content, false)
	case strings.EqualFold(attribute(token, "http-equiv"), "refresh"):
		if _, address, ok := strings.Cut(content, "="); ok { // "0; url=…"
			f.link(strings.Trim(strings.TrimSpace(address), `'"`))
		}
	}
}

// directives reads "noindex, nofollow". In a header they can begin with the name
// of the robot that they are for.
func (f *found) directives(value string, inHeader bool) {
	if robot, rest, ok := strings.Cut(value, ":"); inHeader && ok && !strings.Contains(robot, ",") {
		if !strings.EqualFold(strings.TrimSpace(robot), web.Agent) {
			return
		}
		value = rest
	}
	for word := range strings.SplitSeq(strings.ToLower(value), ",") {
		switch strings.TrimSpace(word) {
		case "noindex":
			f.noIndex = true
		case "nofollow":
			f.noFollow = true
		case "none":
			f.noIndex, f.noFollow = true, true
		}
	}
}

func (f *found) link(address string) {
	if len(f.links) >= maxLinks {
		return
	}
	if u := f.resolve(address); u != nil {
		f.links = append(f.links, u)
	}
}

// resolve returns the whole address of a link, nil for one that is not to a page.
func (f *found) resolve(address string) *url.URL {
	address = strings.TrimSpace(address)
	if address == "" || strings.HasPrefix(address, "#") {
		return nil
	}
	u, err := f.base.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil
	}
	return u
}

func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasWord(list, word string) bool {
	for part := range strings.FieldsSeq(list) {
		if strings.EqualFold(part, word) {
			return true
		}
	}
	return false
}

// isPage reports whether a media type is a kind of page, whose links are read.
func isPage(mediaType string) bool {
	base, _, _ := mime.ParseMediaType(mediaType)
	return base == "text/html" || base == "application/xhtml+xml"
}

// isDocument reports whether a media type is a kind of document that a page can
// link to, such as a PDF.
func isDocument(mediaType string) bool {
	base, _, _ := mime.ParseMediaType(mediaType)
	switch base {
	case "application/pdf", "text/plain", "text/markdown", "text/csv", "text/tab-separated-values", "application/rtf", "text/rtf",
		"application/msword", "application/epub+zip":
		return true
	}
	return strings.HasPrefix(base, "application/vnd.openxmlformats-officedocument.") || strings.HasPrefix(base, "application/vnd.oasis.opendocument.") ||
		strings.HasPrefix(base, "application/vnd.ms-")
}
