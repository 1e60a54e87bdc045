package answering

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// QueryWebhooks reaches the webhooks of type queries.
type QueryWebhooks struct {
	Hooks interface {
		// WebhookOf is as in Deliveries.
		WebhookOf(ctx context.Context, q store.WebhookQueue) (knowledge.Webhook, knowledge.Project, error)
	}
	Secrets interface {
		// Open returns a value that was sealed for the context.
		Open(sealed, context string) (string, error)
	}
	Sender interface {
		// Ask is as in webhook.Sender.
		Ask(ctx context.Context, m webhook.Message, text func(string) error) (webhook.Asked, error)
	}
}

// AskingWebhooks holds the activities that ask the webhooks of a project about a question.
type AskingWebhooks struct {
	stepLog

	Hub       Hub
	Workflows Workflows
	Blobs     step.Blobs
	Webhooks  QueryWebhooks
	Library   Library
	library   *library
}

// AskWebhooksInput asks the webhooks of a question. Nothing else writes to the run's log
// meanwhile, so its items begin at Offset.
type AskWebhooksInput struct {
	knowledge.RunRef
	Offset    int64         `json:"offset"`
	Preceding []stream.Item `json:"preceding,omitempty"` // that the hub does not have
	Before    int           `json:"before,omitempty"`    // attempts of earlier activities
}

// AskWebhooksResult names what the webhooks changed. Their words are in a blob of the run.
type AskWebhooksResult struct {
	Calls     []record.WebhookCall `json:"calls"`
	Answer    string               `json:"answer,omitempty"` // blob of the answer, if a webhook gave one
	Chunks    string               `json:"chunks,omitempty"` // blob of the passages, if a webhook gave some
	Tail      string               `json:"tail,omitempty"`   // words of the answer that the activity did not publish
	Attempt   int                  `json:"attempt"`
	Published bool                 `json:"published,omitempty"`
	Search    bool                 `json:"search,omitempty"` // a search comes before the first model call
}

// webhookTurn stands for the turn of the tool loop in events of an answer that a webhook
// streams. It is no turn of the model, whose attempts are counted apart.
const webhookTurn = -1

// AskWebhooks asks the project's webhooks of type queries about the question, in their
// order, until one answers it. A webhook that fails is left out, unless it is required. It
// asks none again whose answer is stored.
func (a *AskingWebhooks) AskWebhooks(ctx context.Context, in AskWebhooksInput) (AskWebhooksResult, error) {
	defer step.Heartbeat(ctx)()
	a.Hub.Append(in.Run, in.Preceding)
	attempt := in.Before + int(activity.GetInfo(ctx).Attempt)
	call := ModelCallInput{RunRef: in.RunRef, Turn: webhookTurn, Offset: in.Offset}
	p := newPublisher(a.Workflows, a.Hub, call, activity.GetInfo(ctx).WorkflowExecution.ID, attempt)
	result, err := a.askWebhooks(ctx, in.RunRef, p)
	a.Hub.Pause(in.Run)
	if err != nil {
		p.abandon()
		return AskWebhooksResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("ask webhooks: %w", err))
	}
	return result, nil
}

func (a *AskingWebhooks) askWebhooks(ctx context.Context, run knowledge.RunRef, p *publisher) (AskWebhooksResult, error) {
	if err := p.resume(ctx); err != nil {
		return AskWebhooksResult{}, err
	}
	request, record, err := a.askOnce(ctx, run, p)
	if err != nil {
		return AskWebhooksResult{}, err
	}
	return a.applyWebhooks(ctx, run, request, record, p)
}

// askOnce returns the request of a run and what its webhooks answered, which it asks unless
// their answers are stored.
func (a *AskingWebhooks) askOnce(ctx context.Context, run knowledge.RunRef, shown shownWords) (knowledge.Request, record.WebhookAnswers, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, run)
	if err != nil {
		return request, record.WebhookAnswers{}, err
	}
	answers, err := record.ReadWebhooks(ctx, a.Blobs, run)
	if err != nil {
		return request, record.WebhookAnswers{}, err
	}
	if answers == nil {
		answers = &record.WebhookAnswers{Calls: []record.WebhookCall{}}
		if err := a.collect(ctx, run, request, answers, shown); err != nil {
			return request, *answers, err
		}
		if answers.Known, err = a.resolveGiven(ctx, request, answers.Chunks); err != nil {
			return request, *answers, err
		}
		// The effects of the requests are there, so a cancel does not discard the answers.
		if _, err := a.Blobs.PutJSON(context.WithoutCancel(ctx), run.WebhooksKey(), answers); err != nil {
			return request, *answers, fmt.Errorf("store the answers of webhooks: %w", err)
		}
	}
	return request, *answers, nil
}

// shownWords takes the words of an answer as a webhook streams them.
type shownWords interface {
	write(text string)
	// restart drops the words so far.
	restart()
}

