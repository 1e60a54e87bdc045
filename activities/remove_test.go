package activities_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// mark sets the tombstone of a document.
func (f *fixture) mark(document string) activities.RemoveInput {
	f.Helper()
	run := knowledge.NewID()
	_, err := f.store.MarkRemoving(f.ctx, manager(), document, run, time.Now())
	f.must(err)
	r, err := f.store.Removal(f.ctx, manager(), document)
	f.must(err)
	return activities.RemoveInput{Workspace: "w", Project: "p", Document: document, Run: r.RunID, Upto: r.Upto}
}

// removal runs the steps of RemoveDocument, in their order.
func (f *fixture) removal(in activities.RemoveInput) {
	f.Helper()
	f.stop(activities.StopInput{RemoveInput: in})
	f.must(step(f, f.ingestion.RemoveEntries, in))
	f.must(step(f, f.ingestion.RemoveBlobs, in))
	f.must(step(f, f.ingestion.RemoveRows, in))
}

// stop runs StopIngest.
func (f *fixture) stop(in activities.StopInput) activities.StopResult {
	f.Helper()
	result, err := do(f, f.ingestion.StopIngest, in)
	f.must(err)
	return result
}

func (f *fixture) remove(document string) {
	f.Helper()
	f.removal(f.mark(document))
}

func TestRemoveDocument(t *testing.T) {
	t.Parallel()

	t.Run("everything of a document is removed, and a repetition changes nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		kept := f.upload("kept.txt", "ordinary words")
		f.publish(kept)
		f.publish(f.upload("a.txt", "rare words, first"))
		in := f.upload("a.txt", "rare words, second")
		f.publish(in)
		others := f.keys(blob.DocumentPrefix("w", "p", kept.Document))
		removal := f.mark(in.Document)
		if diff := cmp.Diff([]string{"ordinary words"}, f.finds("words")); diff != "" {
			t.Errorf("once it is marked: %s", diff)
		}
		for range 2 {
			f.removal(removal)
			if counts, err := f.index.Count(f.ctx, "w", in.Document); err != nil || len(counts) != 0 {
				t.Errorf("the index has %v, %v", counts, err)
			}
			if keys := f.keys(blob.DocumentPrefix("w", "p", in.Document)); len(keys) != 0 {
				t.Errorf("blobs are left: %v", keys)
			}
			_, err := f.store.Document(f.ctx, manager(), in.Document)
			if !knowledge.IsCode(err, knowledge.CodeNotFound) {
				t.Errorf("the document is there: %v", err)
			}
			if diff := cmp.Diff([]string{"ordinary words"}, f.finds("words")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(others, f.keys(blob.DocumentPrefix("w", "p", kept.Document))); diff != "" {
				t.Errorf("another document's blobs: %s", diff)
			}
		}
	})

	t.Run("a newer version that is uploaded meanwhile stays", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first := f.upload("a.txt", "the first version")
		f.publish(first)
		removal := f.mark(first.Document)
		second := f.upload("a.txt", "the second version")
		f.removal(removal)
		f.publish(second)
		f.must(step(f, f.ingestion.RemoveEntries, removal)) // late repeats
		f.must(step(f, f.ingestion.RemoveBlobs, removal))
		f.must(step(f, f.ingestion.RemoveRows, removal))
		if diff := cmp.Diff([]string{"the second version"}, f.finds("version")); diff != "" {
			t.Error(diff)
		}
		v, err := f.store.Version(f.ctx, second.VersionRef)
		f.must(err)
		if there, err := f.blobs.Exists(f.ctx, v.SourceKey); err != nil || !there {
			t.Errorf("its original is there: %t, %v", there, err)
		}
		if diff := cmp.Diff(f.named(second), f.vectors(second)); diff != "" || len(f.named(second)) == 0 {
			t.Errorf("its vectors (-named +there): %s", diff)
		}
	})

	t.Run("an upload whose version is not stored yet keeps its bytes", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		early := blob.UploadKey("w", "p", in.Document, "on-its-way")
		_, err := f.blobs.Put(f.ctx, early, []byte("text"))
		f.must(err)
		removal := f.mark(in.Document)
		f.must(step(f, f.ingestion.RemoveBlobs, removal))
		if there, err := f.blobs.Exists(f.ctx, early); err != nil || !there {
			t.Errorf("there: %t, %v", there, err)
		}
	})
}

