package intake

import (
	"fmt"
	"net/url"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// maxAddress bounds the address of a document, and maxPassword the password of its
// file, in bytes.
const (
	maxAddress  = 2048
	maxPassword = 1024
)

// Run is the run that a request starts.
type Run struct {
	ID string
	// Repeated reports that the same request came before: what it did is found by
	// ID, and only the rest is done.
	Repeated bool
	// Later starts the run with the priority of bulk work, so that uploads pass it.
	Later bool
}

// Document is one document as its door read it.
type Document struct {
	Name    string // "" = the last part of the address, else of the external id, else "untitled"
	Content Content
	Attributes
}

// Content is the bytes of a document: one of Text, URL and Base64.
type Content struct {
	Text      *string
	URL       *string // http or https; the ingestion fetches it
	Base64    *string // a file in standard base64
	MediaType string  // as the caller declares it, "" = it does not
}

// Attributes describes the documents of a request.
type Attributes struct {
	ExternalID  string // the caller's own id; the same one again is a new version
	Tags        []string
	ReplaceTags bool // the tags and metadata replace the tags and metadata of the version before; otherwise they are added
	Metadata    map[string]any
	// Classification is how confidential the document is; nil leaves it as it was, and a new
	// document without one.
	Classification *string
	// Subjects are the people whom the document is about; nil leaves them as they were.
	Subjects []string
	Override knowledge.Override
	Password string // opens an encrypted file
	// Force makes a new version even if nothing of it would differ from the newest.
	Force bool
	// Access is who may read the document; nil leaves it as it was, and a new
	// document to the whole workspace.
	Access *knowledge.Access
	// ExternalUserID makes the document this end user's alone, and ConversationID
	// that conversation's alone. Beside a ConversationID the ExternalUserID says
	// whose the conversation is.
	ExternalUserID string
	ConversationID string
}

func (a Attributes) check(levels knowledge.Levels) error {
	wrong := knowledge.TagFields("body.tags", a.Tags)
	wrong = append(wrong, knowledge.MetadataFields("body.metadata", a.Metadata)...)
	wrong = append(wrong, knowledge.ExternalIDFields("body.externalId", a.ExternalID)...)
	if a.Access != nil {
		wrong = append(wrong, a.Access.Fields("body.access")...)
	}
	if a.ExternalUserID != "" {
		wrong = append(wrong, knowledge.UserFields("body.externalUserId", a.ExternalUserID)...)
	}
	if a.Classification != nil {
		wrong = append(wrong, levels.Fields("body.classification", *a.Classification)...)
	}
	wrong = append(wrong, knowledge.SubjectFields("body.subjects", a.Subjects)...)
	wrong = append(wrong, a.Override.Fields("body.override")...)
	if len(a.Password) > maxPassword {
		wrong = append(wrong, knowledge.Field{Location: "body.override.password", Message: fmt.Sprintf("must have at most %d bytes", maxPassword)})
	}
	return knowledge.InvalidFields(wrong)
}

// checkPages refuses a file without pages that a model is to look at.
func checkPages(nv store.NewVersion) error {
	if f, ok := extract.FormatOf(nv.MediaType); ok && nv.Override.Parser == knowledge.ParserModel && !f.HasPages() {
		return extract.NoPages(f)
	}
	return nil
}

// describe sets the attributes of a version. Fields that the request leaves out
// stay nil in it, so that leaving access out never widens it.
func (a Attributes) describe(nv *store.NewVersion) {
	nv.ExternalID, nv.Tags, nv.ReplaceTags, nv.Metadata, nv.Access = a.ExternalID, a.Tags, a.ReplaceTags, a.Metadata, a.Access
	nv.Classification, nv.Subjects, nv.Override, nv.SkipUnchanged = a.Classification, a.Subjects, a.Override, !a.Force
	switch {
	case a.ConversationID != "": // the user only says whose conversation it is
		nv.ExternalUserID, nv.ConversationID = new(""), &a.ConversationID
	case a.Access != nil || a.ExternalUserID != "":
		nv.ExternalUserID, nv.ConversationID = &a.ExternalUserID, new("")
	}
}

func (c Content) check() error {
	given := 0
	for _, content := range []*string{c.Text, c.URL, c.Base64} {
		if content != nil {
			given++
		}
	}
	if given != 1 {
		return knowledge.Invalid("body.content", "must have one of text, url and base64")
	}
	if c.URL != nil {
		return checkAddress(*c.URL)
	}
	return nil
}

// checkAddress checks the form of an address only; safedial decides at the
// connection which hosts may be reached.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxAddress || knowledge.HasControl(address):
		return knowledge.Invalid("body.content.url", "must be an address of at most %d bytes", maxAddress)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return knowledge.Invalid("body.content.url", "must begin with http:// or https:// and name a host")
	case u.User != nil:
		return knowledge.Invalid("body.content.url", "must not hold a user name or password")
	}
	return nil
}
