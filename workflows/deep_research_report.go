package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/record"
)

// outline outlines the report. Without budget, or if the model fails, it has a section for
// each sub-question.
func (r *research) outline(ctx workflow.Context) error {
	left, err := r.turn(ctx, 1)
	if err != nil {
		return err
	}
	in := answering.OutlineInput{RunRef: r.in.RunRef, Research: r.Research, Sections: min(answering.MaxSections, max(1, r.callsLeft()-1)), Plain: r.spent(left) != ""}
	r.update(ctx, record.ResearchData{Phase: "outline", Status: "started"}, "")
	var result answering.OutlineResult
	if !in.Plain {
		_, err = r.runInTime(ctx, 1, func(ctx workflow.Context) error {
			return execute(activityOptions(ctx, "outline the report", 10*time.Minute, questionRetries()), r.acts.OutlineReport, in, &result)
		})
		in.Plain = err != nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if in.Plain {
		in.Sections = answering.MaxSections
		if err := execute(activityOptions(ctx, "outline the report by its questions", time.Minute, storeRetries()), r.acts.OutlineReport, in, &result); err != nil {
			return err
		}
	}
	r.Usage.Add(result.Usage)
	r.Outline, r.Sections = result.Key, result.Sections
	r.update(ctx, record.ResearchData{Phase: "outline", Status: "completed"}, r.Outline)
	return nil
}

func (r *research) callsLeft() int { return r.in.Limits.Budget.Calls - r.Usage.ModelCalls }

// spent returns the part of the budget that leaves no room for one more model call.
func (r *research) spent(left time.Duration) answering.Exhaustion {
	switch {
	case left <= 0:
		return answering.OutOfTime
	case r.callsLeft() < 1:
		return answering.OutOfCalls
	case r.tokens() >= r.in.Limits.Budget.Tokens:
		return answering.OutOfTokens
	}
	return ""
}

// section writes the next section and shows it to readers. Without budget, or if the model
// fails, the section has its notes.
func (r *research) section(ctx workflow.Context) error {
	left, err := r.turn(ctx, 1)
	if err != nil {
		return err
	}
	number := len(r.Research.Sections) + 1
	in := answering.SectionInput{RunRef: r.in.RunRef, Research: r.Research, Section: number - 1}
	r.update(ctx, record.ResearchData{Phase: "section", Status: "started", Section: number}, r.Outline)
	var result answering.SectionResult
	var written answering.Section
	reason, late := r.spent(left), false
	if reason == "" {
		late, err = r.runInTime(ctx, 1, func(ctx workflow.Context) error {
			summary := fmt.Sprintf("write section %d of %d", number, r.Sections)
			return execute(activityOptions(ctx, summary, 10*time.Minute, questionRetries()), r.acts.WriteSection, in, &result)
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case late && err != nil:
			reason = answering.OutOfTime
		case err != nil:
			written.Failure = failureOf(err)
		case result.Uncited:
			written.Failure = "the model cited no source"
		}
	}
	if reason != "" {
		r.stop(ctx, reason)
		written.Skipped = true
	}
	if in.Plain = result.Key == ""; in.Plain {
		summary := fmt.Sprintf("list the notes of section %d of %d", number, r.Sections)
		if err := execute(activityOptions(ctx, summary, time.Minute, storeRetries()), r.acts.WriteSection, in, &result); err != nil {
			return err
		}
	}
	r.Usage.Add(result.Usage)
	written.Key = result.Key
	if err := r.show(ctx, written.Key, number); err != nil {
		return err
	}
	r.Research.Sections = append(r.Research.Sections, written)
	data := record.ResearchData{Phase: "section", Status: "completed", Section: number, Reason: written.Failure}
	switch {
	case written.Skipped:
		data.Status, data.Reason = "skipped", string(r.Ended)
	case written.Failure != "":
		data.Status = "failed"
	}
	r.update(ctx, data, r.Outline)
	return nil
}
