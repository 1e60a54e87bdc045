package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

type messageInput struct {
	edge.ActingQuery
	ID   string `path:"run_id" maxLength:"200"`
	Body struct {
		Text string `json:"text" maxLength:"4000" doc:"The instruction: what to look for, or how to write the report"`
	}
}

func (r *runControlRoutes) mountResearch(e *edge.Edge) {
	for prefix, path := range map[string]string{"workspace-": "/workspaces/{workspaceId}/runs", "": "/runs"} {
		edge.Handle(e, edge.Route{Operation: huma.Operation{
			OperationID: prefix + "steer-run", Method: http.MethodPost, Path: path + "/{run_id}/messages", DefaultStatus: http.StatusAccepted,
			Summary: "Send an instruction to a research run", Tags: []string{"runs"},
			Description: "The message affects the next plan of sub-questions and the sections that are not yet written. The owner of the run and keys with the write scope may send one. Runs of other kinds are answered with 409.",
		}}, r.steerRun)
	}
}

// steerRun stores a message to a research and tells its workflow.
func (r *runControlRoutes) steerRun(ctx context.Context, p knowledge.Principal, in *messageInput) (*runOutput, error) {
	run, err := r.store.Run(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", in.ID, err)
	}
	if run.Kind != knowledge.KindResearch {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "a run of the kind %s does not accept messages: only research runs do", run.Kind)
	}
	if err := question.CheckText("body.text", in.Body.Text); err != nil {
		return nil, err
	}
	key := knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}.ResearchKey("message-" + knowledge.NewID())
	return r.controlResearch(ctx, p, run, record.ResearchControl{Message: key}, func() error {
		_, err := r.blobs.PutJSON(ctx, key, record.ResearchMessage{Text: in.Body.Text})
		return err
	})
}

// controlResearch signals a research, after prepare.
func (r *runControlRoutes) controlResearch(ctx context.Context, p knowledge.Principal, run store.Run, c record.ResearchControl, prepare func() error) (*runOutput, error) {
	switch {
	case run.Owner != p.Owner() && !p.Can(knowledge.ScopeWrite):
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "only the owner of a research run, or a key with the write scope, may change it")
	case run.Status != knowledge.RunRunning:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "run %q has ended already: it is %s", run.ID, run.Status)
	}
	if err := prepare(); err != nil {
		return nil, fmt.Errorf("change run %s: %w", run.ID, err)
	}
	known, err := r.dispatch.ControlResearch(ctx, run, c)
	if err != nil {
		return nil, fmt.Errorf("change run %s: %w", run.ID, err)
	}
	if !known { // it is starting, or ends at this moment
		return nil, knowledge.Errorf(knowledge.CodeUnavailable, "the research run is not active at this moment; try again shortly")
	}
	return &runOutput{r.views.run(run)}, nil
}

// researchEvent is a researchUpdate as readers get it.
type researchEvent struct {
	Phase     string             `json:"phase" enum:"plan,search,web,notes,outline,section,message,pause,budget"`
	Status    string             `json:"status" enum:"started,completed,failed,skipped,received"`
	Round     int                `json:"round,omitempty"`
	Question  int                `json:"question,omitempty" doc:"The number of the sub-question in its round, 1 = first"`
	Section   int                `json:"section,omitempty" doc:"1 = first"`
	Text      string             `json:"text,omitempty" doc:"The sub-question, the heading of the section or the message"`
	Title     string             `json:"title,omitempty" doc:"The title of the report"`
	Questions []string           `json:"questions,omitempty" doc:"The sub-questions of the plan"`
	Sections  []string           `json:"sections,omitempty" doc:"The headings of the outline"`
	Found     *int               `json:"found,omitempty" doc:"The number of passages or web pages found"`
	Documents []researchDocument `json:"documents,omitempty" doc:"The documents of the passages, as far as the reader may see them"`
	Pages     []researchPage     `json:"pages,omitempty" doc:"The web pages found"`
	Notes     *int               `json:"notes,omitempty" doc:"The number of notes"`
	Taken     []researchNote     `json:"taken,omitempty" doc:"The notes, as far as the reader may see all that they rest on"`
	Open      string             `json:"open,omitempty" doc:"What the notes leave open"`
	Reason    string             `json:"reason,omitempty" doc:"The reason of a failure, or the part of the budget that is used up: tokens, calls or time"`
	Usage     *knowledge.Usage   `json:"usage,omitempty" doc:"The usage so far"`

	Budget *knowledge.ResearchBudget `json:"budget,omitempty" doc:"With the start of the first plan: the limits of the usage"`
}

type researchDocument struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type researchPage struct {
	URL   string `json:"url" doc:"After redirects, if the page was read"`
	Title string `json:"title"`
}

// researchNote is a note on a sub-question, with what it rests on.
type researchNote struct {
	Text      string             `json:"text"`
	Documents []researchDocument `json:"documents,omitempty"`
	Pages     []string           `json:"pages,omitempty" doc:"The addresses of web pages"`
}

