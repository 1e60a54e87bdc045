package intake_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestTake(t *testing.T) {
	t.Parallel()
	f := open(t)
	d, err := f.take(intake.Document{Name: "a.md", Content: text("# One"), Attributes: intake.Attributes{Tags: []string{"x"}}})
	if err != nil || d.Name != "a.md" || d.Status != knowledge.StatusPending || !slices.Equal(d.Tags, []string{"x"}) {
		t.Fatalf("%+v, %v", d, err)
	}
	if len(f.starts) != 1 || f.starts[0].Document != d.ID || f.starts[0].MediaType != "text/markdown" {
		t.Fatalf("started %+v", f.starts)
	}
	if original, err := f.blobs.Get(t.Context(), f.starts[0].SourceKey); err != nil || string(original) != "# One" {
		t.Errorf("stored %q, %v", original, err)
	}
}

// TestTakeOfARepeatedRequest finds what the request did before, and does nothing
// twice.
func TestTakeOfARepeatedRequest(t *testing.T) {
	t.Parallel()
	f := open(t)
	run := intake.Run{ID: knowledge.NewID()}
	send := func() knowledge.Document {
		taken, err := f.intake.Take(t.Context(), f.editor, f.project, run, intake.Document{Content: text("one")})
		if err != nil {
			t.Fatal(err)
		}
		return taken.Document
	}
	first := send()
	run.Repeated = true
	if again := send(); again.ID != first.ID || again.Version != first.Version || len(f.starts) != 1 || len(f.originals()) != 1 {
		t.Errorf("%+v, then %+v, after %d starts, with %v", first, again, len(f.starts), f.originals())
	}
}

// TestTakeWithoutAStart: a document whose ingestion cannot be started now is on
// record, so that it is started later.
func TestTakeWithoutAStart(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.fail = context.DeadlineExceeded
	d, err := f.take(intake.Document{Content: text("one")})
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := f.store.Document(t.Context(), f.editor, d.ID); err != nil || stored.Status != knowledge.StatusPending {
		t.Errorf("%+v, %v", stored, err)
	}
}

func TestTakeRefuses(t *testing.T) {
	t.Parallel()
	f := open(t)
	both, base64 := text("one"), "a"
	both.Base64 = &base64
	for name, c := range map[string]struct {
		document  intake.Document
		code      knowledge.Code
		locations []string
	}{
		"no content":                     {intake.Document{}, knowledge.CodeInvalid, []string{"body.content"}},
		"two contents":                   {intake.Document{Content: both}, knowledge.CodeInvalid, []string{"body.content"}},
		"what is not base64":             {intake.Document{Content: intake.Content{Base64: &base64}}, knowledge.CodeInvalid, []string{"body.content.base64"}},
		"an empty text":                  {intake.Document{Content: text("")}, knowledge.CodeEmpty, nil},
		"a long text":                    {intake.Document{Content: text(strings.Repeat("a", 1<<10+1))}, knowledge.CodeTooLarge, nil},
		"a kind that is not supported":   {intake.Document{Content: text("PK\x03\x04\x14\x00\x00\x00\x08\x00 and so on \x00\x00")}, knowledge.CodeUnsupportedFormat, nil},
		"an address without a host":      {intake.Document{Content: address("https://")}, knowledge.CodeInvalid, []string{"body.content.url"}},
		"an address with a password":     {intake.Document{Content: address("https://a:b@example.com/")}, knowledge.CodeInvalid, []string{"body.content.url"}},
		"an address of another protocol": {intake.Document{Content: address("file:///etc/passwd")}, knowledge.CodeInvalid, []string{"body.content.url"}},
		"a model for pages of a text":    {intake.Document{Content: text("one"), Attributes: intake.Attributes{Override: knowledge.Override{Parser: "model"}}}, knowledge.CodeInvalid, []string{"body.parser"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.take(c.document)
			refused(t, err, c.code, c.locations...)
			if left := f.originals(); len(left) != 0 || len(f.starts) != 0 {
				t.Errorf("left %v, started %v", left, f.starts)
			}
		})
	}
}

