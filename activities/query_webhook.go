package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// QueryWebhooks reaches the webhooks of type queries.
type QueryWebhooks struct {
	Hooks interface {
		// WebhookOf is that of Deliveries.
		WebhookOf(ctx context.Context, q store.WebhookQueue) (knowledge.Webhook, knowledge.Project, error)
	}
	Secrets interface {
		// Open returns a value that was sealed for the context.
		Open(sealed, context string) (string, error)
	}
	Sender interface {
		// Ask is that of webhook.Sender.
		Ask(ctx context.Context, m webhook.Message, text func(string) error) (webhook.Asked, error)
	}
}

// AskWebhooksInput asks the webhooks of a question. Nothing else writes to the run's log
// meanwhile, so its items begin at Offset.
type AskWebhooksInput struct {
	knowledge.RunRef
	Offset    int64         `json:"offset"`
	Preceding []stream.Item `json:"preceding,omitempty"` // that the hub does not have
	Before    int           `json:"before,omitempty"`    // attempts of earlier activities
}

// AskWebhooksResult says what the webhooks changed. Their words are in a blob of the run.
type AskWebhooksResult struct {
	Calls     []WebhookCall `json:"calls"`
	Answer    string        `json:"answer,omitempty"` // blob of the answer, if a webhook gave one
	Chunks    string        `json:"chunks,omitempty"` // blob of the passages, if a webhook gave some
	Tail      string        `json:"tail,omitempty"`   // words of the answer that the activity did not publish
	Attempt   int           `json:"attempt"`
	Published bool          `json:"published,omitempty"`
	Search    bool          `json:"search,omitempty"` // a search comes before the first model call
}

// WebhookCall is the data of a webhookCall event.
type WebhookCall struct {
	ID      string              `json:"id"`
	Status  knowledge.RunStatus `json:"status"` // completed or failed
	Fields  []string            `json:"fields"` // of its answer
	Message string              `json:"message,omitempty"`
	Seconds float64             `json:"seconds"`
}

// WebhookRecord is what the webhooks of a question answered together.
type WebhookRecord struct {
	webhook.QueryAnswer

	Calls []WebhookCall `json:"calls"`
}

// webhookTurn stands for the turn of the tool loop in events of an answer that a webhook
// streams. It is no turn of the model, whose attempts are counted apart.
const webhookTurn = -1

// AskWebhooks asks the project's webhooks of type queries about the question, in their
// order, until one answers it. A webhook that fails is left out, unless it is required. It
// asks none again whose answer is stored.
func (a *Answering) AskWebhooks(ctx context.Context, in AskWebhooksInput) (AskWebhooksResult, error) {
	defer heartbeat(ctx)()
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

func (a *Answering) askWebhooks(ctx context.Context, run knowledge.RunRef, p *publisher) (AskWebhooksResult, error) {
	if err := p.resume(ctx); err != nil {
		return AskWebhooksResult{}, err
	}
	record, err := readWebhooks(ctx, a.Blobs, run)
	if err != nil {
		return AskWebhooksResult{}, err
	}
	request, err := ReadRequest(ctx, a.Blobs, run)
	if err != nil {
		return AskWebhooksResult{}, err
	}
	if record == nil {
		record = &WebhookRecord{Calls: []WebhookCall{}}
		if err := a.collect(ctx, run, request, record, p); err != nil {
			return AskWebhooksResult{}, err
		}
		// The effects of the requests are there, so a cancel does not discard the answers.
		if _, err := a.Blobs.PutJSON(context.WithoutCancel(ctx), run.WebhooksKey(), record); err != nil {
			return AskWebhooksResult{}, fmt.Errorf("store the answers of webhooks: %w", err)
		}
	}
	return a.applyWebhooks(ctx, run, request, *record, p)
}

// collect asks the webhooks. The words of an answer that one streams are published as they
// come.
func (a *Answering) collect(ctx context.Context, run knowledge.RunRef, request knowledge.Request, record *WebhookRecord, p *publisher) error {
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
			p.write(rewriter.Write(text))
			return nil
		})
		if err != nil {
			return err
		}
		p.restart() // applyWebhooks publishes what remains of it
		call := WebhookCall{ID: id, Status: knowledge.RunCompleted, Fields: asked.Answer.Names(), Seconds: time.Since(started).Seconds()}
		if asked.Error != "" {
			a.Log.WarnContext(ctx, "a webhook of a question failed", "run", run.Run, "webhook", id, "status", asked.HTTPStatus, "failure", asked.Error)
			if hook.Required {
				return &knowledge.Error{Code: knowledge.CodeProviderFailed, Message: "a webhook that this project requires failed: " + asked.Error}
			}
			call.Status, call.Fields, call.Message = knowledge.RunFailed, []string{}, asked.Error
		} else {
			record.Merge(asked.Answer)
		}
		record.Calls = append(record.Calls, call)
		if record.Answer != nil {
			return nil
		}
	}
	return nil
}

