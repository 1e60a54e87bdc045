package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// accessView is whether a search of a reader shows a document, and why.
type accessView struct {
	Allowed bool               `json:"allowed" doc:"A search of the reader shows passages of the document"`
	Because []accessReasonView `json:"because" doc:"The rules, in the order in which they were applied. A search shows the document if none of them denies it"`
}

type accessReasonView struct {
	Kind   access.ReasonKind `json:"kind" example:"group" doc:"key, maker (a key that made the key), permission (that a key lacks), member, workspace, project, removal, status, version, classification, grant (one that denies), then what of the access list reaches the reader: everyone, user, group, external_user, conversation, and grant (one that allows), or access if nothing does. hold and scope decide about other things than a search. More kinds may come"`
	ID     string            `json:"id" example:"legal" doc:"What the rule is about: an id, a name or a status"`
	Effect access.Effect     `json:"effect" enum:"allow,deny,none"`
	Detail string            `json:"detail" example:"the access list has the group \"legal\"" doc:"A sentence for people"`
	Values map[string]string `json:"values,omitempty" doc:"Further names in the sentence, for a sentence in another language. member: groups, and project if it is for that one alone. project: the one that holds the reader. grant: subject_kind (user, group, project), subject, object_kind (document, tag, project), object, expires_at, reason. More names may come"`
}

// accessRoutes holds the route that explains who sees a document.
type accessRoutes struct {
	explainer *access.Explainer
}

func (ar *accessRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "explain-access", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/access/explain",
		Summary: "Explain whether somebody sees a document", Tags: []string{"documents"},
		Description: "Applies the rules of a search to a document and a reader: a person with their groups, an external user, or an API key. " +
			"Needs the permission access.read for the project of the document.",
	}}, ar.explain)
}

func (ar *accessRoutes) explain(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	DocumentID   string   `query:"document_id" required:"true" minLength:"1" maxLength:"200" doc:"The document"`
	User         string   `query:"user" maxLength:"256" doc:"A person of the workspace. Without a reader: somebody who is nobody in particular"`
	Groups       []string `query:"groups" maxItems:"200" doc:"The groups of the person, separated by commas"`
	Clearance    string   `query:"clearance" maxLength:"63" doc:"The claim clearance of the person's token. The higher one of it and the member's counts"`
	ExternalUser string   `query:"external_user" maxLength:"256" doc:"A customer of an application, in place of user"`
	Conversation string   `query:"conversation_id" maxLength:"200" doc:"A conversation of the reader, whose attachments count"`
	KeyID        string   `query:"key_id" maxLength:"200" doc:"The API key with which the reader asks"`
}) (*struct{ Body accessView }, error) {
	explained, err := ar.explainer.Explain(ctx, p, in.DocumentID, access.Reader{
		User: in.User, Groups: in.Groups, Clearance: in.Clearance, ExternalUser: in.ExternalUser, Conversation: in.Conversation, KeyID: in.KeyID,
	})
	if err != nil {
		return nil, err
	}
	view := accessView{Allowed: explained.Allowed, Because: convert(explained.Because, func(r access.Reason) accessReasonView { return accessReasonView(r) })}
	return &struct{ Body accessView }{view}, nil
}