// TestBatchThatIsRefused leaves nothing of the files that came before.
func TestBatchThatIsRefused(t *testing.T) {
	t.Parallel()
	f := open(t)
	b := f.intake.NewBatch(f.editor, f.project, intake.Run{ID: knowledge.NewID()})
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		if err := b.Add(t.Context(), name, "", strings.NewReader("text of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	err := b.Add(t.Context(), "d.txt", "", strings.NewReader("one more than a request may have"))
	refused(t, err, knowledge.CodeInvalid, "body.files")
	if b.Discard(t.Context(), err); len(f.originals()) != 0 || b.Begun() {
		t.Errorf("left %v", f.originals())
	}
}

// TestBatchWhoseStoreFails keeps the bytes: a version may refer to them.
func TestBatchWhoseStoreFails(t *testing.T) {
	t.Parallel()
	f := open(t)
	b := f.intake.NewBatch(f.editor, f.project, intake.Run{ID: knowledge.NewID()})
	if err := b.Add(t.Context(), "a.txt", "", strings.NewReader("one")); err != nil {
		t.Fatal(err)
	}
	if b.Discard(t.Context(), errors.New("the connection broke")); len(f.originals()) != 1 {
		t.Errorf("left %v", f.originals())
	}
}

// TestTakeWithinTheBytesOfAProject refuses what would exceed the bytes of a project.
func TestTakeWithinTheBytesOfAProject(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.project.Config.Limits.Bytes = 100
	_, err := f.store.UpdateProject(t.Context(), f.key(knowledge.ScopeAdmin), f.project.ID, func(p *knowledge.Project) error {
		p.Config.Limits = f.project.Config.Limits
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.take(intake.Document{Content: text(strings.Repeat("a", 60)), Attributes: intake.Attributes{ExternalID: "a"}}); err != nil {
		t.Fatal(err)
	}
	_, err = f.take(intake.Document{Content: text(strings.Repeat("b", 60))})
	refused(t, err, knowledge.CodeLimitReached)
	if left := f.originals(); len(left) != 1 {
		t.Errorf("left %v", left)
	}
	if _, err := f.take(intake.Document{Content: text(strings.Repeat("c", 90)), Attributes: intake.Attributes{ExternalID: "a"}}); err != nil {
		t.Errorf("a new version takes the place of the old one: %v", err)
	}
}

// TestBatchWithTranscript makes a transcript part of the recording of the same name,
// whatever their order and whether or not the request is repeated.
func TestBatchWithTranscript(t *testing.T) {
	t.Parallel()
	const sound, transcript = "fLaC\x00\x00\x00\x22", "WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n"
	for behaviour, names := range map[string][]string{
		"behind the recording": {"talk.flac", "talk.vtt"}, "before the recording": {"talk.vtt", "talk.flac"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			run, attributes := intake.Run{ID: knowledge.NewID()}, intake.Attributes{ExternalID: "talk"}
			for range 2 {
				b := f.intake.NewBatch(f.editor, f.project, run)
				for _, name := range names {
					content := map[bool]string{true: transcript, false: sound}[strings.HasSuffix(name, ".vtt")]
					if err := b.Add(t.Context(), name, "", strings.NewReader(content)); err != nil {
						t.Fatal(err)
					}
				}
				taken, err := b.Accept(t.Context(), attributes)
				if err != nil || len(taken) != 1 || taken[0].Document.Name != "talk.flac" || taken[0].Document.ExternalID != "talk" {
					t.Fatalf("taken %+v, %v", taken, err)
				}
				run.Repeated = true
			}
			if len(f.starts) != 1 {
				t.Errorf("%d ingestions were started", len(f.starts))
			}
			v := f.starts[0]
			if data, err := f.blobs.Get(t.Context(), blob.BesideUpload(v.SourceKey, blob.Transcript)); err != nil || string(data) != transcript {
				t.Errorf("the transcript is %q, %v", data, err)
			}
			if left := f.originals(); len(left) != 2 {
				t.Errorf("stored are %v", left)
			}
		})
	}
	t.Run("of another recording is a document", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		b := f.intake.NewBatch(f.editor, f.project, intake.Run{ID: knowledge.NewID()})
		for name, content := range map[string]string{"a/talk.flac": sound, "b/talk.vtt": transcript} {
			if err := b.Add(t.Context(), name, "", strings.NewReader(content)); err != nil {
				t.Fatal(err)
			}
		}
		if taken, err := b.Accept(t.Context(), intake.Attributes{}); err != nil || len(taken) != 2 {
			t.Errorf("taken %+v, %v", taken, err)
		}
	})
	t.Run("that is refused leaves nothing", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		b := f.intake.NewBatch(f.editor, f.project, intake.Run{ID: knowledge.NewID()})
		for name, content := range map[string]string{"talk.flac": sound, "talk.vtt": transcript} {
			if err := b.Add(t.Context(), name, "", strings.NewReader(content)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.Accept(t.Context(), intake.Attributes{Tags: []string{""}})
		refused(t, err, knowledge.CodeInvalid, "body.tags[0]")
		if b.Discard(t.Context(), err); len(f.originals()) != 0 {
			t.Errorf("left %v", f.originals())
		}
	})
}

// TestUnsupportedFile names every kind that is supported: the list is long, and not cut.
func TestUnsupportedFile(t *testing.T) {
	t.Parallel()
	f := open(t)
	b := f.intake.NewBatch(f.editor, f.project, intake.Run{ID: knowledge.NewID()})
	if err := b.Add(t.Context(), "program", "", strings.NewReader("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00")); err != nil {
		t.Fatal(err)
	}
	_, err := b.Accept(t.Context(), intake.Attributes{})
	refused(t, err, knowledge.CodeUnsupportedFormat)
	for _, label := range []string{"CSV", "PDF", "XLSX", "source code"} {
		if !strings.Contains(err.Error(), label) {
			t.Errorf("%v does not name %s", err, label)
		}
	}
}
