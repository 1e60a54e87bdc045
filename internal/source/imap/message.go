package imap

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/textproto"
	"slices"
	"strings"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"golang.org/x/net/html/charset"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The bounds of what is shown of a message.
const (
	maxSubject = 150 // characters
	maxKeyword = 50
	maxTags    = 20
)

// headerFields are the fields by which a message is known, and its thread.
func headerFields() *goimap.FetchItemBodySection {
	return &goimap.FetchItemBodySection{
		Specifier: goimap.PartSpecifierHeader, Peek: true,
		HeaderFields: []string{"Message-Id", "Date", "From", "Subject", "References", "In-Reply-To"},
	}
}

// object returns the object of a message in a mailbox with these numbers.
func (s *Source) object(m *imapclient.FetchMessageBuffer, validity uint32) source.Object {
	header := textproto.MIMEHeader{}
	if data := m.FindBodySection(headerFields()); data != nil {
		// After a broken line, the fields before it are used.
		header, _ = textproto.NewReader(bufio.NewReader(bytes.NewReader(data))).ReadMIMEHeader()
	}
	key := keyOf(header, m.RFC822Size)
	return source.Object{
		Key: key, ETag: key, Bytes: m.RFC822Size, MediaType: "message/rfc822", Modified: m.InternalDate, Name: nameOf(header.Get("Subject")),
		Tags: tagsOf(header, m.Flags), Ref: fmt.Sprintf("%d:%d", validity, m.UID),
		Address: strings.TrimRight(s.follow.Options.URL, "/") + "/" + s.follow.Options.Username + "/" + s.mailbox + "#" + key,
	}
}

// keyOf returns the key of a message, which is the same in each mailbox and after each
// renumbering. A message never changes, so the key is its etag too.
func keyOf(header textproto.MIMEHeader, size int64) string {
	h := sha256.New()
	for _, name := range []string{"Message-Id", "Date", "From", "Subject"} {
		fmt.Fprintf(h, "%q\n", strings.Join(header.Values(name), "\n"))
	}
	fmt.Fprint(h, size)
	return "message:" + hex.EncodeToString(h.Sum(nil)[:20])
}

// nameOf returns the name of a message with a subject.
func nameOf(subject string) string {
	words := mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
	if decoded, err := words.DecodeHeader(subject); err == nil {
		subject = decoded
	}
	clean := func(c rune) rune {
		if c == '/' || c == '\\' {
			return '_'
		}
		return c
	}
	name := []rune(strings.Join(strings.Fields(strings.Map(clean, strings.ToValidUTF8(subject, "?"))), " "))
	if len(name) > maxSubject {
		name = name[:maxSubject]
	}
	if len(name) == 0 {
		name = []rune("no subject")
	}
	return string(name) + ".eml"
}

// tagsOf returns the tags of a message: flagged, its keywords, and one for its thread.
func tagsOf(header textproto.MIMEHeader, flags []goimap.Flag) []string {
	tags := []string{}
	if thread := threadOf(header); thread != "" {
		tags = append(tags, "thread:"+thread)
	}
	for _, flag := range flags {
		word := string(flag)
		switch {
		case strings.EqualFold(word, string(goimap.FlagFlagged)):
			tags = append(tags, "flagged")
		case strings.HasPrefix(word, `\`) || strings.HasPrefix(word, "$") || len(word) > maxKeyword || strings.TrimSpace(word) == "" || knowledge.HasControl(word):
			// Of the server and of programs.
		default:
			tags = append(tags, word)
		}
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	return tags[:min(len(tags), maxTags)]
}

// threadOf returns a short name of the thread of a message: of the message that began it.
func threadOf(header textproto.MIMEHeader) string {
	for _, name := range []string{"References", "In-Reply-To", "Message-Id"} {
		if ids := strings.Fields(header.Get(name)); len(ids) > 0 {
			sum := sha256.Sum256([]byte(ids[0]))
			return hex.EncodeToString(sum[:6])
		}
	}
	return ""
}
