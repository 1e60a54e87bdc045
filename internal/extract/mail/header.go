package mail

import (
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/jhillyerd/enmime/v2"
)

// languageOfWord matches the language that an encoded word can state behind its
// character set (RFC 2231): =?utf-8*de?Q?…?=.
var languageOfWord = regexp.MustCompile(`(=\?[\w.:-]+)\*[\w-]*\?`)

// headerNames are the headers that a reader sees, in order.
var headerNames = []string{"From", "To", "Cc", "Date", "Subject"}

// header returns a header as text on one line.
func header(h textproto.MIMEHeader, name string) string {
	value := languageOfWord.ReplaceAllString(strings.Join(h.Values(name), ", "), "$1?")
	if value == "" {
		return ""
	}
	if name != "Subject" && name != "Date" {
		if list, err := enmime.ParseAddressList(value); err == nil {
			return addresses(list)
		}
	}
	return strings.Join(strings.Fields(charset.Clean(readable([]byte(enmime.DecodeRFC2047(value))))), " ")
}

// addresses writes addresses as mail programs show them.
func addresses(list []*mail.Address) string {
	var out []string
	for _, a := range list {
		if a.Name == "" {
			out = append(out, a.Address)
		} else {
			out = append(out, a.Name+" <"+a.Address+">")
		}
	}
	return strings.Join(out, ", ")
}

// headers returns the headers of a message as metadata, and as the paragraph with which
// its text begins.
func headers(h textproto.MIMEHeader) (metadata map[string]string, block knowledge.Block) {
	metadata = map[string]string{}
	var lines []string
	for _, name := range headerNames {
		value := header(h, name)
		if value == "" {
			continue
		}
		lines = append(lines, name+": "+value)
		metadata[strings.ToLower(name)] = value
	}
	if at, err := mail.ParseDate(metadata["date"]); err == nil {
		metadata["date"] = at.Format(time.RFC3339)
	}
	return metadata, knowledge.Block{Kind: knowledge.BlockParagraph, Text: strings.Join(lines, "\n")}
}
