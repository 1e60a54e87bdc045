package intake_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// again sends a file with an external id, as cairn ingest does.
func (f *fixture) again(name, content string, a intake.Attributes, transcripts ...string) intake.Taken {
	f.t.Helper()
	b := f.intake.NewBatch(f.editor, f.project, intake.Run{ID: knowledge.NewID()})
	a.ExternalID = name
	err := b.Add(f.t.Context(), name, name, strings.NewReader(content))
	for _, transcript := range transcripts {
		if err == nil {
			err = b.Add(f.t.Context(), strings.TrimSuffix(name, ".flac")+".vtt", name, strings.NewReader(transcript))
		}
	}
	var taken []intake.Taken
	if err == nil {
		taken, err = b.Accept(f.t.Context(), a)
	}
	if err != nil || len(taken) != 1 {
		f.t.Fatalf("took %+v, %v", taken, err)
	}
	return taken[0]
}

// TestUnchangedFiles starts nothing for a file that is the newest version again, and
// keeps none of its bytes.
func TestUnchangedFiles(t *testing.T) {
	t.Parallel()
	const large = 200_000 // with a lease
	for name, content := range map[string]string{"small.txt": "one", "large.pdf": "%PDF-1.7\n" + strings.Repeat("x", large)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			first := f.again(name, content, intake.Attributes{})
			second := f.again(name, content, intake.Attributes{})
			if first.Unchanged || !second.Unchanged || second.Run != first.Run || second.Document.Version != 1 {
				t.Errorf("first %+v, then %+v", first, second)
			}
			if len(f.starts) != 1 || len(f.originals()) != 1 {
				t.Errorf("started %d ingestions, and left %v", len(f.starts), f.originals())
			}
			if changed := f.again(name, content+"y", intake.Attributes{}); changed.Unchanged || changed.Document.Version != 2 {
				t.Errorf("of other bytes: %+v", changed)
			}
			if forced := f.again(name, content+"y", intake.Attributes{Force: true}); forced.Unchanged || forced.Document.Version != 3 {
				t.Errorf("by force: %+v", forced)
			}
		})
	}
	t.Run("a recording with another transcript", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		const sound, hello, bye = "fLaC\x00\x00\x00\x22", "WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n", "WEBVTT\n\n00:00.000 --> 00:01.000\nBye.\n"
		f.again("talk.flac", sound, intake.Attributes{}, hello)
		if same := f.again("talk.flac", sound, intake.Attributes{}, hello); !same.Unchanged || len(f.originals()) != 2 {
			t.Errorf("with the same transcript: %+v, left %v", same, f.originals())
		}
		if other := f.again("talk.flac", sound, intake.Attributes{}, bye); other.Unchanged {
			t.Errorf("with another transcript: %+v", other)
		}
		if none := f.again("talk.flac", sound, intake.Attributes{}); none.Unchanged {
			t.Errorf("without a transcript: %+v", none)
		}
	})
	t.Run("a text in a request", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		for version, content := range []string{"", "one", "one", "two"} {
			if version == 0 {
				continue
			}
			d, err := f.take(intake.Document{Name: "a", Content: text(content), Attributes: intake.Attributes{ExternalID: "a"}})
			if want := []int{0, 1, 1, 2}[version]; err != nil || d.Version != want {
				t.Errorf("upload %d of %q is version %d, %v, want %d", version, content, d.Version, err, want)
			}
		}
	})
}

// TestUnchangedOverTwoProcesses uploads a new document to each of two processes at once.
// Each has found that there is none.
func TestUnchangedOverTwoProcesses(t *testing.T) {
	t.Parallel()
	f := open(t)
	var arrived, ended sync.WaitGroup
	arrived.Add(2)
	taken, errs := make([]intake.Taken, 2), make([]error, 2)
	for i := range errs {
		in := f.second(func(s *store.Store) intake.Store { return meeting{s, &arrived} })
		ended.Go(func() {
			taken[i], errs[i] = in.Take(t.Context(), f.editor, f.project, intake.Run{ID: knowledge.NewID()},
				intake.Document{Content: text("one"), Attributes: intake.Attributes{ExternalID: "a"}})
		})
	}
	ended.Wait()
	if errs[0] != nil || errs[1] != nil {
		t.Fatal(errs)
	}
	if taken[0].Unchanged == taken[1].Unchanged || taken[0].Run != taken[1].Run {
		t.Errorf("took %+v and %+v", taken[0], taken[1])
	}
	if left := f.originals(); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}
