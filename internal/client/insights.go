package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Insight is a line of insights, with its runs.
type Insight struct {
	Question string `json:"question"`
	Name     string `json:"name"` // of a document
	Text     string `json:"text"` // of a passage
	Reason   string `json:"reason"`
	Ratings  []struct {
		Comment string `json:"comment"`
	} `json:"ratings"`
	First  struct{ Text string } `json:"first"` // of two passages that contradict each other
	Second struct{ Text string } `json:"second"`
	Day    string                `json:"day"`
	Cost   *float64              `json:"cost"`
	Asked  int                   `json:"questions"` // of a day
	Median *float64              `json:"latency_p50"`
	Runs   []string              `json:"runs"`
}

// Insights are what the questions to a project show of it. Raw is the whole answer.
type Insights struct {
	Unanswered    []Insight       `json:"unanswered"`
	LowRated      []Insight       `json:"low_rated"`
	Questions     []Insight       `json:"questions"`
	Contradicting []Insight       `json:"contradictions"`
	Stale         []Insight       `json:"stale_documents"`
	Uncited       []Insight       `json:"uncited_passages"`
	Unused        []Insight       `json:"unused_documents"`
	Days          []Insight       `json:"days"`
	Raw           json.RawMessage `json:"-"`
}

// Insights reads what the questions to a project since a time show of it, zero = of 30 days.
func (c *Client) Insights(ctx context.Context, project string, since time.Time) (found Insights, err error) {
	query := url.Values{"project_id": {project}}
	if !since.IsZero() {
		query.Set("since", since.Format(time.RFC3339))
	}
	if _, err = c.call(ctx, http.MethodGet, c.inWorkspace("insights"), query, nil, &found.Raw); err == nil {
		err = json.Unmarshal(found.Raw, &found)
	}
	return found, err
}
