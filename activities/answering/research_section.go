package answering

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// SectionInput asks for a section of the report.
type SectionInput struct {
	knowledge.RunRef
	Research Research `json:"research"`
	Section  int      `json:"section"`         // 0 = first
	Plain    bool     `json:"plain,omitempty"` // its notes as a list, without a model call
}

// SectionResult names the stored section. Uncited reports that the model cited nothing,
// so that the section has only the notes.
type SectionResult struct {
	Key     string          `json:"key"`
	Uncited bool            `json:"uncited,omitempty"`
	Usage   knowledge.Usage `json:"usage,omitzero"`
}

// SectionRecord is a stored section of the report with its heading.
type SectionRecord struct {
	Text    string `json:"text"`
	Used    []int  `json:"used,omitempty"` // ranks that it cites
	Uncited bool   `json:"uncited,omitempty"`
	// Order are the ranks that the report cites up to the end of this section, in the order
	// of the numbers that its citations have. nil = they are numbered by their ranks, as
	// earlier versions did.
	Order []int `json:"order"`
	step.Called
}

// WriteSection has the model write a section. It makes no call whose result is stored.
// A section can cite only passages that the model was given, with the permission of that
// moment.
func (a *Reporting) WriteSection(ctx context.Context, in SectionInput) (SectionResult, error) {
	defer step.Heartbeat(ctx)()
	key := in.ResearchKey(fmt.Sprintf("section-%d", in.Section+1))
	if in.Plain {
		key = in.ResearchKey(fmt.Sprintf("section-%d-notes", in.Section+1))
	}
	record, err := step.Stored(ctx, a.Blobs, key, func() (SectionRecord, error) { return a.section(ctx, in) })
	if err != nil {
		return SectionResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("write section %d: %w", in.Section+1, err))
	}
	return SectionResult{Key: key, Uncited: record.Uncited, Usage: record.Usage}, nil
}

func (a *Reporting) section(ctx context.Context, in SectionInput) (SectionRecord, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return SectionRecord{}, err
	}
	var outline OutlineRecord
	if err := a.Blobs.GetJSON(ctx, in.Research.Outline, &outline); err != nil {
		return SectionRecord{}, fmt.Errorf("read the outline: %w", err)
	}
	if in.Section >= len(outline.Sections) {
		return SectionRecord{}, fmt.Errorf("the outline has no section %d", in.Section)
	}
	all, err := a.research.notes(ctx, request, in.Research)
	if err != nil {
		return SectionRecord{}, err
	}
	noted := all.only(outline.Sections[in.Section].Notes)
	written := SectionRecord{}
	if !in.Plain && len(noted.list) > 0 {
		if written, err = a.writeSection(ctx, request, in, outline, noted); err != nil {
			return written, err
		}
	}
	if len(written.Used) == 0 {
		written.Uncited = !in.Plain && len(noted.list) > 0
		written.Text, written.Used = noted.text()
	}
	order, err := a.citedBefore(ctx, in)
	if err != nil {
		return written, err
	}
	if order != nil {
		written.Text, written.Order = inOrder(written.Text, order)
	}
	title := ""
	if in.Section == 0 && outline.Title != "" {
		title = "# " + outline.Title + "\n\n"
	}
	written.Text = title + "## " + outline.Sections[in.Section].Heading + "\n\n" + strings.TrimSpace(written.Text) + "\n\n"
	return written, nil
}

// citedBefore returns the Order of the section before, nil = the numbers of its citations
// are their ranks.
func (a *Reporting) citedBefore(ctx context.Context, in SectionInput) ([]int, error) {
	written := in.Research.Sections
	switch {
	case len(written) != in.Section: // an earlier version did not name them
		return nil, nil
	case len(written) == 0:
		return []int{}, nil
	}
	var before SectionRecord
	if err := a.Blobs.GetJSON(ctx, written[len(written)-1].Key, &before); err != nil {
		return nil, fmt.Errorf("read section %d: %w", in.Section, err)
	}
	return before.Order, nil
}

