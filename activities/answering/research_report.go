package answering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/phrase"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// ReportInput asks for the report of a research that is written.
type ReportInput struct {
	knowledge.RunRef
	Research Research        `json:"research"`
	Usage    knowledge.Usage `json:"usage"`
}

// ReportResult names the report, and its last part, which says what it leaves out.
type ReportResult struct {
	Key     string `json:"key"`
	LeftOut string `json:"left_out"`
}

// JoinReport stores the report: its sections, and a part that says what was left out and
// what failed.
func (a *Reporting) JoinReport(ctx context.Context, in ReportInput) (ReportResult, error) {
	defer step.Heartbeat(ctx)()
	result := ReportResult{Key: in.ResearchKey("report"), LeftOut: in.ResearchKey("left-out")}
	if err := a.joinReport(ctx, in, result); err != nil {
		return result, a.fail(ctx, in.RunRef, fmt.Errorf("join the report: %w", err))
	}
	return result, nil
}

func (a *Reporting) joinReport(ctx context.Context, in ReportInput, out ReportResult) error {
	leftOut, err := a.leftOut(ctx, in)
	if err != nil {
		return err
	}
	if _, err := a.Blobs.PutJSON(ctx, out.LeftOut, SectionRecord{Text: leftOut}); err != nil {
		return fmt.Errorf("store what the report leaves out: %w", err)
	}
	report, text := record.ModelCall{Usage: in.Usage}, strings.Builder{}
	for _, s := range in.Research.Sections {
		var section SectionRecord
		if err := a.Blobs.GetJSON(ctx, s.Key, &section); err != nil {
			return fmt.Errorf("read section %s: %w", s.Key, err)
		}
		text.WriteString(section.Text)
		report.Used = append(report.Used, section.Used...)
		report.Order = section.Order
		if section.Model != "" {
			report.Model = section.Model
		}
	}
	text.WriteString(leftOut)
	report.Text, report.Raw = text.String(), text.String()
	slices.Sort(report.Used)
	report.Used = slices.Compact(report.Used)
	// The sources of the report are those that it cites.
	found, err := a.passages.searches(ctx, in.Research.Found())
	if err != nil {
		return err
	}
	for _, p := range found.all {
		if !slices.Contains(report.Used, p.Rank) {
			report.LeftOut = append(report.LeftOut, p.Rank)
		}
	}
	if _, err := a.Blobs.PutJSON(ctx, out.Key, report); err != nil {
		return fmt.Errorf("store the report: %w", err)
	}
	return nil
}

// leftOut returns the part of the report that says what it leaves out, "" = nothing.
func (a *Reporting) leftOut(ctx context.Context, in ReportInput) (string, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return "", err
	}
	list := leftOutList{Phrases: phrase.For(request.Question)}
	if reason := in.Research.Ended.words(list.Phrases); reason != "" {
		list.add(list.EndedEarly, reason)
	}
	if err := a.unreadAttachments(ctx, request, in.Research, &list); err != nil {
		return "", err
	}
	for _, r := range in.Research.Reading {
		q, err := a.research.question(ctx, r.Plan, r.Question)
		if err != nil {
			return "", err
		}
		notes := NotesRecord{}
		if r.Notes != "" {
			if err := a.Blobs.GetJSON(ctx, r.Notes, &notes); err != nil {
				return "", fmt.Errorf("read notes %s: %w", r.Notes, err)
			}
		}
		question := heading(q.Question)
		switch {
		case r.Skipped:
			list.add(list.NotResearched, question)
		case r.Failure != "":
			list.add(list.Failed, question, r.Failure)
		case len(notes.Notes) == 0:
			list.add(list.NothingFound, question)
		}
		for _, m := range r.Missed {
			list.add(m.Place.notSearched(list.Phrases), question, m.Failure)
		}
	}
	if err := a.openQuestions(ctx, request, in.Research, &list); err != nil {
		return "", err
	}
	if err := a.shortSections(ctx, in.Research, &list); err != nil || list.lines.Len() == 0 {
		return "", err
	}
	text := "## " + list.LeftOut + "\n\n" + list.lines.String()
	if len(in.Research.Sections) == 0 {
		text = in.Research.withoutNotes(list.Phrases) + "\n\n" + text
	}
	return text, nil
}

// leftOutList is the list of what a report leaves out, in the language of the question.
type leftOutList struct {
	phrase.Phrases
	lines strings.Builder
}

// add adds a line: one of the phrases, with the texts that it takes.
func (l *leftOutList) add(format string, texts ...any) {
	fmt.Fprintf(&l.lines, "- "+format+"\n", texts...)
}