// researchUpdate fills in the words of an event of a research.
func (r *renderer) researchUpdate(ctx context.Context, e stream.Event) (string, any, error) {
	var data record.ResearchData
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return "", nil, fmt.Errorf("research event of run %s: %w", r.run.ID, err)
	}
	out := researchEvent{
		Phase: data.Phase, Status: data.Status, Round: data.Round, Question: data.Question, Section: data.Section,
		Found: data.Found, Notes: data.Notes, Reason: data.Reason, Usage: data.Usage,
	}
	var err error
	if e.Ref != "" {
		err = r.researchWords(ctx, e.Ref, &out)
	}
	if data.Phase == "plan" && data.Status == "started" && data.Round == 1 {
		out.Budget, err = r.researchBudget(ctx)
	}
	if err == nil && len(data.Searches) > 0 {
		out.Documents, out.Pages, err = r.searchHits(ctx, data.Searches)
	}
	if err == nil && data.Notes != nil {
		out.Taken, out.Open, err = r.notes(ctx, data.Round, data.Question)
	}
	if err != nil {
		return "", nil, fmt.Errorf("research event of run %s: %w", r.run.ID, err)
	}
	return "researchUpdate", out, nil
}

// researchBudget returns the limits of the usage of a research.
func (r *renderer) researchBudget(ctx context.Context) (*knowledge.ResearchBudget, error) {
	request, err := r.request(ctx)
	if knowledge.IsCode(err, knowledge.CodeNotFound) { // it was forgotten
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	budget := request.Config.Tools.DeepResearch.WithDefaults().Budget
	return &budget, nil
}

// researchWords fills in the words that are in the blob of a plan, an outline or a
// message.
func (r *renderer) researchWords(ctx context.Context, key string, out *researchEvent) error {
	var words struct {
		Title     string                   `json:"title"`
		Text      string                   `json:"text"`
		Questions []record.PlannedQuestion `json:"questions"`
		Sections  []record.OutlinedSection `json:"sections"`
	}
	if err := r.results.blobs.GetJSON(ctx, key, &words); err != nil {
		return err
	}
	out.Text = words.Text
	switch {
	case out.Question > 0 && out.Question <= len(words.Questions):
		out.Text = words.Questions[out.Question-1].Question
	case out.Section > 0 && out.Section <= len(words.Sections):
		out.Text = words.Sections[out.Section-1].Heading
	default:
		out.Title = words.Title
		out.Questions = convert(words.Questions, func(q record.PlannedQuestion) string { return q.Question })
		out.Sections = convert(words.Sections, func(s record.OutlinedSection) string { return s.Heading })
	}
	return nil
}

// searchHits returns the documents of the passages that searches found, as the reader may see
// them now, and the pages of the web.
func (r *renderer) searchHits(ctx context.Context, searches []string) (documents []researchDocument, pages []researchPage, err error) {
	var sources []record.Source
	for _, key := range searches {
		var search record.Search
		if err := r.results.blobs.GetJSON(ctx, key, &search); err != nil {
			return nil, nil, err
		}
		for _, p := range search.Passages {
			if p.Page != nil {
				if page := (researchPage{p.Page.URL, p.Page.Title}); !slices.Contains(pages, page) {
					pages = append(pages, page)
				}
				continue
			}
			sources = append(sources, record.Source{ChunkID: p.ChunkID, DocumentID: p.DocumentID})
		}
	}
	documents, _, err = r.documentsOf(ctx, sources)
	return documents, pages, err
}

// documentsOf returns the documents of passages as the reader may see them now, and whether
// it may see all of the passages.
func (r *renderer) documentsOf(ctx context.Context, passages []record.Source) (documents []researchDocument, all bool, err error) {
	chunks, err := r.results.passages(ctx, r.principal, passages)
	if err != nil {
		return nil, false, err
	}
	all = true
	for _, x := range passages {
		c, ok := chunks[x.ChunkID]
		all = all && ok
		if ok && !slices.ContainsFunc(documents, func(d researchDocument) bool { return d.ID == c.DocumentID }) {
			documents = append(documents, researchDocument{ID: c.DocumentID, Name: c.Document.Name})
		}
	}
	return documents, all, nil
}

// notes returns the notes on a sub-question and what they leave open, without the notes that
// rest on a passage which the reader may not see now. What is left open may repeat such a
// note, so it is then left out too.
func (r *renderer) notes(ctx context.Context, round, question int) (notes []researchNote, open string, err error) {
	var stored record.TakenNotes
	run := knowledge.RunRef{Workspace: r.run.Workspace, Run: r.run.ID}
	err = r.results.blobs.GetJSON(ctx, run.ResearchNotesKey(round, question), &stored)
	if errors.Is(err, blob.ErrNotFound) { // they were deleted
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	open = stored.Missing
	for _, n := range stored.Notes {
		passages := convert(n.Chunks, func(id string) record.Source { return record.Source{ChunkID: id} })
		documents, all, err := r.documentsOf(ctx, passages)
		if err != nil {
			return nil, "", err
		}
		if !all {
			open = ""
			continue
		}
		notes = append(notes, researchNote{Text: n.Text, Documents: documents, Pages: n.Pages})
	}
	return notes, open, nil
}