// inOrder numbers the citations of a text in the order in which the report cites, and
// returns that order with the citations of the text.
func inOrder(text string, order []int) (string, []int) {
	text = citation.Number(text, func(rank int) int {
		if !slices.Contains(order, rank) {
			order = append(order, rank)
		}
		return slices.Index(order, rank) + 1
	})
	return text, order
}

func (a *Reporting) writeSection(ctx context.Context, r knowledge.Request, in SectionInput, outline OutlineRecord, noted noted) (SectionRecord, error) {
	prompts, err := a.research.prompts(ctx, r, Research{Messages: in.Research.Messages})
	if err != nil {
		return SectionRecord{}, err
	}
	prompts.Notes = noted.prompted(true)
	headings := make([]string, 0, len(outline.Sections))
	for _, s := range outline.Sections {
		headings = append(headings, s.Heading)
	}
	system, user := prompts.Section(headings[in.Section], headings, noted.passages)
	rewriter := citation.NewRewriter(noted.passages)
	said, done, err := a.research.chatForResearch(ctx, in.RunRef, r.Config, model.ChatRequest{
		Temperature: r.Config.AI.Temperature, MaxTokens: r.Config.AI.MaxTokens, Seed: seed(),
		Messages: []model.Message{{Role: model.RoleSystem, Content: system}, {Role: model.RoleUser, Content: user}},
	})
	if err != nil {
		return SectionRecord{}, err
	}
	if said, err = a.research.chats.redacted(ctx, r.Config.Privacy, said); err != nil {
		return SectionRecord{}, err
	}
	text := rewriter.Write(said)
	text += rewriter.Close()
	if wrong := citation.Unresolved(text, noted.passages); len(wrong) > 0 {
		a.Log.ErrorContext(ctx, "a section cites what was not read, and is replaced by its notes", "run", in.Run, "section", in.Section+1, "citations", wrong)
		return SectionRecord{Called: step.NewCalled(done)}, nil
	}
	return SectionRecord{Text: text, Used: rewriter.Used(), Called: step.NewCalled(done)}, nil
}

// text returns the notes as a list with citations, and the ranks that it cites.
func (n noted) text() (text string, used []int) {
	var b strings.Builder
	for _, x := range n.list {
		b.WriteString("- " + strings.TrimSpace(x.Text))
		for _, rank := range x.ranks {
			fmt.Fprintf(&b, " <source_%d>", rank)
		}
		b.WriteByte('\n')
	}
	rewriter := citation.NewRewriter(n.passages)
	text = rewriter.Write(b.String())
	return text + rewriter.Close(), rewriter.Used()
}

// ShowInput names a part of the report to show to readers.
type ShowInput struct {
	knowledge.RunRef
	Key  string `json:"key"`
	Part int    `json:"part"` // 1 = first
}

// ShowReport publishes a part of the report to the run's log. Publishing a part again
// changes nothing. It is a local activity.
func (a *Reporting) ShowReport(ctx context.Context, in ShowInput) error {
	if err := a.showReport(ctx, in); err != nil {
		return a.fail(ctx, in.RunRef, fmt.Errorf("show part %d of the report: %w", in.Part, err))
	}
	return nil
}

func (a *Reporting) showReport(ctx context.Context, in ShowInput) error {
	var section SectionRecord
	if err := a.Blobs.GetJSON(ctx, in.Key, &section); err != nil {
		return fmt.Errorf("read part %s: %w", in.Key, err)
	}
	batch := stream.Batch{PublisherID: "report", Sequence: int64(in.Part)}
	for rest := section.Text; rest != ""; {
		var text string
		text, rest = cutAt(rest, maxBatch)
		batch.Items = append(batch.Items, record.Entry(stream.TopicDelta, stream.Event{Text: text}))
	}
	if len(batch.Items) == 0 {
		return nil
	}
	return a.Workflows.Publish(ctx, in.LogWorkflowID(), batch)
}
