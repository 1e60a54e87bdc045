package ingestion_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

func TestRemoveDocument(t *testing.T) {
	t.Parallel()

	t.Run("everything of a document is removed, and a repetition changes nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		kept := f.Upload("kept.txt", "ordinary words")
		f.Publish(kept)
		f.Publish(f.Upload("a.txt", "rare words, first"))
		in := f.Upload("a.txt", "rare words, second")
		f.Publish(in)
		others := f.Keys(blob.DocumentPrefix("w", "p", kept.Document))
		removal := f.Mark(in.Document)
		if diff := cmp.Diff([]string{"ordinary words"}, f.Finds("words")); diff != "" {
			t.Errorf("once it is marked: %s", diff)
		}
		for range 2 {
			f.Removal(removal)
			if counts, err := f.Index.Count(f.Ctx, "w", in.Document); err != nil || len(counts) != 0 {
				t.Errorf("the index has %v, %v", counts, err)
			}
			if keys := f.Keys(blob.DocumentPrefix("w", "p", in.Document)); len(keys) != 0 {
				t.Errorf("blobs are left: %v", keys)
			}
			_, err := f.Store.Document(f.Ctx, activitytest.Manager(), in.Document)
			if !knowledge.IsCode(err, knowledge.CodeNotFound) {
				t.Errorf("the document is there: %v", err)
			}
			if diff := cmp.Diff([]string{"ordinary words"}, f.Finds("words")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(others, f.Keys(blob.DocumentPrefix("w", "p", kept.Document))); diff != "" {
				t.Errorf("another document's blobs: %s", diff)
			}
		}
	})

	t.Run("a newer version that is uploaded meanwhile stays", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first := f.Upload("a.txt", "the first version")
		f.Publish(first)
		removal := f.Mark(first.Document)
		second := f.Upload("a.txt", "the second version")
		f.Removal(removal)
		f.Publish(second)
		f.Must(act(f, f.Ingestion.RemoveEntries, removal)) // late repeats
		f.Must(act(f, f.Ingestion.RemoveBlobs, removal))
		f.Must(act(f, f.Ingestion.RemoveRows, removal))
		if diff := cmp.Diff([]string{"the second version"}, f.Finds("version")); diff != "" {
			t.Error(diff)
		}
		v, err := f.Store.Version(f.Ctx, second.VersionRef)
		f.Must(err)
		if there, err := f.Blobs.Exists(f.Ctx, v.SourceKey); err != nil || !there {
			t.Errorf("its original is there: %t, %v", there, err)
		}
		if diff := cmp.Diff(f.named(second), f.Vectors(second)); diff != "" || len(f.named(second)) == 0 {
			t.Errorf("its vectors (-named +there): %s", diff)
		}
	})

	t.Run("an upload whose version is not stored yet keeps its bytes", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		early := blob.UploadKey("w", "p", in.Document, "on-its-way")
		_, err := f.Blobs.Put(f.Ctx, early, []byte("text"))
		f.Must(err)
		removal := f.Mark(in.Document)
		f.Must(act(f, f.Ingestion.RemoveBlobs, removal))
		if there, err := f.Blobs.Exists(f.Ctx, early); err != nil || !there {
			t.Errorf("there: %t, %v", there, err)
		}
	})
}

func TestStopIngest(t *testing.T) {
	t.Parallel()

	t.Run("an ingest is signaled once, and is running until no step of the version runs", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		removal := ingestion.StopInput{RemoveInput: f.Mark(in.Document)}
		f.Workflows.Running, f.Workflows.Version = 9, in.Version
		for range 3 {
			result := f.Stop(removal)
			if !result.Running || !result.Signaled {
				t.Errorf("%+v while a step runs", result)
			}
			removal.Signaled = result.Signaled
		}
		f.Workflows.Version = 0 // its end is being written, which may wait for room on the disk
		if result := f.Stop(removal); result.Running {
			t.Errorf("%+v once no step runs", result)
		}
		if f.Workflows.Stopped != 1 {
			t.Errorf("signaled %d times", f.Workflows.Stopped)
		}
	})

	t.Run("the removal does not wait for a newer version", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		f.Workflows.Version = in.Version + 1
		if result := f.Stop(ingestion.StopInput{RemoveInput: f.Mark(in.Document), Signaled: true}); result.Running {
			t.Errorf("%+v", result)
		}
	})

	t.Run("the run of a newer version continues", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		removal := f.Mark(in.Document)
		newer := f.Upload("a.txt", "text")
		f.Stop(ingestion.StopInput{RemoveInput: removal})
		if run, err := f.Store.RunForSystem(f.Ctx, "w", newer.Run); err != nil || run.Status != knowledge.RunRunning {
			t.Errorf("the newer run is %s, %v", run.Status, err)
		}
	})
}

