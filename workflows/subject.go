package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// SubjectInput names a run that exports or erases what a person left. Neither it nor the histories
// name the person: the activities read the name from the row of the run. The rest is carried over
// a continue-as-new.
type SubjectInput struct {
	knowledge.RunRef
	Step   int                  `json:"step,omitempty"`  // of an erasure
	After  string               `json:"after,omitempty"` // in the step
	Export ingestion.ExportStep `json:"export,omitzero"`
}

// EraseSubject removes what a person left, step by step and page by page. What a page has removed
// is not found again, so the run resumes after a crash at what is left. It cannot be canceled.
func EraseSubject(ctx workflow.Context, in SubjectInput) error {
	log, err := newEventLog(ctx, stream.Log{})
	if err != nil {
		return err
	}
	ctx = disconnected(ctx)
	err = eraseSteps(ctx, in)
	if workflow.IsContinueAsNewError(err) {
		log.carry(ctx) // the log is empty, but readers may poll it
		return err
	}
	return finishSubject(ctx, log, in.RunRef, knowledge.KindErase, err)
}

// erasureStep is a step of an erasure, which is called until it has no more pages.
type erasureStep struct {
	summary string
	run     any
}

func erasureSteps() []erasureStep {
	var acts ingestion.Activities
	return []erasureStep{
		{"end the access of the person", acts.EraseAccounts},
		{"stop the questions of the person", acts.StopSubjectRuns},
		{"remove the documents of the person", acts.EraseDocuments},
		{"remove the conversations of the person", acts.EraseConversations},
		{"remove the runs of the person", acts.EraseRuns},
		{"wait for the removals of the documents", acts.EraseDocumentRuns},
		{"remove what came meanwhile", acts.EraseAccounts},
		{"overwrite what was removed", acts.EraseFiles},
	}
}

func eraseSteps(ctx workflow.Context, in SubjectInput) error {
	steps := erasureSteps()
	for pause := 100 * time.Millisecond; in.Step < len(steps); {
		var page ingestion.SubjectResult
		s := steps[in.Step]
		if err := removeStep(ctx, s.summary, s.run, ingestion.SubjectStep{RunRef: in.RunRef, After: in.After}, &page); err != nil {
			return err
		}
		switch {
		case page.Running:
			timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: s.summary})
			if err := timer.Get(ctx, nil); err != nil {
				return err
			}
			pause = min(2*pause, time.Minute)
		case page.More:
			in.After, pause = page.After, 100*time.Millisecond
		default:
			in.Step, in.After, pause = in.Step+1, "", 100*time.Millisecond
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, EraseSubject, in)
		}
	}
	return nil
}

// ExportKept is how long the file of an export can be read.
const ExportKept = 24 * time.Hour

// ExportSubject writes what a person left into one zip, in parts, and deletes it when ExportKept is
// over. The run ends when the zip is there.
func ExportSubject(ctx workflow.Context, in SubjectInput) error {
	log, err := newEventLog(ctx, stream.Log{})
	if err != nil {
		return err
	}
	ctx = disconnected(ctx)
	in.Export.RunRef = in.RunRef
	err = exportParts(ctx, &in)
	if workflow.IsContinueAsNewError(err) {
		log.carry(ctx) // the log is empty, but readers may poll it
		return err
	}
	if failed := finishSubject(ctx, log, in.RunRef, knowledge.KindExport, err); failed != nil {
		return failed
	}
	if err == nil {
		timer := workflow.NewTimerWithOptions(ctx, ExportKept, workflow.TimerOptions{Summary: "until the export is deleted"})
		if err := timer.Get(ctx, nil); err != nil {
			return err
		}
	}
	var acts ingestion.Activities
	return removeStep(ctx, "delete the export", acts.DropExport, in.Export, nil)
}

func exportParts(ctx workflow.Context, in *SubjectInput) error {
	var acts ingestion.Activities
	for {
		var page ingestion.ExportResult
		if err := removeStep(ctx, fmt.Sprintf("write part %d of the export", in.Export.Part+1), acts.ExportPage, in.Export, &page); err != nil {
			return err
		}
		if in.Export = page.ExportStep; page.Done {
			break
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, ExportSubject, *in)
		}
	}
	return removeStep(ctx, "make the zip", acts.BuildExport, in.Export, nil)
}

// finishSubject ends the run and its log.
func finishSubject(ctx workflow.Context, log *eventLog, run knowledge.RunRef, kind knowledge.RunKind, err error) error {
	ending := record.Ending{Kind: kind}
	if err != nil {
		f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "it took too long", Retryable: true})
		ending = record.Failed(kind, f)
	}
	if err := setStatusAttribute(ctx, ending.Status()); err != nil {
		return err
	}
	var acts ingestion.Activities
	end := ingestion.FinishSubjectInput{RunRef: run, Kind: kind, Error: ending.Error, Items: log.itemsWith(0, ending)}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), acts.FinishSubject, end).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", run.Run, err)
	}
	log.end(ending)
	log.close(ctx)
	return nil
}
