package activities_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// slow is a store and an index that wait for a sign of life of the activity that
// asks them, and then fail.
type slow struct {
	activities.Versions
	activities.Removals
	activities.Index
	heartbeats chan struct{}
	seen       atomic.Bool
}

func (s *slow) wait() error {
	select {
	case <-s.heartbeats:
		s.seen.Store(true)
	case <-time.After(20 * time.Second):
	}
	return errors.New("slow, and then this")
}

func (s *slow) Version(context.Context, knowledge.VersionRef) (store.Version, error) {
	return store.Version{}, s.wait()
}

func (s *slow) RunningVersions(context.Context, string, string, int) ([]store.Version, error) {
	return nil, s.wait()
}

func (s *slow) SourceKeys(context.Context, string, string, int) ([]string, error) {
	return nil, s.wait()
}

func (s *slow) RemoveRows(context.Context, store.Removal) error { return s.wait() }

func (s *slow) RemoveVersions(context.Context, string, string, int) error { return s.wait() }

func (s *slow) RemoveDocument(context.Context, string, string, int) error { return s.wait() }

// A step that is an activity of its own, and silent, passes for one whose
// process has died, and is begun anew beside itself.
func TestSlowStepsAreAlive(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step func(*activities.Ingestion) any
		in   any
	}{
		"fetch":          {func(a *activities.Ingestion) any { return a.FetchDocument }, activities.StepInput{}},
		"extract":        {func(a *activities.Ingestion) any { return a.ExtractDocument }, activities.ExtractInput{}},
		"embed":          {func(a *activities.Ingestion) any { return a.EmbedChunks }, activities.EmbedInput{}},
		"publish":        {func(a *activities.Ingestion) any { return a.PublishDocument }, activities.PublishInput{}},
		"retire":         {func(a *activities.Ingestion) any { return a.RetireVersions }, activities.StepInput{}},
		"stop ingest":    {func(a *activities.Ingestion) any { return a.StopIngest }, activities.StopInput{}},
		"discard":        {func(a *activities.Ingestion) any { return a.DiscardVersion }, activities.DiscardInput{}},
		"remove entries": {func(a *activities.Ingestion) any { return a.RemoveEntries }, activities.RemoveInput{}},
		"remove blobs":   {func(a *activities.Ingestion) any { return a.RemoveBlobs }, activities.RemoveInput{}},
		"remove rows":    {func(a *activities.Ingestion) any { return a.RemoveRows }, activities.RemoveInput{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stores := &slow{heartbeats: make(chan struct{})}
			a := tc.step(&activities.Ingestion{Versions: stores, Removals: stores, Index: stores, Log: discard()})
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(quiet())
			env := suite.NewTestActivityEnvironment()
			env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) {
				select {
				case stores.heartbeats <- struct{}{}:
				default: // it does not wait any more
				}
			})
			env.RegisterActivity(a)
			if _, err := env.ExecuteActivity(a, tc.in); err == nil || !stores.seen.Load() {
				t.Errorf("heartbeat %t, %v", stores.seen.Load(), err)
			}
		})
	}
}
