package workflows

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The bounds of a generation.
const (
	writtenAtATime    = 4   // questions that are written or checked at the same time
	generationUpdates = 100 // events of progress, about
	failuresInARow    = 3   // questions whose model fails, until the generation fails
)

// GenerateInput starts the generation of a test set. The fields after GenerationState are carried
// over a continue-as-new.
type GenerateInput struct {
	answering.GenerationState
	Plan       *answering.GenerationPlan `json:"plan,omitempty"` // nil = it is not made
	Next       int                       `json:"next,omitempty"` // the next question, 0 = first
	Answerable int                       `json:"answerable,omitempty"`
	Without    int                       `json:"without,omitempty"` // questions that are kept, which have no answer
	Failures   int                       `json:"failures,omitempty"`
	Shown      int                       `json:"shown,omitempty"` // questions written at the last event
	Log        stream.Log                `json:"log,omitzero"`
}

// GenerateTestSet has a chat model write questions about passages of a project and check them, and
// stores those that are kept as a test set.
func GenerateTestSet(ctx workflow.Context, in GenerateInput) error {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return err
	}
	w := &generateTestSet{in: in, log: log}
	err = w.run(ctx)
	if errors.Is(err, errContinue) {
		w.in.Log = w.log.carry(ctx) // it has fewer entries than stay in memory
		return workflow.NewContinueAsNewError(ctx, GenerateTestSet, w.in)
	}
	return w.finish(ctx, canceled(ctx, err))
}

type generateTestSet struct {
	in    GenerateInput
	log   *eventLog
	acts  answering.Activities // for the names of its methods only
	open  int                  // questions that are written or checked now
	ended int                  // questions of this run of the workflow that have ended
	fault error                // of the store, or of a model that fails again and again
}

// run writes questions until there are enough, or none is left to write. It returns errContinue if
// the history has become long.
func (w *generateTestSet) run(ctx workflow.Context) error {
	if err := w.plan(ctx); err != nil {
		return err
	}
	for {
		if err := w.write(ctx); err != nil {
			return err
		}
		chosen, err := w.choose(ctx, false)
		if err != nil {
			return err
		}
		// Duplicates make room for further questions.
		w.in.Answerable, w.in.Without = chosen.Answerable, chosen.Without
		if w.next() < 0 {
			_, err = w.choose(ctx, true)
			return err
		}
	}
}

func (w *generateTestSet) plan(ctx workflow.Context) error {
	if w.in.Plan == nil {
		var plan answering.GenerationPlan
		options := activityOptions(ctx, "plan the questions", evaluationStepTime, importRetries())
		if err := execute(options, w.acts.PlanGeneration, w.in.RunRef, &plan); err != nil {
			return err
		}
		w.in.Plan = &plan
		w.in.Progress = knowledge.GenerationProgress{Model: plan.Model, Wanted: plan.Answerable + plan.Without, Planned: plan.Questions, Dropped: map[string]int{}}
	}
	return w.show(ctx)
}

// choose leaves out near duplicates of what was written, and counts them.
func (w *generateTestSet) choose(ctx workflow.Context, last bool) (chosen answering.ChosenQuestions, err error) {
	summary := "leave out near duplicates"
	if last {
		summary = "store the test set"
	}
	in := answering.ChooseInput{RunRef: w.in.RunRef, Written: w.in.Next, Store: last}
	if err := execute(activityOptions(ctx, summary, evaluationStepTime, importRetries()), w.acts.ChooseQuestions, in, &chosen); err != nil {
		return chosen, err
	}
	if w.in.Progress.Kept = chosen.Answerable + chosen.Without; chosen.Duplicates > 0 {
		w.in.Progress.Dropped["duplicate"] = chosen.Duplicates
	}
	return chosen, w.show(ctx)
}

