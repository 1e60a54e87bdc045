package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of insights.
const (
	questionsRead      = 500  // the newest questions that are read
	documentsLooked    = 5000 // documents among which unused ones are sought
	insightsShown      = 50   // entries of each list
	insightsDays       = 30
	contradictionsRead = 400 // passages that are compared
)

// askedQuestion is questions that mean the same, with the runs that answered them.
type askedQuestion struct {
	Question string   `json:"question"`
	Runs     []string `json:"runs"`
	Reason   string   `json:"reason,omitempty" doc:"Why they have no answer"`
}

// lowRated is questions that mean the same, whose answers people rated down.
type lowRated struct {
	Question string      `json:"question"`
	Ratings  []lowRating `json:"ratings"`
	Runs     []string    `json:"runs"`
}

// lowRating is what a person says of an answer.
type lowRating struct {
	RunID    string `json:"run_id"`
	Comment  string `json:"comment,omitempty"`
	Expected string `json:"expected,omitempty"`
}

// unusedDocument is a document that no answer cites.
type unusedDocument struct {
	DocumentID string   `json:"document_id"`
	Name       string   `json:"name"`
	Runs       []string `json:"runs" doc:"The runs whose model was given passages of the document, which they do not cite"`
}

// contradiction is two passages that say different numbers or dates of the same thing.
type contradiction struct {
	evaluate.Contradiction
	Runs []string `json:"runs" doc:"The runs whose model was given one of the two"`
}

