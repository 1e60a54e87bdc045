package answering_test

import (
	"context"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
)

// fixture is the fixture of all activities, with the steps of this package's tests.
type fixture struct{ *activitytest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{activitytest.New(t)}
}

// do runs an activity with a result.
func do[In, Out any](f *fixture, run func(context.Context, In) (Out, error), in In) (Out, error) {
	f.Helper()
	return activitytest.Do(f.Fixture, run, in)
}

// act runs an activity without a result.
func act[In any](f *fixture, run func(context.Context, In) error, in In) error {
	f.Helper()
	return activitytest.Act(f.Fixture, run, in)
}
