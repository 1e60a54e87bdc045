package api

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// documentBody is the body of POST /document.
type documentBody struct {
	Name       string          `json:"name,omitempty" doc:"Shown to readers. Default: made of the externalId or the address"`
	ExternalID string          `json:"externalId,omitempty" doc:"Your id of the document; the same one again is a new version"`
	Content    documentContent `json:"content" doc:"One of text, url and base64"`
	Tags       []string        `json:"tags,omitempty"`
	Metadata   map[string]any  `json:"metadata,omitempty"`
	Parser     string          `json:"parser,omitempty" enum:"crawler,model" doc:"crawler reads the text that is in the file, which is the default; model would have a model look at its pages: 501, not in this version"`
	Override   *struct {
		Splitter changeOf[knowledge.Splitter] `json:"textSplitter,omitempty"`
	} `json:"override,omitempty" doc:"Of the project's configuration, for this document"`
	Access         *accessBody `json:"access,omitempty" doc:"Default: the whole workspace; of a new version: as it was. Holds from the version's publication on"`
	ExternalUserID string      `json:"externalUserId,omitempty" maxLength:"256" doc:"The document is this end user's alone"`
	ConversationID string      `json:"conversationId,omitempty" maxLength:"256" doc:"The document belongs to this conversation alone"`
	ReplaceTags    bool        `json:"replaceTags,omitempty" doc:"Tags replace those of the version before. Default: they are added"`
}

type documentContent struct {
	Text      *string `json:"text,omitempty"`
	URL       *string `json:"url,omitempty" doc:"http or https; fetched by the ingestion"`
	Base64    *string `json:"base64,omitempty" doc:"A file"`
	MediaType string  `json:"mediaType,omitempty" maxLength:"200" doc:"Of the file. What it is, its bytes decide, then its name, then this; a charset counts where the text is not UTF-8"`
}

// check tells what is wrong with the body beyond its types, and gives the
// document its name.
func (b documentBody) check(nv *store.NewVersion) error {
	wrong := tagFields(b.Tags)
	wrong = append(wrong, metadataFields("body.metadata", b.Metadata)...)
	wrong = append(wrong, externalIDFields("body.externalId", b.ExternalID)...)
	if b.Access != nil {
		wrong = append(wrong, b.Access.fields("body.access")...)
	}
	if b.ExternalUserID != "" && b.ConversationID != "" {
		wrong = append(wrong, knowledge.Field{Location: "body.conversationId", Message: "cannot stand beside externalUserId: a document is one's or the other's"})
	}
	wrong = append(wrong, nameFieldsOf("body.externalUserId", b.ExternalUserID)...)
	if b.Override != nil {
		wrong = append(wrong, nv.Splitter.Fields("body.override.textSplitter")...)
	}
	if err := invalidFields(wrong); err != nil {
		return err
	}
	if b.Parser == "model" {
		return knowledge.Errorf(knowledge.CodeNeedsComponent, "this version does not have a model look at pages; leave parser out to have the text of the file read")
	}
	given := 0
	for _, content := range []*string{b.Content.Text, b.Content.URL, b.Content.Base64} {
		if content != nil {
			given++
		}
	}
	if given != 1 {
		return invalid("body.content", "must have one of text, url and base64")
	}
	var err error
	nv.Name, err = b.name()
	return err
}

// splitter gives the project's splitter with what the document overrides of it.
func (b documentBody) splitter(config knowledge.ProjectConfig) (knowledge.Splitter, error) {
	if b.Override != nil {
		change, err := json.Marshal(map[string]any{"ai": b.Override})
		if err == nil {
			config, err = config.With(change)
		}
		if err != nil {
			return knowledge.Splitter{}, fmt.Errorf("override the splitter: %w", err)
		}
	}
	return config.WithDefaults().AI.Splitter, nil
}

// audience tells the version who is to see it. A body that says nothing of that
// leaves it as it is, so that leaving access out never widens it.
func (b documentBody) audience(nv *store.NewVersion) {
	if b.Access != nil {
		nv.Access = new(b.Access.access())
	}
	if b.Access != nil || b.ExternalUserID != "" || b.ConversationID != "" {
		nv.ExternalUserID, nv.ConversationID = &b.ExternalUserID, &b.ConversationID
	}
}

func nameFieldsOf(location, name string) []knowledge.Field {
	if name == "" {
		return nil
	}
	wrong := nameFields(location, []string{name})
	for i := range wrong {
		wrong[i].Location = location
	}
	return wrong
}

func (b documentBody) name() (string, error) {
	name := b.Name
	if name == "" {
		name = b.ExternalID
	}
	if name == "" && b.Content.URL != nil {
		if u, err := url.Parse(*b.Content.URL); err == nil {
			name = nameOfURL(u)
		}
	}
	if name == "" {
		name = "untitled"
	}
	return cleanName(name, "body.name")
}

// checkAddress looks at the form of an address only; where it leads is a matter
// of whoever dials it.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxSourceAddress || hasControl(address):
		return invalid("body.content.url", "must be an address of at most %d bytes", maxSourceAddress)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return invalid("body.content.url", "must begin with http:// or https:// and name a host")
	case u.User != nil:
		return invalid("body.content.url", "must not hold a user name or password")
	}
	return nil
}