// insightCost is what the questions used.
type insightCost struct {
	Questions        int      `json:"questions"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	Cost             *float64 `json:"cost,omitempty" doc:"Absent if models.prices names no price"`
	Currency         string   `json:"currency,omitempty"`
	Runs             []string `json:"runs" doc:"The runs that used the most tokens"`
}

type insightsView struct {
	Since         time.Time        `json:"since"`
	Questions     []askedQuestion  `json:"questions" doc:"Questions that mean the same, the most frequent first"`
	Unanswered    []askedQuestion  `json:"unanswered" doc:"Questions without an answer, or whose answer cites nothing, grouped as questions"`
	LowRated      []lowRated       `json:"low_rated" doc:"Questions whose answers were rated down, grouped as questions"`
	Unused        []unusedDocument `json:"unused_documents" doc:"Published documents that no answer cites"`
	Uncited       []uncitedPassage `json:"uncited_passages" doc:"Passages that models were given, and that no answer cites, the most frequent first"`
	Stale         []staleDocument  `json:"stale_documents" doc:"Documents that answers rest on and that were replaced since, or have not changed for long"`
	Contradicting []contradiction  `json:"contradictions"`
	Cost          insightCost      `json:"cost"`
	Days          []insightDay     `json:"days" doc:"The cost and the latency of each day (UTC), the newest first"`
	Read          int              `json:"questions_read" doc:"The newest questions, at most 500, of which all this is made"`
}

type insightsOutput struct{ Body insightsView }

// insightRoutes holds the route of what the questions to a project show of it.
type insightRoutes struct {
	store     Store
	blobs     Blobs
	passages  *results
	embedding openai.Embedder
	currency  string
	log       *slog.Logger
	now       func() time.Time
}

func (ir *insightRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "read-insights", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/insights", Tags: []string{"evaluations"},
		Summary:     "What questions show of a project",
		Description: "It reads the newest 500 questions of everybody since a time, without those of evaluations. Each entry names its runs. Passages and documents are those that the caller may read.",
	}}, ir.read)
}

// askedRun is a question with its answer.
type askedRun struct {
	store.Run
	question string
	answer   *record.Answer // nil = it has none
	used     knowledge.RunUsage
}

// citesNothing reports whether the answer rests on no source.
func (a askedRun) citesNothing() bool { return a.answer != nil && len(a.answer.Used) == 0 }

func (ir *insightRoutes) read(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Project string    `query:"project_id" maxLength:"200" required:"true" doc:"The id of a project, or its name"`
	Since   time.Time `query:"since" doc:"Default: 30 days ago"`
	Stale   int       `query:"stale_days" minimum:"1" maximum:"3650" doc:"The days without a change from which on a document is stale. Default: 365"`
}) (*insightsOutput, error) {
	project, err := ir.store.Project(ctx, p, in.Project)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.Project, err)
	}
	if in.Since.IsZero() {
		in.Since = time.Now().UTC().AddDate(0, 0, -insightsDays)
	}
	asked, err := ir.asked(ctx, p, project.ID, in.Since)
	if err != nil {
		return nil, err
	}
	questions := ir.meanings(ctx, asked)
	out := insightsView{Since: in.Since, Read: len(asked), Questions: grouped(questions, nil), Unanswered: unanswered(asked, questions), Cost: ir.cost(asked)}
	if out.LowRated, err = ir.lowRated(ctx, p, project.ID, in.Since, questions); err != nil {
		return nil, err
	}
	if out.Unused, err = ir.unused(ctx, p, project.ID, asked); err != nil {
		return nil, err
	}
	if out.Uncited, err = ir.uncited(ctx, p, asked); err != nil {
		return nil, err
	}
	if out.Stale, err = ir.stale(ctx, p, asked, cmp.Or(in.Stale, staleDays)); err != nil {
		return nil, err
	}
	out.Days = ir.days(asked)
	if out.Contradicting, err = ir.contradictions(ctx, p, asked); err != nil {
		return nil, err
	}
	return &insightsOutput{out}, nil
}

// meanings returns the questions with their vectors. Without an embedding model they have none, and
// those with the same words are one.
func (ir *insightRoutes) meanings(ctx context.Context, asked []askedRun) []evaluate.Asked {
	questions := make([]evaluate.Asked, 0, len(asked))
	texts := make([]string, 0, len(asked))
	for _, a := range asked {
		questions, texts = append(questions, evaluate.Asked{ID: a.ID, Text: a.question}), append(texts, a.question)
	}
	if ir.embedding == nil {
		return questions
	}
	for at := 0; at < len(texts); at += embeddedAtATime {
		end := min(at+embeddedAtATime, len(texts))
		vectors, _, err := ir.embedding.Embed(ctx, texts[at:end])
		if err != nil {
			ir.log.WarnContext(ctx, "questions are grouped by their words alone", "error", err)
			break
		}
		for i, v := range vectors {
			questions[at+i].Vector = v
		}
	}
	return questions
}

// grouped returns questions by their meaning, each group with the reasons of its runs.
func grouped(questions []evaluate.Asked, reasons map[string]string) []askedQuestion {
	var list []askedQuestion
	for _, g := range evaluate.GroupQuestions(questions, 0) {
		var of []string
		for _, run := range g.IDs {
			if reason := reasons[run]; reason != "" && !slices.Contains(of, reason) {
				of = append(of, reason)
			}
		}
		list = append(list, askedQuestion{Question: g.Question, Runs: g.IDs, Reason: strings.Join(of, "; ")})
	}
	return shown(list)
}

// embeddedAtATime is how many questions one request to the embedding model has.
const embeddedAtATime = 64

// unanswered returns the questions without an answer, or whose answer cites nothing.
func unanswered(asked []askedRun, questions []evaluate.Asked) []askedQuestion {
	var list []evaluate.Asked
	reasons := map[string]string{}
	for i, a := range asked {
		switch {
		case a.Status == knowledge.RunFailed && a.Error != nil:
			reasons[a.ID] = string(a.Error.Code)
		case a.citesNothing():
			reasons[a.ID] = "the answer cites no source"
		default:
			continue
		}
		list = append(list, questions[i])
	}
	return grouped(list, reasons)
}

// cost sums what the questions used.
func (ir *insightRoutes) cost(asked []askedRun) insightCost {
	var sum knowledge.Usage
	for _, a := range asked {
		sum.Add(a.used.Usage)
	}
	out := insightCost{Questions: len(asked), PromptTokens: sum.PromptTokens, CompletionTokens: sum.CompletionTokens, Runs: []string{}}
	if ir.currency != "" {
		out.Cost, out.Currency = &sum.Cost, ir.currency
	}
	tokens := func(a askedRun) int { return a.used.PromptTokens + a.used.CompletionTokens }
	dearest := slices.SortedFunc(slices.Values(asked), func(a, b askedRun) int { return cmp.Compare(tokens(b), tokens(a)) })
	for _, a := range dearest[:min(len(dearest), 10)] {
		if tokens(a) > 0 {
			out.Runs = append(out.Runs, a.ID)
		}
	}
	return out
}

// shown returns the first entries of a list, never nil.
func shown[T any](list []T) []T { return notNil(list[:min(len(list), insightsShown)]) }