func TestStopIngestEndsRuns(t *testing.T) {
	t.Parallel()

	t.Run("the removal ends the run of a workflow that ended without doing so", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		f.Workflows.Version = -1
		f.Stop(ingestion.StopInput{RemoveInput: f.Mark(in.Document), Signaled: true})
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		if f.Must(err); run.Status != knowledge.RunCanceled {
			t.Errorf("the run is %s", run.Status)
		}
	})

	t.Run("a run without a workflow is ended, with a log", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		removal := f.Mark(in.Document)
		for range 2 {
			f.Stop(ingestion.StopInput{RemoveInput: removal})
		}
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		f.Must(err)
		var log stream.StoredLog
		f.Must(f.Blobs.GetJSON(f.Ctx, run.LogKey, &log))
		if run.Status != knowledge.RunCanceled || len(log.Items) != 1 || log.Items[0].Topic != "error" {
			t.Errorf("run %s, log %+v", run.Status, log)
		}
	})

	t.Run("a run that has items in its workflow's log ends after them", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Upload("a.txt", "text")
		in := f.Upload("a.txt", "text")
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in, FirstOffset: 2, BeginOnly: true})
		f.Must(err)
		for _, version := range []int{1, 1, 2, 2} {
			e, err := stream.NewEntry(stream.TopicDocument, stream.Event{Data: stream.Data(map[string]int{"version": version})})
			f.Must(err)
			f.Workflows.Logged.Append(e)
		}
		f.Stop(ingestion.StopInput{RemoveInput: f.Mark(in.Document)})
		var got []string
		for _, item := range f.stored(in.Run).Items {
			got = append(got, fmt.Sprint(item.Offset, " ", item.Topic))
		}
		if diff := cmp.Diff([]string{"2 documentUpdate", "3 documentUpdate", "4 error"}, got); diff != "" {
			t.Error(diff)
		}
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		if err != nil || run.Error == nil || run.Error.Code != knowledge.CodeCanceled {
			t.Errorf("run %+v, %v", run, err)
		}
	})

	t.Run("reading a log is retried, and the end of a lost log is at its first offset", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in, FirstOffset: 0, BeginOnly: true})
		f.Must(err)
		e, err := stream.NewEntry(stream.TopicDocument, stream.Event{Data: stream.Data(map[string]int{"version": 1})})
		f.Must(err)
		f.Workflows.Logged.Append(e)
		removal := f.Mark(in.Document)
		f.Workflows.Unread = errors.New("the worker is busy")
		f.FailedWith(second(do(f, f.Ingestion.StopIngest, ingestion.StopInput{RemoveInput: removal})), knowledge.CodeInternal, true)
		if run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run); err != nil || run.Status != knowledge.RunRunning {
			t.Fatalf("the run is %s, %v", run.Status, err)
		}
		f.Workflows.Unread = nil
		f.Stop(ingestion.StopInput{RemoveInput: removal})
		if items := f.stored(in.Run).Items; len(items) != 2 || items[1].Offset != 1 {
			t.Errorf("its log is %+v", items)
		}

		lost := f.Upload("b.txt", "text")
		_, err = do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: lost, FirstOffset: 7, BeginOnly: true})
		f.Must(err)
		f.Workflows.Unread = fmt.Errorf("query: %w", stream.ErrLogLost)
		f.Stop(ingestion.StopInput{RemoveInput: f.Mark(lost.Document)})
		if items := f.stored(lost.Run).Items; len(items) != 1 || items[0].Offset != 7 {
			t.Errorf("the lost log is %+v", items)
		}
	})
}

func TestFinishRemoval(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.Upload("a.txt", "text")
	removal := f.Mark(in.Document)
	f.Removal(removal)
	finish := ingestion.FinishInput{StepInput: ingestion.StepInput{VersionRef: in.VersionRef, Run: removal.Run}, Status: "completed"}
	f.Must(act(f, f.Ingestion.FinishRemoval, finish))
	stored := f.stored(removal.Run)
	finish.Status, finish.Items = "failed", []stream.Item{{Topic: stream.TopicError}}
	finish.Error = &knowledge.DocumentError{Code: knowledge.CodeInternal}
	f.Must(act(f, f.Ingestion.FinishRemoval, finish))
	run, err := f.Store.RunForSystem(f.Ctx, "w", removal.Run)
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
	run, err := f.Store.RunForSystem(f.Ctx, "w", id)
	f.Must(err)
	f.Must(f.Blobs.GetJSON(f.Ctx, run.LogKey, &log))
	return log
}
