package answering

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// JudgeWebhooks has answers judged by the programs of projects.
type JudgeWebhooks struct {
	Projects interface {
		// ProjectForSystem returns a project.
		ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error)
	}
	Secrets interface {
		// Open returns a value that was sealed for the context.
		Open(sealed, context string) (string, error)
	}
	Sender interface {
		// Exchange makes one request and returns the body of the answer.
		Exchange(ctx context.Context, m webhook.Message) ([]byte, webhook.Result)
	}
}

// judgeQuestion is what a program that judges is asked.
type judgeQuestion struct {
	Type         string             `json:"type"` // judge
	ProjectID    string             `json:"projectId"`
	EvaluationID string             `json:"evaluationId"`
	Item         evaluate.Item      `json:"item"`
	Answer       string             `json:"answer"`
	Passages     []evaluate.Passage `json:"passages"`
}

// askJudge has a program judge a case. The request is signed with the secret of the project's
// callbacks. A failure that a later attempt may not have is an error; a refusal, or an answer
// that is none, is a failed judgement.
func (a *Evaluating) askJudge(ctx context.Context, in EvaluatedInput, at record.JudgeWebhook, c evaluate.Case) (j evaluate.Judgement, err error) {
	project, err := a.Judges.Projects.ProjectForSystem(ctx, in.Workspace, in.Project)
	if err != nil {
		return j, err
	}
	// The id is the same if the request is made again.
	m := webhook.Message{ID: knowledge.DerivedID("judge", in.answer().Run), URL: at.URL}
	passages := c.Passages
	if passages == nil {
		passages = []evaluate.Passage{}
	}
	m.Body, err = json.Marshal(judgeQuestion{Type: "judge", ProjectID: in.Project, EvaluationID: in.Run, Item: c.Item, Answer: c.Answer, Passages: passages})
	if err != nil {
		return j, fmt.Errorf("encode item %s: %w", c.Item.ID, err)
	}
	if project.CallbackSecret != "" {
		if m.Secret, err = a.Judges.Secrets.Open(project.CallbackSecret, webhook.CallbackContext(in.Workspace)); err != nil {
			a.Log.ErrorContext(ctx, "cannot open the secret of a project's callbacks", "project", in.Project, "error", err)
			return j, knowledge.Errorf(knowledge.CodeConflict, "the secret of the project's callbacks cannot be opened: set a new one, or put the instance's secret.key back")
		}
	}
	body, result := a.Judges.Sender.Exchange(ctx, m)
	switch result.Outcome {
	case webhook.Taken:
	case webhook.Retry:
		return j, &knowledge.Error{Code: knowledge.CodeProviderFailed, Message: "the judge failed: " + result.Error, Retryable: true, RetryAfter: result.RetryAfter}
	case webhook.Refused, webhook.Gone:
		j.Fail(evaluate.PartScore, result.Error)
		return j, nil
	}
	if j, err = evaluate.ReadScores(body); err != nil {
		j = evaluate.Judgement{}
		j.Fail(evaluate.PartScore, "the address answered with something other than a JSON object with score and context")
	}
	return j, nil
}
