package mail

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/jhillyerd/enmime/v2"
)

// message is what the parts of a message are for.
type message struct {
	bodies      []*enmime.Part // texts that are shown one after another
	pictures    []*enmime.Part // that belong to the text
	attachments []*enmime.Part
	isEncrypted bool
}

// add sorts a part and the parts inside it.
func (m *message) add(p *enmime.Part) {
	kind := contentType(p)
	switch {
	case kind == "multipart/encrypted":
		m.isEncrypted = true
	case kind == "multipart/alternative":
		m.choose(p)
	case p.FirstChild != nil:
		for part := p.FirstChild; part != nil; part = part.NextSibling {
			m.add(part)
		}
	case isEncrypted(p, kind):
		m.isEncrypted = true
	case strings.HasPrefix(kind, "multipart/") && len(p.Content) == 0, isSignature(kind):
	case isText(kind) && p.Disposition != "attachment" && p.FileName == "":
		m.attachments = append(m.attachments, detach(p, kind)...)
		m.bodies = append(m.bodies, p)
	case strings.HasPrefix(kind, "image/") && p.Disposition != "attachment":
		m.pictures = append(m.pictures, p)
	default:
		m.attachments = append(m.attachments, p)
	}
}

// fullText is the share of the words of an HTML part that the text part beside it has
// at least, unless it only says that the message is HTML.
const fullText = 0.3

// choose adds one of several forms of the same text: the plain one, or HTML if the
// plain one is empty or says far less. Everything else in them is added.
func (m *message) choose(p *enmime.Part) {
	var plain, html []*enmime.Part
	for part := p.FirstChild; part != nil; part = part.NextSibling {
		var form message
		form.add(part)
		for _, body := range form.bodies {
			if contentType(body) == "text/html" {
				html = append(html, body)
			} else {
				plain = append(plain, body)
			}
		}
		m.pictures = append(m.pictures, form.pictures...)
		m.attachments = append(m.attachments, form.attachments...)
		m.isEncrypted = m.isEncrypted || form.isEncrypted
	}
	chosen := plain
	if saysLess(plain, html) {
		chosen = html
	}
	if len(chosen) == 0 {
		chosen = plain
	}
	m.bodies = append(m.bodies, chosen...)
}

// saysLess reports whether the text parts say far less than the HTML parts beside them, or only that a
// mail program should show HTML: of such a sentence the HTML has few words.
func saysLess(plain, html []*enmime.Part) bool {
	words, shown := wordsOf(plain), wordsOf(html)
	if len(words) == 0 || float64(len(words)) < fullText*float64(len(shown)) {
		return true
	}
	if len(words) > longestHint || len(shown) == 0 {
		return false
	}
	common := 0
	for _, word := range words {
		if slices.Contains(shown, word) {
			common++
		}
	}
	return float64(common) < fullText*float64(len(words))
}

// longestHint is the number of words that a hint to the HTML has at most.
const longestHint = 40

// wordsOf returns the words in the texts of parts, in lower case and without signs around them.
func wordsOf(parts []*enmime.Part) (words []string) {
	for _, p := range parts {
		for _, b := range blocksOf(p) {
			for word := range strings.FieldsSeq(b.Text) {
				words = append(words, strings.ToLower(strings.TrimFunc(word, unicode.IsPunct)))
			}
		}
	}
	return words
}

// contentType returns the media type of a part in lower case. A part without one is
// text.
func contentType(p *enmime.Part) string {
	return cmp.Or(strings.ToLower(p.ContentType), "text/plain")
}

func isText(kind string) bool {
	switch kind {
	case "text/plain", "text/html", "text/enriched", "message/delivery-status", "text/rfc822-headers":
		return true
	}
	return false
}

func isSignature(kind string) bool {
	switch kind {
	case "application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature":
		return true
	}
	return false
}

func isEncrypted(p *enmime.Part, kind string) bool {
	if kind != "application/pkcs7-mime" && kind != "application/x-pkcs7-mime" {
		return false
	}
	return !strings.Contains(strings.ToLower(p.Header.Get("Content-Type")), "signed-data")
}