func TestStopIngest(t *testing.T) {
	t.Parallel()

	t.Run("an ingest is signaled once, and is running until no step of the version runs", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		removal := activities.StopInput{RemoveInput: f.mark(in.Document)}
		f.workflows.running, f.workflows.ingesting = 9, in.Version
		for range 3 {
			result := f.stop(removal)
			if !result.Running || !result.Signaled {
				t.Errorf("%+v while a step runs", result)
			}
			removal.Signaled = result.Signaled
		}
		f.workflows.ingesting = 0 // its end is being written, which may wait for room on the disk
		if result := f.stop(removal); result.Running {
			t.Errorf("%+v once no step runs", result)
		}
		if f.workflows.stopped != 1 {
			t.Errorf("signaled %d times", f.workflows.stopped)
		}
	})

	t.Run("the removal does not wait for a newer version", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		f.workflows.ingesting = in.Version + 1
		if result := f.stop(activities.StopInput{RemoveInput: f.mark(in.Document), Signaled: true}); result.Running {
			t.Errorf("%+v", result)
		}
	})

	t.Run("the removal ends the run of a workflow that ended without doing so", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		f.workflows.ingesting = -1
		f.stop(activities.StopInput{RemoveInput: f.mark(in.Document), Signaled: true})
		run, err := f.store.RunForSystem(f.ctx, "w", in.Run)
		if f.must(err); run.Status != knowledge.RunCanceled {
			t.Errorf("the run is %s", run.Status)
		}
	})

	t.Run("a run without a workflow is ended, with a log", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		removal := f.mark(in.Document)
		for range 2 {
			f.stop(activities.StopInput{RemoveInput: removal})
		}
		run, err := f.store.RunForSystem(f.ctx, "w", in.Run)
		f.must(err)
		var log stream.StoredLog
		f.must(f.blobs.GetJSON(f.ctx, run.LogKey, &log))
		if run.Status != knowledge.RunCanceled || len(log.Items) != 1 || log.Items[0].Topic != "error" {
			t.Errorf("run %s, log %+v", run.Status, log)
		}
	})

	t.Run("a run that has items in its workflow's log ends after them", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.upload("a.txt", "text")
		in := f.upload("a.txt", "text")
		_, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in, FirstOffset: 2, BeginOnly: true})
		f.must(err)
		for _, version := range []int{1, 1, 2, 2} {
			e, err := stream.NewEntry(stream.TopicDocument, stream.Event{Data: stream.Data(map[string]int{"version": version})})
			f.must(err)
			f.workflows.log.Append(e)
		}
		f.stop(activities.StopInput{RemoveInput: f.mark(in.Document)})
		var got []string
		for _, item := range f.stored(in.Run).Items {
			got = append(got, fmt.Sprint(item.Offset, " ", item.Topic))
		}
		if diff := cmp.Diff([]string{"2 documentUpdate", "3 documentUpdate", "4 error"}, got); diff != "" {
			t.Error(diff)
		}
		run, err := f.store.RunForSystem(f.ctx, "w", in.Run)
		if err != nil || run.Error == nil || run.Error.Code != knowledge.CodeCanceled {
			t.Errorf("run %+v, %v", run, err)
		}
	})

	t.Run("reading a log is retried, and the end of a lost log is at its first offset", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		_, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in, FirstOffset: 0, BeginOnly: true})
		f.must(err)
		e, err := stream.NewEntry(stream.TopicDocument, stream.Event{Data: stream.Data(map[string]int{"version": 1})})
		f.must(err)
		f.workflows.log.Append(e)
		removal := f.mark(in.Document)
		f.workflows.unread = errors.New("the worker is busy")
		f.failed(second(do(f, f.ingestion.StopIngest, activities.StopInput{RemoveInput: removal})), knowledge.CodeInternal, true)
		if run, err := f.store.RunForSystem(f.ctx, "w", in.Run); err != nil || run.Status != knowledge.RunRunning {
			t.Fatalf("the run is %s, %v", run.Status, err)
		}
		f.workflows.unread = nil
		f.stop(activities.StopInput{RemoveInput: removal})
		if items := f.stored(in.Run).Items; len(items) != 2 || items[1].Offset != 1 {
			t.Errorf("its log is %+v", items)
		}

		lost := f.upload("b.txt", "text")
		_, err = do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: lost, FirstOffset: 7, BeginOnly: true})
		f.must(err)
		f.workflows.unread = fmt.Errorf("query: %w", stream.ErrLogLost)
		f.stop(activities.StopInput{RemoveInput: f.mark(lost.Document)})
		if items := f.stored(lost.Run).Items; len(items) != 1 || items[0].Offset != 7 {
			t.Errorf("the lost log is %+v", items)
		}
	})

	t.Run("the run of a newer version continues", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		removal := f.mark(in.Document)
		newer := f.upload("a.txt", "text")
		f.stop(activities.StopInput{RemoveInput: removal})
		if run, err := f.store.RunForSystem(f.ctx, "w", newer.Run); err != nil || run.Status != knowledge.RunRunning {
			t.Errorf("the newer run is %s, %v", run.Status, err)
		}
	})
}

func TestFinishRemoval(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.upload("a.txt", "text")
	removal := f.mark(in.Document)
	f.removal(removal)
	finish := activities.FinishInput{StepInput: activities.StepInput{VersionRef: in.VersionRef, Run: removal.Run}, Status: "completed"}
	f.must(step(f, f.ingestion.FinishRemoval, finish))
	stored := f.stored(removal.Run)
	finish.Status, finish.Items = "failed", []stream.Item{{Topic: stream.TopicError}}
	finish.Error = &knowledge.DocumentError{Code: knowledge.CodeInternal}
	f.must(step(f, f.ingestion.FinishRemoval, finish))
	run, err := f.store.RunForSystem(f.ctx, "w", removal.Run)
	if err != nil || run.Status != knowledge.RunCompleted || run.Error != nil {
		t.Errorf("run %+v, %v", run, err)
	}
	if diff := cmp.Diff(stored, f.stored(removal.Run)); diff != "" {
		t.Errorf("its log says otherwise now: %s", diff)
	}
}

// stored returns the log of a run that has ended.
func (f *fixture) stored(id string) (log stream.StoredLog) {
	f.Helper()
	run, err := f.store.RunForSystem(f.ctx, "w", id)
	f.must(err)
	f.must(f.blobs.GetJSON(f.ctx, run.LogKey, &log))
	return log
}