// collect asks the webhooks, and shows the words of an answer that one streams as they come.
func (a *AskingWebhooks) collect(ctx context.Context, run knowledge.RunRef, request knowledge.Request, answers *record.WebhookAnswers, shown shownWords) error {
	for _, id := range request.Webhooks {
		hook, project, err := a.Webhooks.Hooks.WebhookOf(ctx, store.WebhookQueue{Workspace: run.Workspace, Project: run.Project, Webhook: id})
		if knowledge.IsCode(err, knowledge.CodeNotFound) { // disabled or removed a moment ago
			continue
		}
		if err != nil {
			return fmt.Errorf("read webhook %s: %w", id, err)
		}
		started := time.Now()
		rewriter := citation.NewRewriter(nil)
		asked, err := a.askWebhook(ctx, run, request, hook, project, func(text string) error {
			shown.write(rewriter.Write(text))
			return nil
		})
		if err != nil {
			return err
		}
		shown.restart() // the caller shows what remains of it
		call := record.WebhookCall{ID: id, Status: knowledge.RunCompleted, Fields: asked.Answer.Names(), Seconds: time.Since(started).Seconds()}
		if asked.Error != "" {
			a.Log.WarnContext(ctx, "a webhook of a question failed", "run", run.Run, "webhook", id, "status", asked.HTTPStatus, "failure", asked.Error)
			if hook.Required {
				return &knowledge.Error{Code: knowledge.CodeProviderFailed, Message: "a webhook that this project requires failed: " + asked.Error}
			}
			call.Status, call.Fields, call.Message = knowledge.RunFailed, []string{}, asked.Error
		} else {
			answers.Merge(asked.Answer)
		}
		answers.Calls = append(answers.Calls, call)
		if answers.Answer != nil {
			return nil
		}
	}
	return nil
}

func (a *AskingWebhooks) askWebhook(ctx context.Context, run knowledge.RunRef, request knowledge.Request, hook knowledge.Webhook, project knowledge.Project, text func(string) error) (webhook.Asked, error) {
	// The id is the same if the request is made again after a crash.
	m := webhook.Message{ID: knowledge.DerivedID("event", run.Run, hook.ID), URL: hook.URL}
	payload := webhook.QueryPayload{
		Input: request.Question, History: request.History, Filters: request.Filter,
		Interface: request.Passed.Interface, Metadata: request.Passed.Metadata, WebhookPayload: request.Passed.WebhookPayload,
	}
	if request.MessageID != "" {
		payload.MessageID = &request.MessageID
	}
	err := a.tellAttachments(ctx, request, &payload)
	if err != nil {
		return webhook.Asked{}, err
	}
	if m.Body, err = webhook.QueryEnvelope(payload, project, request.ConversationID, request.Date); err != nil {
		return webhook.Asked{}, err
	}
	m.Secret, err = a.Webhooks.Secrets.Open(hook.Secret, webhook.SecretContext(run.Workspace, hook.ID))
	if err == nil && hook.APIKey != "" {
		m.APIKey, err = a.Webhooks.Secrets.Open(hook.APIKey, webhook.APIKeyContext(run.Workspace, hook.ID))
	}
	if err != nil {
		a.Log.ErrorContext(ctx, "cannot open the secret of a webhook", "webhook", hook.ID, "error", err)
		return webhook.Asked{Error: "the secret of the webhook cannot be opened: set a new one, or put the instance's secret.key back"}, nil
	}
	return a.Webhooks.Sender.Ask(ctx, m, text)
}

// applyWebhooks returns what the answers of webhooks change, and publishes an answer that
// one of them gave.
func (a *AskingWebhooks) applyWebhooks(ctx context.Context, run knowledge.RunRef, request knowledge.Request, answers record.WebhookAnswers, p *publisher) (AskWebhooksResult, error) {
	result, answer, err := a.storeWebhooks(ctx, run, answers)
	if err != nil {
		return result, err
	}
	result.Attempt = p.attempt
	if result.Answer != "" {
		p.write(answer)
	} else {
		answers.Apply(&request)
		result.Search = answers.Chunks == nil && (answers.Prompt == nil && record.SearchFirst(request) || answers.WantsContext())
	}
	result.Tail, result.Published, err = p.close(ctx)
	return result, err
}

// storeWebhooks returns where the passages and the answer are that webhooks gave. It
// stores the answer like the answer of a model call, and returns its words.
func (a *AskingWebhooks) storeWebhooks(ctx context.Context, run knowledge.RunRef, answers record.WebhookAnswers) (result AskWebhooksResult, answer string, err error) {
	result.Calls = answers.Calls
	if len(answers.Chunks) > 0 {
		result.Chunks = run.WebhooksKey()
	}
	if answers.Answer == nil {
		return result, "", nil
	}
	var passages []record.Passage
	if result.Chunks != "" {
		if passages, err = record.ReadGiven(ctx, a.Blobs, result.Chunks); err != nil {
			return result, "", err
		}
	}
	turn := answerOfWebhook(*answers.Answer, passages)
	result.Answer = run.TurnKey(1)
	if _, err := a.Blobs.PutJSON(context.WithoutCancel(ctx), result.Answer, turn); err != nil {
		return result, "", fmt.Errorf("store the answer of a webhook: %w", err)
	}
	return result, turn.Text, nil
}

// tellAttachments adds what is attached to the conversation, and to the question, to what a
// webhook is told.
func (a *AskingWebhooks) tellAttachments(ctx context.Context, request knowledge.Request, payload *webhook.QueryPayload) error {
	if a.Library == nil || request.Principal.ConversationID() == "" {
		return nil
	}
	reader := request.Principal.Reader()
	all, err := a.Library.Attached(ctx, reader, request.Projects)
	if err != nil {
		return fmt.Errorf("read the attachments: %w", err)
	}
	tell := func(ids []string) (list []webhook.Attachment, err error) {
		for _, id := range ids {
			d, err := a.Library.Document(ctx, reader, id)
			if knowledge.IsCode(err, knowledge.CodeNotFound) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read attachment %s: %w", id, err)
			}
			list = append(list, webhook.Attachment{ID: d.ID, Name: d.Name})
		}
		return list, nil
	}
	if payload.AllConversationAttachments, err = tell(all); err != nil {
		return err
	}
	payload.NewAttachments, err = tell(request.Attachments)
	return err
}
