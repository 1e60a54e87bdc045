package workflows_test

import (
	"errors"
	"testing"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
)

func isContinueAsNew(err error) bool {
	var next *workflow.ContinueAsNewError
	return errors.As(err, &next)
}

// continued gives the input of the run that a continue-as-new starts.
func continued[In any](t *testing.T, err error) (in In) {
	t.Helper()
	var next *workflow.ContinueAsNewError
	if !errors.As(err, &next) {
		t.Fatalf("ended with %v", err)
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
		t.Fatal(err)
	}
	return in
}
