package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestSet is a set of questions by which projects are evaluated.
type TestSet struct {
	ID        string          `json:"id"`
	ProjectID string          `json:"project_id"`
	Name      string          `json:"name"`
	Version   int             `json:"version"`
	Hash      string          `json:"hash"`
	Count     int             `json:"count"`
	CreatedAt time.Time       `json:"created_at,omitzero"`
	UpdatedAt time.Time       `json:"updated_at,omitzero"`
	Items     json.RawMessage `json:"items,omitempty"` // a page of them, of a test set that was asked for alone

	NextCursor string                        `json:"next_cursor,omitempty"` // of the next page of items
	Generated  *knowledge.GenerationProgress `json:"generated,omitempty"`   // how a model made it
}

// NewTestSet is a test set to store. Items are JSON.
type NewTestSet struct {
	ProjectID string          `json:"project_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Items     json.RawMessage `json:"items,omitempty"`
}

// AddTestSet stores a test set.
func (c *Client) AddTestSet(ctx context.Context, set NewTestSet) (TestSet, error) {
	var stored TestSet
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("test_sets"), nil, set, &stored)
	return stored, err
}

// ChangeTestSet changes the name or the items of a test set.
func (c *Client) ChangeTestSet(ctx context.Context, id string, set NewTestSet) (TestSet, error) {
	var stored TestSet
	_, err := c.call(ctx, http.MethodPatch, c.inWorkspace("test_sets", id), nil, set, &stored)
	return stored, err
}

// TestSetFromFeedback makes a test set from rated answers. An empty rating and a zero time mean
// all.
func (c *Client) TestSetFromFeedback(ctx context.Context, project, name, rating string, since time.Time) (TestSet, error) {
	body := map[string]any{"project_id": project}
	if name != "" {
		body["name"] = name
	}
	if rating != "" {
		body["rating"] = rating
	}
	if !since.IsZero() {
		body["since"] = since
	}
	var stored TestSet
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("test_sets", "from_feedback"), nil, body, &stored)
	return stored, err
}

// TestSets lists test sets, newest first. Empty fields do not filter.
func (c *Client) TestSets(ctx context.Context, project, name, cursor string, limit int) (List[TestSet], error) {
	query := paging(cursor, limit)
	setString(query, "project_id", project)
	setString(query, "name", name)
	var list List[TestSet]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("test_sets"), query, nil, &list)
	return list, err
}

// TestSet reads a test set and a page of its items.
func (c *Client) TestSet(ctx context.Context, id, cursor string, limit int) (TestSet, error) {
	var set TestSet
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("test_sets", id), paging(cursor, limit), nil, &set)
	return set, err
}

// RemoveTestSet removes a test set.
func (c *Client) RemoveTestSet(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("test_sets", id), nil, nil, nil)
	return err
}

// NewEvaluation asks for an evaluation. Zero fields have the server's defaults.
type NewEvaluation struct {
	TestSetID string           `json:"test_set_id,omitempty"`
	Of        string           `json:"of,omitempty"` // an evaluation whose answers are judged again, in place of a test set
	ProjectID string           `json:"project_id,omitempty"`
	Override  json.RawMessage  `json:"projectConfigOverride,omitempty"`
	Grid      map[string][]any `json:"grid,omitempty"`
	Judge     *Judge           `json:"judge,omitempty"`
	Repeats   int              `json:"repeats,omitempty"`
	Sample    int              `json:"sample,omitempty"`
	Seed      uint64           `json:"seed,omitempty"`
	Budget    knowledge.Budget `json:"budget,omitzero"`
}

// Judge names the model that judges, and how often it scores each of the first answers.
type Judge struct {
	Model string `json:"model,omitempty"`
	Times int    `json:"times,omitempty"`
}

// Estimate is a mean with its 95 % interval over N items.
type Estimate struct {
	Mean   float64 `json:"mean"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`
	Within float64 `json:"within,omitempty"`
}

// Evaluation is an evaluation of a project.
type Evaluation struct {
	ID          string                       `json:"id"`
	RunID       string                       `json:"run_id"`
	ProjectID   string                       `json:"project_id"`
	TestSetID   string                       `json:"test_set_id"`
	TestSetName string                       `json:"test_set_name"`
	Version     int                          `json:"test_set_version"`
	Status      string                       `json:"status"`
	Progress    knowledge.EvaluationProgress `json:"progress"`
	Judge       string                       `json:"judge"`
	Repeats     int                          `json:"repeats"`
	Cells       []Cell                       `json:"cells,omitempty"`
	Scores      map[string]Estimate          `json:"scores"`
	Judgements  int                          `json:"judgements"`
	Unreadable  int                          `json:"failed_judgements"`
	Warnings    []string                     `json:"warnings"`
	Of          string                       `json:"of,omitempty"`
	Rubric      json.RawMessage              `json:"rubric,omitempty"` // of an evaluate.Rubric, and so on
	Consistency json.RawMessage              `json:"consistency,omitempty"`
	Agreement   json.RawMessage              `json:"agreement,omitempty"`
	OnContext   json.RawMessage              `json:"context_agreement,omitempty"`
	AgreementOf []string                     `json:"agreement_of,omitempty"` // evaluations whose answers people have reviewed
	Error       *Failure                     `json:"error,omitempty"`
	CreatedAt   time.Time                    `json:"created_at,omitzero"`
	EndedAt     *time.Time                   `json:"ended_at,omitempty"`
	OperatorURL string                       `json:"operator_url,omitempty"`
	Items       []EvaluatedItem              `json:"items,omitempty"`
	NextCursor  string                       `json:"next_cursor,omitempty"`
}

// Cell is a configuration of an experiment; the first one is the saved settings. Differences are
// JSON of a list of evaluate.Difference.
type Cell struct {
	Cell        int                        `json:"cell"`
	Values      map[string]json.RawMessage `json:"values"`
	Override    json.RawMessage            `json:"projectConfigOverride,omitempty"`
	Scores      map[string]Estimate        `json:"scores"`
	Usage       knowledge.Usage            `json:"usage"`
	Verdict     string                     `json:"verdict,omitempty"`
	Differences json.RawMessage            `json:"differences,omitempty"`
}

// EvaluatedItem is an item of an evaluation.
type EvaluatedItem struct {
	ID            string   `json:"id"`
	Question      string   `json:"question"`
	Reference     string   `json:"reference,omitempty"`
	Tags          []string `json:"tags,omitempty"`
	Number        int      `json:"number"`
	Repeat        int      `json:"repeat"`
	Cell          int      `json:"cell,omitempty"`
	State         string   `json:"state"`
	RunID         string   `json:"run_id,omitempty"`
	Answer        string   `json:"answer,omitempty"`
	Withheld      bool     `json:"withheld,omitempty"` // it rests on a document that the caller may not read
	Score         *float64 `json:"score"`
	Context       *float64 `json:"context"`
	Faithfulness  *float64 `json:"faithfulness"`
	NDCG10        *float64 `json:"ndcg10"`
	Recall10      *float64 `json:"recall10"`
	MRR10         *float64 `json:"mrr10"`
	Latency       *float64 `json:"latency"`
	Tokens        *float64 `json:"tokens"`
	Reason        string   `json:"reason,omitempty"`
	ContextReason string   `json:"context_reason,omitempty"`
	Failures      []struct {
		Part   string `json:"part"`
		Reason string `json:"reason"`
	} `json:"failures,omitempty"`
	Error   *Failure `json:"error,omitempty"`
	Reviews []struct {
		Score *float64 `json:"score"`
		Own   bool     `json:"own"`
	} `json:"reviews,omitempty"`
}

// StartEvaluation starts an evaluation.
func (c *Client) StartEvaluation(ctx context.Context, e NewEvaluation) (Evaluation, error) {
	var started Evaluation
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("evaluations"), nil, e, &started)
	return started, err
}

// Evaluations lists evaluations, newest first. An empty project does not filter.
func (c *Client) Evaluations(ctx context.Context, project, cursor string, limit int) (List[Evaluation], error) {
	query := paging(cursor, limit)
	setString(query, "project_id", project)
	var list List[Evaluation]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("evaluations"), query, nil, &list)
	return list, err
}

// Evaluation reads an evaluation and a page of its items.
func (c *Client) Evaluation(ctx context.Context, id, cursor string, limit int) (Evaluation, error) {
	var e Evaluation
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("evaluations", id), paging(cursor, limit), nil, &e)
	return e, err
}

// BlindItems reads a page of the items of an evaluation, without what the judge and other people said
// of those that the caller has not reviewed.
func (c *Client) BlindItems(ctx context.Context, id, cursor string, limit int) (List[EvaluatedItem], error) {
	var e Evaluation
	query := paging(cursor, limit)
	query.Set("blind", "true")
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("evaluations", id), query, nil, &e)
	return List[EvaluatedItem]{Data: e.Items, NextCursor: e.NextCursor}, err
}

// ReviewItem stores the score that the caller gives an answer of an evaluation.
func (c *Client) ReviewItem(ctx context.Context, id, item string, repeat int, score float64) error {
	query := url.Values{"repeat": {strconv.Itoa(repeat)}}
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("evaluations", id, "items", item, "review"), query, map[string]any{"score": score}, nil)
	return err
}

// ControlEvaluation asks an evaluation to pause, resume or cancel.
func (c *Client) ControlEvaluation(ctx context.Context, id, action string) (Evaluation, error) {
	var e Evaluation
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("evaluations", id, action), nil, nil, &e)
	return e, err
}

// CompareEvaluations returns the differences of a candidate to a baseline, as JSON of an
// evaluate.Comparison. The cells are configurations of experiments, 0 = the saved settings.
func (c *Client) CompareEvaluations(ctx context.Context, baseline, candidate string, cell, candidateCell int) (json.RawMessage, error) {
	query := url.Values{}
	for name, value := range map[string]int{"cell": cell, "candidate_cell": candidateCell} {
		if value > 0 {
			query.Set(name, strconv.Itoa(value))
		}
	}
	var comparison json.RawMessage
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("evaluations", baseline, "compare", candidate), query, nil, &comparison)
	return comparison, err
}