func (a *Answering) askWebhook(ctx context.Context, run knowledge.RunRef, request knowledge.Request, hook knowledge.Webhook, project knowledge.Project, text func(string) error) (webhook.Asked, error) {
	// The id is the same if the request is made again after a crash.
	m := webhook.Message{ID: knowledge.DerivedID("event", run.Run, hook.ID), URL: hook.URL}
	payload := webhook.QueryPayload{
		Input: request.Question, MessageID: request.MessageID, History: request.History, Filters: request.Filter, Passed: request.Passed,
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

// applyWebhooks returns what the answers of webhooks change, and stores an answer that one
// of them gave as the answer of a model call.
func (a *Answering) applyWebhooks(ctx context.Context, run knowledge.RunRef, request knowledge.Request, record WebhookRecord, p *publisher) (AskWebhooksResult, error) {
	result := AskWebhooksResult{Calls: record.Calls, Attempt: p.attempt}
	if len(record.Chunks) > 0 {
		result.Chunks = run.WebhooksKey()
	}
	if record.Answer != nil {
		var passages []Passage
		if result.Chunks != "" {
			var err error
			if passages, err = a.givenPassages(ctx, result.Chunks); err != nil {
				return result, err
			}
		}
		turn := answerOfWebhook(*record.Answer, passages)
		result.Answer = run.TurnKey(1)
		if _, err := a.Blobs.PutJSON(context.WithoutCancel(ctx), result.Answer, turn); err != nil {
			return result, fmt.Errorf("store the answer of a webhook: %w", err)
		}
		p.write(turn.Text)
	} else {
		record.apply(&request)
		result.Search = record.Chunks == nil && (record.Prompt == nil && SearchFirst(request) || record.wantsContext())
	}
	var err error
	result.Tail, result.Published, err = p.close(ctx)
	return result, err
}

// readWebhooks returns what the webhooks of a question answered, nil if they have not yet.
func readWebhooks(ctx context.Context, blobs RequestBlobs, run knowledge.RunRef) (*WebhookRecord, error) {
	var record WebhookRecord
	err := blobs.GetJSON(ctx, run.WebhooksKey(), &record)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the answers of webhooks of run %s: %w", run.Run, err)
	}
	return &record, nil
}

// apply changes a request as the webhooks answered.
func (r WebhookRecord) apply(request *knowledge.Request) {
	if r.Filters != nil {
		request.Filter = *r.Filters
	}
	if p := r.AIParameters; p != nil {
		ai := &request.Config.AI
		ai.Model = cmp.Or(p.Model, ai.Model)
		ai.MaxTokens = cmp.Or(p.MaxTokens, ai.MaxTokens)
		if p.Temperature != nil {
			ai.Temperature = p.Temperature
		}
	}
}

// wantsContext reports whether the prompt of a webhook has a place for passages.
func (r WebhookRecord) wantsContext() bool {
	return slices.ContainsFunc(r.Prompt, func(m knowledge.Message) bool { return m.Content != "" && prompt.WantsContext(m.Content) })
}

// givenPassages returns the passages that a webhook gave, whose record is under key.
func (a *Answering) givenPassages(ctx context.Context, key string) ([]Passage, error) {
	var record WebhookRecord
	if err := a.Blobs.GetJSON(ctx, key, &record); err != nil {
		return nil, fmt.Errorf("read the passages of a webhook: %w", err)
	}
	list := make([]Passage, 0, len(record.Chunks))
	for i, c := range record.Chunks {
		given := &GivenSource{Name: cmp.Or(c.Value.Name, c.Value.KnowledgeID, "webhook"), URL: c.Value.URL, Text: c.Value.Content}
		list = append(list, Passage{Rank: i + 1, ChunkID: knowledge.DerivedID("given chunk", key, strconv.Itoa(i)), DocumentID: c.Value.KnowledgeID, Score: 1, Given: given})
	}
	return list, nil
}

// webhookModel is the model of an answer that a webhook gave.
const webhookModel = "webhook"

// answerOfWebhook returns the answer that a webhook gave, with checked citations of passages.
func answerOfWebhook(answer string, passages []Passage) TurnRecord {
	contexts := make([]citation.Context, 0, len(passages))
	for _, p := range passages {
		contexts = append(contexts, citation.Context{Rank: p.Rank, ChunkID: p.ChunkID, DocumentID: p.DocumentID, DocumentName: p.Given.Name, Text: p.Given.Text})
	}
	rewriter := citation.NewRewriter(contexts)
	text := rewriter.Write(answer) + rewriter.Close()
	return TurnRecord{Raw: answer, Text: text, Used: rewriter.Used(), Model: webhookModel}
}

// completeFromWebhooks fills in what the webhooks of a question gave for its answer.
func (a *Answering) completeFromWebhooks(ctx context.Context, run knowledge.RunRef, request knowledge.Request, record *AnswerRecord) error {
	if len(request.Webhooks) == 0 {
		return nil
	}
	given, err := readWebhooks(ctx, a.Blobs, run)
	if err != nil || given == nil {
		return err
	}
	record.Blocks = given.Blocks
	if given.SearchResults != nil {
		record.Sources = given.sources()
		record.Used = slices.DeleteFunc(record.Used, func(rank int) bool { return rank > len(record.Sources) })
	}
	return nil
}

// sources returns the sources that a webhook shows in place of those of the answer.
func (r WebhookRecord) sources() []Source {
	list := make([]Source, 0, len(r.SearchResults))
	for i, s := range r.SearchResults {
		list = append(list, Source{Rank: i + 1, Given: &GivenSource{Name: s.Title, URL: s.URL, Text: s.Snippet}})
	}
	return list
}

// tellAttachments adds what is attached to the conversation, and to the question, to what a
// webhook is told.
func (a *Answering) tellAttachments(ctx context.Context, request knowledge.Request, payload *webhook.QueryPayload) error {
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
