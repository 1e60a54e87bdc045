package ingestion_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// slow is a store and an index that wait for a sign of life of the activity that
// asks them, and then fail.
type slow struct {
	ingestion.Versions
	ingestion.Removals
	ingestion.Index
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

func (s *slow) RemoveRows(context.Context, ...store.Removal) error { return s.wait() }

func (s *slow) RemoveVersions(context.Context, string, string, int) error { return s.wait() }

func (s *slow) RemoveDocument(context.Context, string, string, int) error { return s.wait() }

// A step that is an activity of its own, and silent, passes for one whose
// process has died, and is begun anew beside itself.
func TestSlowStepsAreAlive(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step func(*ingestion.Activities) any
		in   any
	}{
		"fetch":          {func(a *ingestion.Activities) any { return a.FetchDocument }, ingestion.FetchInput{}},
		"extract":        {func(a *ingestion.Activities) any { return a.ExtractDocument }, ingestion.ExtractInput{}},
		"embed":          {func(a *ingestion.Activities) any { return a.EmbedChunks }, ingestion.EmbedInput{}},
		"publish":        {func(a *ingestion.Activities) any { return a.PublishDocument }, ingestion.PublishInput{}},
		"retire":         {func(a *ingestion.Activities) any { return a.RetireVersions }, ingestion.StepInput{}},
		"stop ingest":    {func(a *ingestion.Activities) any { return a.StopIngest }, ingestion.StopInput{}},
		"discard":        {func(a *ingestion.Activities) any { return a.DiscardVersion }, ingestion.DiscardInput{}},
		"remove entries": {func(a *ingestion.Activities) any { return a.RemoveEntries }, ingestion.RemoveInput{}},
		"remove blobs":   {func(a *ingestion.Activities) any { return a.RemoveBlobs }, ingestion.RemoveInput{}},
		"remove rows":    {func(a *ingestion.Activities) any { return a.RemoveRows }, ingestion.RemoveInput{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stores := &slow{heartbeats: make(chan struct{})}
			a := tc.step(ingestion.New(ingestion.Dependencies{Versions: stores, Removals: stores, Index: stores, Log: activitytest.Discard()}))
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(activitytest.Quiet())
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
