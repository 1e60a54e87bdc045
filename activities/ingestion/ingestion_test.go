package ingestion_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

func TestBegin(t *testing.T) {
	t.Parallel()

	t.Run("a version is begun, and again after a crash", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		for range 2 {
			if got := begin(f, in); got.Ended || got.Removing || got.Blocked || got.Fetch || got.Chunked {
				t.Errorf("begun %+v", got)
			}
		}
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		f.Must(err)
		if run.FirstOffset != 7 {
			t.Errorf("its events begin at %d", run.FirstOffset)
		}
	})

	t.Run("a version that ended, or that another run has, is not", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		if got := begin(f, ingestion.StepInput{VersionRef: in.VersionRef, Run: "another"}); !got.Ended {
			t.Errorf("another run: %+v", got)
		}
		f.Publish(in)
		if got := begin(f, in); !got.Ended {
			t.Errorf("a published version: %+v", got)
		}
		in.Version = 9
		if got := begin(f, in); !got.Ended {
			t.Errorf("a version that is not there: %+v", got)
		}
	})

	for name, tc := range map[string]struct {
		before func(f *fixture, in ingestion.StepInput)
		status knowledge.RunStatus
		end    string
	}{
		"a newer one overtook": {
			func(f *fixture, _ ingestion.StepInput) { f.Publish(f.Upload("a.txt", "newer")) }, knowledge.RunCompleted, `{"status":"completed"}`,
		},
		"is published": {
			func(f *fixture, in ingestion.StepInput) { f.Publish(in) }, knowledge.RunCompleted, `{"published":true,"status":"completed"}`,
		},
		"failed": {func(f *fixture, in ingestion.StepInput) {
			f.Must(f.Store.FailVersion(f.Ctx, in.VersionRef, in.Run, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract}))
		}, knowledge.RunFailed, `{"error":{"code":"corrupt","stage":"extract","message":"","retryable":false},"status":"failed"}`},
	} {
		t.Run("the run of one that "+name+" ends, once", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.Upload("a.txt", "text")
			tc.before(f, in)
			var first store.Run
			for range 2 {
				if got := begin(f, in); !got.Ended {
					t.Errorf("begun %+v", got)
				}
				run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
				f.Must(err)
				if first.ID == "" {
					first = run
				}
				if diff := cmp.Diff(first, run); diff != "" || run.Status != tc.status {
					t.Errorf("its run is %s %s", run.Status, diff)
				}
			}
			var log stream.StoredLog
			f.Must(f.Blobs.GetJSON(f.Ctx, first.LogKey, &log))
			if len(log.Items) != 1 || log.Items[0].Offset != 0 { // where readers of a run that never began look
				t.Fatalf("its log is %+v", log)
			}
			e, err := stream.DecodeEvent(log.Items[0].Data)
			f.Must(err)
			if diff := cmp.Diff(tc.end, string(e.Data)); diff != "" || log.Items[0].Topic != stream.TopicEnded {
				t.Errorf("%s %s", log.Items[0].Topic, diff)
			}
		})
	}

	t.Run("a version that is being removed says so, and a newer one waits", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		_, err := f.Store.MarkRemoving(f.Ctx, activitytest.Manager(), in.Document, "removal", time.Now())
		f.Must(err)
		if got := begin(f, in); !got.Removing {
			t.Errorf("the doomed one: %+v", got)
		}
		if got := begin(f, f.Upload("a.txt", "text")); !got.Blocked || got.Removing {
			t.Errorf("the newer one: %+v", got)
		}
	})
}

// begin takes the step that only begins a version.
func begin(f *fixture, in ingestion.StepInput) ingestion.PrepareResult {
	f.Helper()
	result, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in, FirstOffset: 7, BeginOnly: true})
	f.Must(err)
	return result
}

