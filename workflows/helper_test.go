package workflows_test

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// newEnvironment returns a test environment whose deadlock detection allows a busy
// machine more than the SDK's second for a turn of the workflow.
func newEnvironment() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	return env
}

func isContinueAsNew(err error) bool {
	var next *workflow.ContinueAsNewError
	return errors.As(err, &next)
}

// continued returns the input of the run that a continue-as-new starts.
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
