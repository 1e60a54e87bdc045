package answering

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
)

// Reporting holds the activities that write the report of a research.
type Reporting struct {
	stepLog

	Blobs       step.Blobs
	Workflows   Workflows
	attachments *attachments
	passages    *passages
	research    *research
}

// OutlineInput asks for the outline of a report.
type OutlineInput struct {
	knowledge.RunRef
	Research Research `json:"research"`
	Sections int      `json:"sections"`        // at most
	Plain    bool     `json:"plain,omitempty"` // a section for each sub-question, without a model call
}

// OutlineResult counts the sections of an outline, 0 = there are no notes to write about.
type OutlineResult struct {
	Key      string          `json:"key"`
	Sections int             `json:"sections"`
	Usage    knowledge.Usage `json:"usage,omitzero"`
}

// OutlineRecord is a stored outline.
type OutlineRecord struct {
	Title    string                   `json:"title"`
	Sections []record.OutlinedSection `json:"sections"`
	step.Called
}

var outlineTool = model.Tool{
	Name: "outline_report", Description: "Give the outline of the report.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"sections":{"type":"array","items":{"type":"object","properties":{` +
		`"heading":{"type":"string"},"notes":{"type":"array","items":{"type":"integer"}}},"required":["heading","notes"],"additionalProperties":false}}},` +
		`"required":["title","sections"],"additionalProperties":false}`),
}

// OutlineReport has the model outline the report. It makes no call whose result is stored,
// and none without notes.
func (a *Reporting) OutlineReport(ctx context.Context, in OutlineInput) (OutlineResult, error) {
	defer step.Heartbeat(ctx)()
	key, outline := in.ResearchKey("outline"), a.outline
	if in.Plain {
		key, outline = in.ResearchKey("outline-plain"), a.plainOutline
	}
	outlined, err := step.Stored(ctx, a.Blobs, key, func() (OutlineRecord, error) {
		request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
		if err != nil {
			return OutlineRecord{}, err
		}
		noted, err := a.research.notes(ctx, request, in.Research)
		if err != nil || len(noted.list) == 0 {
			return OutlineRecord{}, err
		}
		return outline(ctx, request, in, noted)
	})
	if err != nil {
		return OutlineResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("outline the report: %w", err))
	}
	return OutlineResult{Key: key, Sections: len(outlined.Sections), Usage: outlined.Usage}, nil
}

func (a *Reporting) outline(ctx context.Context, r knowledge.Request, in OutlineInput, noted noted) (OutlineRecord, error) {
	prompts, err := a.research.prompts(ctx, r, in.Research)
	if err != nil {
		return OutlineRecord{}, err
	}
	prompts.Notes = noted.prompted(false)
	system, user := prompts.Outline(in.Sections)
	var outlined OutlineRecord
	if outlined.Called, err = a.research.require(ctx, in.RunRef, r, system, user, outlineTool, &outlined); err != nil {
		return OutlineRecord{}, err
	}
	var kept []record.OutlinedSection
	for _, s := range outlined.Sections {
		s.Heading = heading(s.Heading)
		if s.Notes = noted.only(s.Notes).numbers(); s.Heading != "" && len(s.Notes) > 0 && len(kept) < in.Sections {
			kept = append(kept, s)
		}
	}
	if outlined.Sections = kept; len(kept) == 0 {
		called := outlined.Called
		outlined, err = a.plainOutline(ctx, r, in, noted)
		outlined.Called = called
	}
	outlined.Title = heading(outlined.Title)
	return outlined, err
}

// plainOutline has a section for each sub-question with notes. The last one has the notes
// of all that find no place.
func (a *Reporting) plainOutline(ctx context.Context, r knowledge.Request, in OutlineInput, noted noted) (OutlineRecord, error) {
	outline := OutlineRecord{Title: heading(r.Question)}
	last := -1
	for _, n := range noted.list {
		if n.reading != last && len(outline.Sections) < max(in.Sections, 1) {
			q, err := a.research.question(ctx, in.Research.Reading[n.reading].Plan, in.Research.Reading[n.reading].Question)
			if err != nil {
				return outline, err
			}
			outline.Sections = append(outline.Sections, record.OutlinedSection{Heading: heading(q.Question)})
			last = n.reading
		}
		s := &outline.Sections[len(outline.Sections)-1]
		s.Notes = append(s.Notes, n.number)
	}
	return outline, nil
}

// numbers returns the numbers of the notes.
func (n noted) numbers() []int {
	list := make([]int, 0, len(n.list))
	for _, x := range n.list {
		if !slices.Contains(list, x.number) {
			list = append(list, x.number)
		}
	}
	return list
}

// maxHeadingRunes bounds a title or a heading.
const maxHeadingRunes = 160

// heading returns words of a model or a user as a heading, without citations.
func heading(text string) string { return line(withoutMarks(text), maxHeadingRunes) }

// withoutMarks removes all marks that name passages.
func withoutMarks(text string) string {
	r := citation.NewRewriter(nil)
	return r.Write(text) + r.Close()
}