func TestPrepareDocument(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, content, mediaType string
		small                    bool
		code                     knowledge.Code
	}{
		"a small text":   {"a.txt", "some text", "text/plain", true, ""},
		"a larger text":  {"a.md", strings.Repeat("# words\n", 40_000), "text/markdown", false, ""},
		"a PDF":          {"a.pdf", "%PDF-1.7\n", "application/pdf", false, ""},
		"text far below": {"a.txt", strings.Repeat(" ", 10<<10) + "text", "text/plain", true, ""},
		"an empty file":  {"a.txt", "", "", false, knowledge.CodeEmpty},
		"an unknown one": {"a.txt", "\x7fELF\x02\x01\x01\x00\x00\x00", "", false, knowledge.CodeUnsupportedFormat},
		"a long text":    {"a.txt", strings.Repeat("x", 1<<19+1), "", false, knowledge.CodeTooLarge},
		"a large file":   {"a.pdf", "%PDF-1.7\n" + strings.Repeat("x", 1<<20), "", false, knowledge.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.Upload(tc.file, tc.content)
			got, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in, FirstOffset: 7})
			run, runErr := f.Store.RunForSystem(f.Ctx, "w", in.Run)
			f.Must(runErr)
			if run.FirstOffset != 7 {
				t.Errorf("its events begin at %d", run.FirstOffset)
			}
			if tc.code != "" {
				f.FailedWith(err, tc.code, false)
				if stage := step.Describe(err, knowledge.Failure{}).Stage; stage != knowledge.StageCheck {
					t.Errorf("it failed at stage %q", stage)
				}
				return
			}
			f.Must(err)
			next := knowledge.StageExtract
			if tc.small {
				next = knowledge.StageEmbed
			}
			if got.Small != tc.small || got.Chunked != tc.small || got.Bytes != int64(len(tc.content)) {
				t.Errorf("got %+v", got)
			}
			v, err := f.Store.Version(f.Ctx, in.VersionRef)
			f.Must(err)
			if v.MediaType != tc.mediaType || v.Bytes != got.Bytes || v.Stage != next || !v.Begun {
				t.Errorf("SQL says %s, %d bytes, stage %s, begun %t", v.MediaType, v.Bytes, v.Stage, v.Begun)
			}
		})
	}

	t.Run("what was declared counts where the name says nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("Handbook", "# Leave", func(nv *store.NewVersion) { nv.MediaType = "text/markdown" })
		for range 2 { // the second attempt uses the media type that the first one detected
			f.Prepare(in)
			if v, err := f.Store.Version(f.Ctx, in.VersionRef); err != nil || v.MediaType != "text/markdown" {
				t.Errorf("media type %s, %v", v.MediaType, err)
			}
		}
	})

	t.Run("a small text is cut once, with one write to SQL", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "one\n\ntwo")
		count := f.Prepare(in)
		if again := f.Prepare(in); again != count || count == 0 || f.Parser.Calls != 1 {
			t.Errorf("%d chunks, then %d; parsed %d times", count, again, f.Parser.Calls)
		}
	})

	t.Run("a small text that cannot be parsed says at which stage", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Parser.Err = knowledge.Errorf(knowledge.CodeCorrupt, "it cannot be parsed")
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: f.Upload("a.txt", "text")})
		f.FailedWith(err, knowledge.CodeCorrupt, false)
		if stage := step.Describe(err, knowledge.Failure{}).Stage; stage != knowledge.StageExtract {
			t.Errorf("it failed at stage %q", stage)
		}
	})
}

func TestPrepareWithoutBytesOrRow(t *testing.T) {
	t.Parallel()

	t.Run("missing bytes have to be uploaded again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		v, err := f.Store.Version(f.Ctx, in.VersionRef)
		f.Must(err)
		f.Must(f.Blobs.Delete(f.Ctx, v.SourceKey))
		_, err = do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeCorrupt, false)
	})

	t.Run("a version without a row is being removed until its run has ended", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		removal := f.Mark(in.Document)
		f.Must(act(f, f.Ingestion.RemoveRows, removal))
		got, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		if f.Must(err); !got.Removing {
			t.Errorf("got %+v", got)
		}
		f.Must(f.Store.EndRun(f.Ctx, "w", in.Run, store.RunEnd{Status: knowledge.RunCanceled}))
		got, err = do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		if f.Must(err); !got.Ended {
			t.Errorf("once its run has ended: %+v", got)
		}
	})
}

func TestExtractDocument(t *testing.T) {
	t.Parallel()

	t.Run("a document is parsed once, and its temporary copy is deleted", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "one\n\ntwo")
		for range 2 {
			_, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
			f.Must(err)
		}
		if f.Parser.Calls != 1 {
			t.Errorf("parsed %d times", f.Parser.Calls)
		}
		for _, file := range f.Parser.Files {
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Errorf("the copy %s is left behind: %v", file, err)
			}
		}
	})

	t.Run("a file that cannot be parsed is refused, and nothing is stored", func(t *testing.T) {
		t.Parallel()
		for _, code := range []knowledge.Code{knowledge.CodeEncrypted, knowledge.CodeCorrupt, knowledge.CodeParseLimit, knowledge.CodeMalformed} {
			f := newFixture(t)
			f.Parser.Err = knowledge.Errorf(code, "it cannot be parsed")
			in := f.Upload("a.txt", "text")
			_, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
			f.FailedWith(err, code, false)
			if keys := f.Keys(blob.VersionPrefix(in.VersionRef)); len(keys) != 0 {
				t.Errorf("stored %v", keys)
			}
			f.Parser.Err = nil // a retry by somebody parses it again
			_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
			f.Must(err)
		}
	})

	t.Run("the death of a child is retried", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Parser.Err = os.ErrClosed
		_, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: f.Upload("a.txt", "text")})
		f.FailedWith(err, knowledge.CodeInternal, true)
		if strings.Contains(err.Error(), os.ErrClosed.Error()) {
			t.Errorf("the message of a child is in history: %v", err)
		}
	})

}

