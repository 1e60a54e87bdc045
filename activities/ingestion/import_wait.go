package ingestion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
)

// StepTurn is how a step of an import takes its turn at the model.
type StepTurn struct {
	// Waits reports that the workflow waits while the provider is held: the step then fails
	// at once with an error that Temporal does not retry, and is run again. Workflows of
	// older versions do not.
	Waits bool `json:"waits,omitempty"`
	// Waited reports that the step was held back before, and has waited as it was told.
	Waited bool `json:"waited,omitempty"`
	// Now sends the first request although the provider asked for a pause.
	Now bool `json:"now,omitempty"`
}

// heldPatience is how long a step whose workflow can wait does so in its slot. It is as long
// as the pauses that are obeyed to the second.
const heldPatience = time.Minute

// turn returns the step's turn at the model.
func (t StepTurn) turn() model.Turn {
	patience := importPatience
	if t.Waits {
		patience = heldPatience
	}
	return model.Turn{Patience: patience, Waited: t.Waited, Now: t.Now, Leaves: t.Waits}
}

// look fails as Held if the provider is held, before a batch reads what it could not embed.
func (b *importBatch) look(ctx context.Context) error {
	if !b.turn.Waits || b.Request.DryRun {
		return nil
	}
	_, generations, err := b.a.documents.generations.of(ctx, b.Workspace, b.Project)
	if err != nil {
		return err
	}
	for _, g := range generations {
		if err := g.TakeTurn(ctx, 0, model.Turn{Look: true, Waited: b.turn.Waited, Now: b.turn.Now}); err != nil {
			return step.AtStage(knowledge.StageEmbed, err)
		}
	}
	return nil
}

// failStep is fail for a step of a page, whose readers see why it waits. name is the step's
// in its page.
func (a *Importing) failStep(ctx context.Context, b *importBatch, name string, err error) error {
	failed := a.fail(ctx, b.ImportRef, err)
	provider, ok := waitsFor(err)
	application, typed := errors.AsType[*temporal.ApplicationError](failed)
	if !ok || !typed || ctx.Err() != nil || application.NonRetryable() || application.NextRetryDelay() < time.Second {
		return failed
	}
	f := step.DescribeStep(failed, knowledge.Failure{})
	noted := a.Imports.SetImportWait(ctx, b.Import, store.ImportWait{
		Page: b.page, Step: name, Objects: max(b.waiting, 1), NextAt: time.Now().Add(application.NextRetryDelay()), Code: f.Code, Message: f.Message,
	})
	if noted != nil { // readers who miss it see the import without it
		a.Log.WarnContext(ctx, "a wait is not noted", "import", b.Import.Import, "error", noted)
	}
	if !b.turn.Waits || !step.IsHeld(failed) {
		return failed
	}
	details := step.ErrorDetails{Code: f.Code, Stage: cmp.Or(step.StageOf(err), knowledge.StageEmbed), Provider: provider, Retryable: true, Held: true, Probed: step.IsProbe(failed)}
	return temporal.NewApplicationErrorWithOptions(application.Message(), application.Type(), temporal.ApplicationErrorOptions{
		NonRetryable: true, NextRetryDelay: application.NextRetryDelay(), Details: []any{details},
	})
}

// waitsFor reports whether a step failed because it has to wait for a provider, or for a service of
// the operator, which has no name.
func waitsFor(err error) (provider string, waits bool) {
	if refused, ok := errors.AsType[*model.Error](err); ok {
		return refused.Provider, true
	}
	known, ok := errors.AsType[*knowledge.Error](err)
	return "", ok && known.Waits
}

// endWait notes that a step waits no more.
func (a *Importing) endWait(ctx context.Context, b *importBatch, name string) error {
	if !b.turn.Waited && activity.GetInfo(ctx).Attempt <= 1 {
		return nil // it has not waited
	}
	if err := a.Imports.SetImportWait(ctx, b.Import, store.ImportWait{Page: b.page, Step: name}); err != nil {
		return fmt.Errorf("note the end of a wait: %w", err)
	}
	return nil
}

// batchStep and largeStep are the names of the steps of a page.
func batchStep(first int) string { return fmt.Sprintf("batch %d", first) }

func largeStep(objects []int) string { return fmt.Sprintf("large %d", objects[0]) }
