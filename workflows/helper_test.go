package workflows_test

import (
	"errors"

	"go.temporal.io/sdk/workflow"
)

func isContinueAsNew(err error) bool {
	var next *workflow.ContinueAsNewError
	return errors.As(err, &next)
}
