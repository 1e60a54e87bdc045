package api

import (
	"encoding/json"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// documentBody is the body of POST /document.
type documentBody struct {
	Name                string          `json:"name,omitempty" doc:"The name that readers see. Default: the last part of the URL or of the externalId, else untitled"`
	ExternalID          string          `json:"externalId,omitempty" doc:"Your id of the document; an upload with an existing one becomes a new version"`
	Content             documentContent `json:"content" doc:"One of text, url and base64"`
	Tags                []string        `json:"tags,omitempty"`
	Metadata            map[string]any  `json:"metadata,omitempty"`
	Classification      *string         `json:"classification,omitempty" maxLength:"128" doc:"How confidential the document is: a level of the instance, such as public, internal, confidential or restricted. Readers need a clearance of that level. Default: none, which counts as internal, or for a new version the classification of the document"`
	Subjects            []string        `json:"subjects,omitempty" maxItems:"64" doc:"The people whom the document is about, by the names that consents give them. When one of them withdraws a consent, the document is removed. Default: none, or for a new version those of the document"`
	Parser              string          `json:"parser,omitempty" enum:"crawler,model" doc:"crawler: extract the text of the file. model: let the chat model, which must accept images, transcribe the pages of a PDF, a picture or an office document. Default: crawler"`
	Override            *overrideBody   `json:"override,omitempty" doc:"Settings of the project to override for this document"`
	Access              *accessBody     `json:"access,omitempty" doc:"Who may read the document. Default: the whole workspace, or for a new version the access of the document. It takes effect when the version is published"`
	ExternalUserID      string          `json:"externalUserId,omitempty" maxLength:"256" doc:"Only this end user of your application can read the document; with conversationId, the owner of the conversation"`
	ExternalUserIDSnake string          `json:"external_user_id,omitempty" maxLength:"256" doc:"The same as externalUserId"`
	ConversationID      string          `json:"conversationId,omitempty" maxLength:"256" doc:"Only this conversation can read the document"`
	Force               *bool           `json:"force,omitempty" doc:"Make a new version even if the file and all settings are equal to the newest version. With false, nothing is ingested then, and the answer has unchanged: true; a url is fetched in any case. Default: true"`
	ReplaceTags         bool            `json:"replaceTags,omitempty" doc:"Tags and metadata replace the existing ones. Default: they are added"`
}

type documentContent struct {
	Text      *string `json:"text,omitempty"`
	URL       *string `json:"url,omitempty" doc:"An http or https URL; the server fetches it"`
	Base64    *string `json:"base64,omitempty" doc:"A file"`
	MediaType string  `json:"mediaType,omitempty" maxLength:"200" doc:"The media type of the file. The type is detected by content, then by name, then by this; its charset is used if the text is not UTF-8"`
}

// document returns what the body of a principal's request says, as package intake takes it.
func (b documentBody) document(p knowledge.Principal) (intake.Document, error) {
	customer, err := edge.CustomerFields{ExternalUserID: b.ExternalUserID, ExternalUserIDSnake: b.ExternalUserIDSnake}.Customer(p)
	if err != nil {
		return intake.Document{}, err
	}
	classification, err := b.Override.classification(b.Classification)
	if err != nil {
		return intake.Document{}, err
	}
	subjects, err := b.Override.subjects(b.Subjects)
	if err != nil {
		return intake.Document{}, err
	}
	return intake.Document{
		Name:    b.Name,
		Content: intake.Content{Text: b.Content.Text, URL: b.Content.URL, Base64: b.Content.Base64, MediaType: b.Content.MediaType},
		Attributes: intake.Attributes{
			ExternalID: b.ExternalID, Tags: b.Tags, ReplaceTags: b.ReplaceTags, Force: b.Force == nil || *b.Force, Metadata: b.Metadata, Classification: classification, Subjects: subjects,
			Override: b.Override.override(b.Parser), Password: b.Override.password(), Access: b.Access.access(), ExternalUserID: customer, ConversationID: b.ConversationID,
		},
	}, nil
}

// overrideBody is the part of the project's configuration that a document
// overrides.
type overrideBody struct {
	Splitter  changeOf[knowledge.Splitter] `json:"textSplitter,omitempty"`
	Languages []string                     `json:"ocrLanguages,omitempty" maxItems:"8" doc:"Languages of the text in pictures, by the names of tesseract: eng, deu, chi_sim. Default: eng"`
	// Classification is the same as the field beside the override.
	Classification *string `json:"classification,omitempty" maxLength:"128" doc:"The same as classification beside the override"`
	// Subjects is the same as the field beside the override.
	Subjects []string `json:"subjects,omitempty" maxItems:"64" doc:"The same as subjects beside the override"`
	Password string   `json:"password,omitempty" maxLength:"1024" doc:"The password of an encrypted file. It is stored encrypted until the ingestion ends, and never shown"`
}

// override returns what the body overrides, beside the password. parser is the field
// beside the override.
func (o *overrideBody) override(parser string) knowledge.Override {
	if o == nil {
		return knowledge.Override{Parser: knowledge.Parser(parser)}
	}
	return knowledge.Override{Splitter: json.RawMessage(o.Splitter), Parser: knowledge.Parser(parser), Languages: o.Languages}
}

// classification returns the classification of an upload, which may stand in the override or
// beside it. Two that differ are CodeInvalid.
func (o *overrideBody) classification(beside *string) (*string, error) {
	switch {
	case o == nil || o.Classification == nil:
		return beside, nil
	case beside != nil && *beside != *o.Classification:
		return nil, knowledge.Invalid("body.override.classification", "differs from classification beside it: give one of them")
	}
	return o.Classification, nil
}

// subjects returns the subjects of an upload, which may stand in the override or beside it. Both
// together are CodeInvalid.
func (o *overrideBody) subjects(beside []string) ([]string, error) {
	switch {
	case o == nil || o.Subjects == nil:
		return beside, nil
	case beside != nil:
		return nil, knowledge.Invalid("body.override.subjects", "must not be given with subjects beside it")
	}
	return o.Subjects, nil
}

func (o *overrideBody) password() string {
	if o == nil {
		return ""
	}
	return o.Password
}

// accessBody is who may read a document, as a request says it.
type accessBody struct {
	Workspace bool     `json:"workspace,omitempty" doc:"Everybody in the workspace may read the document"`
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