// openQuestions writes what the notes of the last round leave open, if the bounds of the
// research allowed no further round.
func (a *Reporting) openQuestions(ctx context.Context, request knowledge.Request, r Research, list *leftOutList) error {
	rounds := len(r.Plans)
	if rounds == 0 || r.Ended == "" && rounds < request.Config.Tools.DeepResearch.WithDefaults().Depth {
		return nil
	}
	noted, err := a.research.notes(ctx, request, r)
	if err != nil {
		return err
	}
	for _, g := range noted.gaps {
		reading := r.Reading[g.reading]
		if !g.noted || reading.Plan != r.Plans[rounds-1] {
			continue
		}
		q, err := a.research.question(ctx, reading.Plan, reading.Question)
		if err != nil {
			return err
		}
		list.add(list.StillOpen, heading(q.Question), g.text)
	}
	return nil
}

// unreadAttachments writes which attached files could not be read.
func (a *Reporting) unreadAttachments(ctx context.Context, request knowledge.Request, r Research, list *leftOutList) error {
	if len(r.Attachments) == 0 {
		return nil
	}
	files, err := a.attachments.attachedFiles(ctx, request, r.Attachments)
	for _, f := range files {
		if f.Failure != "" {
			list.add(list.NotRead, heading(f.Name), f.Failure)
		}
	}
	return err
}

// withoutNotes returns why the report has no section.
func (r Research) withoutNotes(say phrase.Phrases) string {
	if r.AllFailed() {
		return say.NothingSucceeded
	}
	for _, q := range r.Reading {
		if !q.Skipped {
			return say.NoAnswerInSources
		}
	}
	return say.NothingSearched
}

// shortSections writes which sections have only notes.
func (a *Reporting) shortSections(ctx context.Context, r Research, list *leftOutList) error {
	if len(r.Sections) == 0 {
		return nil
	}
	var outline OutlineRecord
	if err := a.Blobs.GetJSON(ctx, r.Outline, &outline); err != nil {
		return fmt.Errorf("read the outline: %w", err)
	}
	for i, s := range r.Sections {
		switch heading := outline.Sections[i].Heading; {
		case s.Skipped:
			list.add(list.OnlyNotesBudget, heading)
		case s.Failure != "":
			list.add(list.OnlyNotes, heading, s.Failure)
		}
	}
	return nil
}

// notSearched returns the sentence about a place that was not searched.
func (p Place) notSearched(say phrase.Phrases) string {
	if p == OnTheWeb {
		return say.NotSearchedOnTheWeb
	}
	return say.NotSearchedDocuments
}

func (e Exhaustion) words(say phrase.Phrases) string {
	switch e {
	case OutOfCalls:
		return say.OutOfCalls
	case OutOfTokens:
		return say.OutOfTokens
	case OutOfTime:
		return say.OutOfTime
	}
	return ""
}

// FinishResearch stores the report, the conversation and the whole log, and ends the run.
// in.Items is empty: the log is in the run's RunLog. It is a local activity.
func (a *Finishing) FinishResearch(ctx context.Context, in FinishAnswerInput) error {
	items, err := a.runLog(ctx, in.RunRef)
	if err != nil {
		return a.fail(ctx, in.RunRef, err)
	}
	end := record.Ending{Kind: knowledge.KindResearch, Answer: in.AnswerKey()}
	if in.Status != knowledge.RunCompleted {
		end = record.Failed(knowledge.KindResearch, knowledge.Failure{Code: in.Code, Message: in.Message, RetryAt: in.RetryAt, Detail: in.Detail})
	}
	items = append(items, end.Items(int64(len(items)))...)
	in.Items = items
	return a.FinishAnswer(ctx, in)
}

// runLog reads the log of a run from its segments and its RunLog.
func (a *Finishing) runLog(ctx context.Context, run knowledge.RunRef) ([]stream.Item, error) {
	var items []stream.Item
	add := func(more []stream.Item) {
		for _, item := range more {
			if item.Offset == int64(len(items)) && !stream.Terminal(item.Topic) {
				items = append(items, item)
			}
		}
	}
	for segment := 0; ; {
		page, err := a.Workflows.Events(ctx, run.LogWorkflowID(), int64(len(items)))
		if err != nil && !errors.Is(err, stream.ErrLogLost) {
			return nil, fmt.Errorf("read the log of run %s: %w", run.Run, err)
		}
		before := len(items)
		if err != nil || page.Base > int64(before) { // what left memory is in a segment
			var stored stream.StoredLog
			switch err := a.Blobs.GetJSON(ctx, run.SegmentKey(segment), &stored); {
			case errors.Is(err, blob.ErrNotFound):
				return items, nil
			case err != nil:
				return nil, fmt.Errorf("read log segment %d: %w", segment, err)
			}
			segment++
			add(stored.Items)
			continue
		}
		if add(page.Items); !page.MoreReady || len(items) == before {
			return items, nil
		}
	}
}
