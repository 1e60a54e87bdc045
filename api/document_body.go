package api

import (
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// documentBody is the body of POST /document.
type documentBody struct {
	Name           string          `json:"name,omitempty" doc:"Shown to readers. Default: the last part of the address or of the externalId, else untitled"`
	ExternalID     string          `json:"externalId,omitempty" doc:"Your id of the document; the same one again is a new version"`
	Content        documentContent `json:"content" doc:"One of text, url and base64"`
	Tags           []string        `json:"tags,omitempty"`
	Metadata       map[string]any  `json:"metadata,omitempty"`
	Parser         string          `json:"parser,omitempty" enum:"crawler,model" doc:"crawler reads the text that is in the file, which is the default. model has the chat model, which must be one that sees pictures, write down the text of the pages of a PDF, a picture, or a text or slides of an office program"`
	Override       *overrideBody   `json:"override,omitempty" doc:"Of the project's configuration, for this document"`
	Access         *accessBody     `json:"access,omitempty" doc:"Default: the whole workspace; of a new version: as it was. Holds from the version's publication on"`
	ExternalUserID string          `json:"externalUserId,omitempty" maxLength:"256" doc:"The document is this end user's alone; beside conversationId, says whose the conversation is"`
	ConversationID string          `json:"conversationId,omitempty" maxLength:"256" doc:"The document belongs to this conversation alone"`
	Force          *bool           `json:"force,omitempty" doc:"Make a new version even if the bytes and all settings are those of the newest version. With false the answer then says unchanged: true, and nothing is ingested; the content of a url is fetched all the same. Default: true"`
	ReplaceTags    bool            `json:"replaceTags,omitempty" doc:"Tags and metadata replace those of the version before. Default: they are added"`
}

type documentContent struct {
	Text      *string `json:"text,omitempty"`
	URL       *string `json:"url,omitempty" doc:"http or https; fetched by the ingestion"`
	Base64    *string `json:"base64,omitempty" doc:"A file"`
	MediaType string  `json:"mediaType,omitempty" maxLength:"200" doc:"Of the file. What it is, its bytes decide, then its name, then this; a charset counts where the text is not UTF-8"`
}

// document returns what the body says, as package intake takes it.
func (b documentBody) document() intake.Document {
	return intake.Document{
		Name:    b.Name,
		Content: intake.Content{Text: b.Content.Text, URL: b.Content.URL, Base64: b.Content.Base64, MediaType: b.Content.MediaType},
		Attributes: intake.Attributes{
			ExternalID: b.ExternalID, Tags: b.Tags, ReplaceTags: b.ReplaceTags, Force: b.Force == nil || *b.Force, Metadata: b.Metadata,
			Override: b.Override.override(b.Parser), Password: b.Override.password(), Access: b.Access.access(), ExternalUserID: b.ExternalUserID, ConversationID: b.ConversationID,
		},
	}
}

// overrideBody is the part of the project's configuration that a document
// overrides.
type overrideBody struct {
	Splitter  changeOf[knowledge.Splitter] `json:"textSplitter,omitempty"`
	Languages []string                     `json:"ocrLanguages,omitempty" maxItems:"8" doc:"Of the text in pictures, as tesseract names them: eng, deu, chi_sim. Default: eng"`
	Password  string                       `json:"password,omitempty" maxLength:"1024" doc:"Opens an encrypted file. Kept sealed until the version ends, and never shown"`
}

// override returns what the body overrides, beside the password. parser is the field
// beside the override.
func (o *overrideBody) override(parser string) knowledge.Override {
	if o == nil {
		return knowledge.Override{Parser: knowledge.Parser(parser)}
	}
	return knowledge.Override{Splitter: json.RawMessage(o.Splitter), Parser: knowledge.Parser(parser), Languages: o.Languages}
}

func (o *overrideBody) password() string {
	if o == nil {
		return ""
	}
	return o.Password
}

// accessBody is who may read a document, as a request says it.
type accessBody struct {
	Workspace bool     `json:"workspace,omitempty" doc:"Everybody in the workspace"`
	Users     []string `json:"users,omitempty"`
	Groups    []string `json:"groups,omitempty"`
}

// access returns nil where the request does not say who may read.
func (a *accessBody) access() *knowledge.Access {
	if a == nil {
		return nil
	}
	return &knowledge.Access{Workspace: a.Workspace, Users: a.Users, Groups: a.Groups}
}