func TestEnrichAndChunk(t *testing.T) {
	t.Parallel()

	t.Run("language and chunk count are stored with the version", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		const paragraph = "The garden behind the house was full of old apple trees, and nobody had picked the fruit for years. "
		in := f.Upload("a.txt", strings.Repeat(paragraph, 9)+"\n\n"+strings.Repeat(paragraph, 9))
		count := f.Prepare(in)
		v, err := f.Store.Version(f.Ctx, in.VersionRef)
		f.Must(err)
		if count < 2 || v.ChunkCount != count || v.Language != "eng" || v.Stage != knowledge.StageEmbed {
			t.Errorf("%d chunks; SQL says %d, language %s, stage %s", count, v.ChunkCount, v.Language, v.Stage)
		}
		for i, c := range f.Chunks(in) {
			if c.ID != knowledge.ChunkID(in.Document, in.Version, i) || c.Language != "eng" {
				t.Errorf("chunk %d: id %s, language %s", i, c.ID, c.Language)
			}
		}
	})

	t.Run("source code has no language", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.go", strings.Repeat("// The garden behind the house was full of old apple trees.\n", 9))
		f.Prepare(in)
		v, err := f.Store.Version(f.Ctx, in.VersionRef)
		f.Must(err)
		if v.Language != "und" {
			t.Errorf("language %s of %s", v.Language, v.MediaType)
		}
	})

	t.Run("a document without words is empty", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", " \n\n \t")
		_, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeEmpty, false)
		if stage := step.Describe(err, knowledge.Failure{}).Stage; stage != knowledge.StageChunk {
			t.Errorf("it failed at stage %q", stage)
		}
	})
}

func TestStepsOfAVersionThatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.Upload("a.txt", "text")
	count := f.Prepare(in)
	f.Remove(in.Document)
	for name, err := range map[string]error{
		"fetch":   act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}),
		"extract": second(do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})),
		"embed":   act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: in, Last: count, Count: count}),
		"publish": second(do(f, f.Ingestion.PublishDocument, ingestion.PublishInput{StepInput: in})),
	} {
		t.Log(name)
		f.FailedWith(err, knowledge.CodeNotFound, false)
	}
	if n := f.Server.Totals().Embeddings.Asked; n != 0 {
		t.Errorf("a model was asked %d times", n)
	}
}

func second[T any](_ T, err error) error { return err }

// ended returns the log of a run that has only its end.
func ended(t *testing.T, offset int64) []stream.Item {
	t.Helper()
	entry, err := stream.NewEntry(stream.TopicEnded, stream.Event{Data: stream.Data(map[string]string{"status": "completed"})})
	if err != nil {
		t.Fatal(err)
	}
	return []stream.Item{{Topic: entry.Topic, Data: entry.Data, Offset: offset}}
}

func TestFinishVersion(t *testing.T) {
	t.Parallel()
	items := func(t *testing.T) []stream.Item { return ended(t, 3) }

	t.Run("the first end is stored, with the log", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		f.Publish(in)
		stop := f.Hub.Follow(in.Run)
		defer stop()
		finish := ingestion.FinishInput{StepInput: in, Status: "completed", Items: items(t)}
		f.Must(act(f, f.Ingestion.FinishVersion, finish))
		first, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		f.Must(err)
		f.Must(act(f, f.Ingestion.FinishVersion, finish))
		again, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		f.Must(err)
		if diff := cmp.Diff(first, again); diff != "" || first.Status != knowledge.RunCompleted {
			t.Errorf("status %s, ended again: %s", first.Status, diff)
		}
		var log stream.StoredLog
		f.Must(f.Blobs.GetJSON(f.Ctx, first.LogKey, &log))
		if diff := cmp.Diff(finish.Items, log.Items); diff != "" {
			t.Error(diff)
		}
		given, ended, _, _ := f.Hub.Since(in.Run, 3)
		if diff := cmp.Diff(finish.Items, given); diff != "" || !ended {
			t.Errorf("the hub has the end: %t, %s", ended, diff)
		}
	})

	t.Run("a failure is the document's, and an older version stays published", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("a.txt", "the first version"))
		in := f.Upload("a.txt", "the second version")
		failure := &knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "it cannot be read"}
		finish := ingestion.FinishInput{StepInput: in, Status: "failed", Error: failure, Items: items(t)}
		for range 2 {
			f.Must(act(f, f.Ingestion.FinishVersion, finish))
			d, err := f.Store.Document(f.Ctx, activitytest.Manager(), in.Document)
			f.Must(err)
			if diff := cmp.Diff(failure, d.Error); diff != "" || d.Status != knowledge.StatusError || d.PublishedVersion != 1 {
				t.Errorf("status %s, published version %d, %s", d.Status, d.PublishedVersion, diff)
			}
		}
		if diff := cmp.Diff([]string{"the first version"}, f.Finds("version")); diff != "" {
			t.Error(diff)
		}
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		f.Must(err)
		if run.Status != knowledge.RunFailed || run.Error == nil || run.Error.Code != knowledge.CodeCorrupt {
			t.Errorf("run %+v", run)
		}
	})

	t.Run("a version that was removed meanwhile still ends its run", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		f.Remove(in.Document)
		finish := ingestion.FinishInput{StepInput: in, Status: "canceled", Error: &knowledge.DocumentError{Code: knowledge.CodeCanceled}, Items: items(t)}
		f.Must(act(f, f.Ingestion.FinishVersion, finish))
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		f.Must(err)
		if run.Status != knowledge.RunCanceled {
			t.Errorf("run %+v", run)
		}
	})
}
