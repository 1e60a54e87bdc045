package mail

import (
	"cmp"
	"strings"

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
	if words := wordsOf(plain); words == 0 || float64(words) < fullText*float64(wordsOf(html)) {
		chosen = html
	}
	if len(chosen) == 0 {
		chosen = plain
	}
	m.bodies = append(m.bodies, chosen...)
}

// wordsOf counts the words in the texts of parts.
func wordsOf(parts []*enmime.Part) int {
	words := 0
	for _, p := range parts {
		for _, b := range blocksOf(p) {
			words += len(strings.Fields(b.Text))
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
