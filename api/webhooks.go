package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// maxWebhooks bounds the webhooks of a project.
const maxWebhooks = 20

// webhookBody is a webhook as a project is given it.
type webhookBody struct {
	ID       string   `json:"id,omitempty" maxLength:"64" doc:"The id of a webhook of the project. Default: the webhook with this url; if there is none, a new one is created"`
	URL      string   `json:"url" minLength:"1" maxLength:"2000" doc:"http or https"`
	Types    []string `json:"types" minItems:"1" maxItems:"10" doc:"The events of the webhook: documents_created, documents_updated, documents_deleted; queries: it is called for each question; tests_results: the results of evaluations; audit_checkpoints: the signed checkpoints of the audit of the workspace"`
	Secret   string   `json:"secret,omitempty" maxLength:"200" doc:"The secret that signs the requests: whsec_ and 24 to 64 bytes in base64. Default: unchanged; for a new webhook one is generated and shown once"`
	APIKey   *string  `json:"apiKey,omitempty" maxLength:"1000" doc:"The value of the header knowledge-project-apiKey; empty: no header. Default: unchanged"`
	Required bool     `json:"required,omitempty" doc:"For the type queries: a question fails if the webhook fails. Default: the question continues without it"`
	Enabled  *bool    `json:"enabled,omitempty" doc:"Default: unchanged; true for a new webhook"`
}

// webhookView is a webhook as clients see it: its secrets are never shown again.
type webhookView struct {
	ID             string                  `json:"id"`
	URL            string                  `json:"url"`
	Types          []knowledge.WebhookType `json:"types"`
	Enabled        bool                    `json:"enabled"`
	DisabledReason string                  `json:"disabledReason,omitempty" doc:"Why Cairn disabled it"`
	Required       bool                    `json:"required,omitempty" doc:"A question fails if the webhook fails"`
	HasAPIKey      bool                    `json:"hasApiKey"`
	Secret         string                  `json:"secret,omitempty" doc:"The generated secret; shown once"`
}

// viewWebhooks shows webhooks, with the secrets that were made for some, by id.
func viewWebhooks(webhooks []knowledge.Webhook, made map[string]string) []webhookView {
	return convert(webhooks, func(w knowledge.Webhook) webhookView {
		return webhookView{
			ID: w.ID, URL: w.URL, Types: w.Types, Enabled: w.Enabled, DisabledReason: w.Disabled, Required: w.Required, HasAPIKey: w.APIKey != "", Secret: made[w.ID],
		}
	})
}

// setWebhooks replaces the webhooks of a project, if the change has any. It returns
// the secrets that it made, by the ids of their webhooks. If renew is true, a webhook
// that the change does not name by its id gets a new secret: nobody was shown the one
// that an earlier try of the request made.
func (ps *projectSettings) setWebhooks(project *knowledge.Project, change changeOf[[]webhookBody], renew bool) (made map[string]string, err error) {
	if len(change) == 0 {
		return nil, nil
	}
	var bodies []webhookBody
	if err := json.Unmarshal(change, &bodies); err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	if len(bodies) > maxWebhooks {
		return nil, knowledge.Invalid("body.webhooks", "must be at most %d", maxWebhooks)
	}
	made = map[string]string{}
	before, after := slices.Clone(project.Webhooks), []knowledge.Webhook{}
	for i, b := range bodies {
		at := fmt.Sprintf("body.webhooks[%d]", i)
		if err := ps.checkWebhook(b, at); err != nil {
			return nil, err
		}
		w, known, err := b.webhook(&before, at)
		if err != nil {
			return nil, err
		}
		if b.Secret == "" && (!known || renew && b.ID == "") {
			b.Secret = webhook.NewSecret()
			made[w.ID] = b.Secret
		}
		if err := ps.sealWebhook(*project, b, &w, at); err != nil {
			return nil, err
		}
		after = append(after, w)
	}
	project.Webhooks = after
	return made, nil
}

// checkWebhook returns what is wrong with a webhook, apart from its secrets.
func (ps *projectSettings) checkWebhook(b webhookBody, at string) error {
	u, err := url.Parse(b.URL)
	if err != nil || u.Fragment != "" {
		return knowledge.Invalid(at+".url", "must be an http or https address")
	}
	if err := ps.addresses.CheckURL(b.URL); err != nil {
		return knowledge.Invalid(at+".url", "%s", knowledge.AsError(err).Message)
	}
	if len(b.Types) == 0 {
		return knowledge.Invalid(at+".types", "must name at least one type")
	}
	for _, t := range b.Types {
		if !slices.Contains(knowledge.WebhookTypes(), knowledge.WebhookType(t)) {
			return knowledge.Invalid(at+".types", "must be of documents_created, documents_updated, documents_deleted, queries, tests_results and audit_checkpoints")
		}
	}
	if b.Required && !slices.Contains(b.Types, string(knowledge.WebhookQueries)) {
		return knowledge.Invalid(at+".required", "has a meaning for webhooks of type queries alone: leave it out")
	}
	return nil
}

// webhook returns the webhook that the body changes, which it takes from before, or
// a new one; known tells which.
func (b webhookBody) webhook(before *[]knowledge.Webhook, at string) (w knowledge.Webhook, known bool, err error) {
	place := slices.IndexFunc(*before, func(w knowledge.Webhook) bool { return b.ID == w.ID || b.ID == "" && b.URL == w.URL })
	switch {
	case place >= 0:
		w, known = (*before)[place], true
		*before = slices.Delete(*before, place, place+1)
	case b.ID != "":
		return w, false, knowledge.Invalid(at+".id", "is no webhook of this project: leave it out to make a new one")
	default:
		w = knowledge.Webhook{ID: knowledge.NewID(), Enabled: true}
	}
	w.URL, w.Types, w.Required = b.URL, nil, b.Required
	for _, t := range b.Types {
		if t := knowledge.WebhookType(t); !slices.Contains(w.Types, t) {
			w.Types = append(w.Types, t)
		}
	}
	if b.Enabled != nil {
		w.Enabled = *b.Enabled
	}
	if w.Enabled {
		w.Disabled = ""
	}
	return w, known, nil
}

// sealWebhook seals the secrets of a body into a webhook. One that is not given
// stays.
func (ps *projectSettings) sealWebhook(project knowledge.Project, b webhookBody, w *knowledge.Webhook, at string) error {
	if b.Secret != "" {
		secret, err := webhook.CheckSecret(b.Secret, at+".secret")
		if err != nil {
			return err
		}
		if w.Secret, err = ps.sealer.Seal(secret, webhook.SecretContext(project.Workspace, w.ID)); err != nil {
			return fmt.Errorf("seal the secret of webhook %s: %w", w.ID, err)
		}
	}
	if b.APIKey == nil {
		return nil
	}
	if err := webhook.CheckAPIKey(*b.APIKey, at+".apiKey"); err != nil {
		return err
	}
	if w.APIKey = ""; *b.APIKey == "" {
		return nil
	}
	var err error
	if w.APIKey, err = ps.sealer.Seal(*b.APIKey, webhook.APIKeyContext(project.Workspace, w.ID)); err != nil {
		return fmt.Errorf("seal the API key of webhook %s: %w", w.ID, err)
	}
	return nil
}