// next returns the next question to write, -1 = none. Questions of which there are enough are
// passed over, those that are open among them.
func (w *generateTestSet) next() int {
	for n := w.in.Next; n < w.in.Plan.Questions; n++ {
		if _, without := slices.BinarySearch(w.in.Plan.Unanswerable, n); without && w.in.Without < w.in.Plan.Without || !without && w.in.Answerable < w.in.Plan.Answerable {
			return n
		}
	}
	return -1
}

// write keeps some questions open until there are enough, or none is left.
func (w *generateTestSet) write(ctx workflow.Context) error {
	for {
		long := isLong(ctx) && w.ended > 0
		for !long && w.fault == nil && ctx.Err() == nil && w.open < writtenAtATime {
			number := w.next()
			if number < 0 {
				break
			}
			w.in.Next = number + 1
			w.open++
			workflow.Go(ctx, func(ctx workflow.Context) { w.question(ctx, number) })
		}
		if w.open == 0 {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case w.fault != nil:
				return w.fault
			case long:
				return errContinue
			}
			return nil
		}
		ended := w.ended
		if err := workflow.Await(disconnected(ctx), func() bool { return w.ended != ended }); err != nil {
			return err
		}
	}
}

// question has a question written and checked, and shows how far the generation is now and then.
func (w *generateTestSet) question(ctx workflow.Context, number int) {
	var written answering.WrittenQuestion
	options := activityOptions(ctx, fmt.Sprintf("write question %d of %d", number+1, w.in.Plan.Questions), judgeTime, importRetries())
	err := execute(options, w.acts.WriteQuestion, answering.WriteQuestionInput{RunRef: w.in.RunRef, Number: number}, &written)
	w.open--
	w.ended++
	if ctx.Err() != nil {
		return
	}
	p := &w.in.Progress
	p.Written++
	p.Usage.Add(written.Usage)
	_, without := slices.BinarySearch(w.in.Plan.Unanswerable, number)
	switch {
	case err != nil:
		p.Dropped["failed"]++
		if w.in.Failures++; w.in.Failures >= failuresInARow && w.fault == nil {
			w.fault = err
		}
		return
	case written.Dropped != "":
		p.Dropped[written.Dropped]++
	case without:
		w.in.Without++
		p.Kept++
	default:
		w.in.Answerable++
		p.Kept++
	}
	w.in.Failures = 0
	if p.Written-w.in.Shown >= max(1, p.Planned/generationUpdates) {
		if err := w.show(ctx); err != nil && ctx.Err() == nil && w.fault == nil {
			w.fault = err
		}
	}
}

// show stores how far the generation is, and shows it to readers and to operators.
func (w *generateTestSet) show(ctx workflow.Context) error {
	w.in.Shown = w.in.Progress.Written // others do not show it beside this
	shown := w.in.GenerationState
	shown.Progress.Dropped = maps.Clone(shown.Progress.Dropped)
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "note the progress"), w.acts.NoteGeneration, shown).Get(disconnected(ctx), nil); err != nil {
		return err
	}
	p := shown.Progress
	w.log.add(stream.TopicGeneration, stream.Event{Data: stream.Data(p)})
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("| wanted | written | kept | open |\n|---|---|---|---|\n| %d | %d | %d | %d |", p.Wanted, p.Written, p.Kept, w.open))
	return nil
}

// finish writes the end of the generation in SQL, in the stored log and in the workflow's log.
func (w *generateTestSet) finish(ctx workflow.Context, err error) error {
	ctx = disconnected(ctx)
	ending := record.Ending{Kind: knowledge.KindGenerate}
	if err != nil {
		ending = record.Failed(knowledge.KindGenerate, step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the generation took too long", Retryable: true}))
	}
	if err := setStatusAttribute(ctx, ending.Status()); err != nil {
		return err
	}
	in := answering.FinishGenerationInput{GenerationState: w.in.GenerationState, Error: ending.Error, Items: w.log.itemsWith(0, ending)}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), w.acts.FinishGeneration, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", w.in.Run, err)
	}
	w.log.end(ending)
	w.log.close(ctx)
	return nil
}
