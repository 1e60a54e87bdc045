package ingestion_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// slides has the parser read every PDF as a page for each list of pictures. A picture is
// its content.
func (f *fixture) slides(pages ...[]string) {
	f.Parser.Read = func(in extract.Input) (format.Result, error) {
		r := format.Result{Layout: knowledge.Layout{MediaType: extract.TypePDF}}
		for i, pictures := range pages {
			text := fmt.Sprintf("Page %d of a report", i+1)
			line := knowledge.Line{End: len(text), Page: i + 1, Box: knowledge.Box{X1: 10, Y1: 10, X2: 200, Y2: 20}}
			r.Layout.Pages = append(r.Layout.Pages, knowledge.PageSize{Page: i + 1, Width: 600, Height: 800})
			r.Layout.Blocks = append(r.Layout.Blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: text, Lines: []knowledge.Line{line}})
			for j, content := range pictures {
				name := fmt.Sprintf("figure-%d-%d.png", i+1, j+1)
				if err := os.WriteFile(filepath.Join(in.Folder, name), []byte(content), 0o600); err != nil {
					return r, err
				}
				r.Assets = append(r.Assets, format.File{Name: name, MediaType: "image/png", File: name})
				r.Layout.Blocks = append(r.Layout.Blocks, knowledge.Block{
					Kind: knowledge.BlockFigure, Figure: name, Lines: []knowledge.Line{{Page: i + 1, Box: knowledge.Box{X1: 50, Y1: 100, X2: 300, Y2: 400}}},
				})
			}
		}
		return r, nil
	}
}

func multimodal(nv *store.NewVersion) { nv.Enrichment.Pictures = true }

func byModel(nv *store.NewVersion) { nv.Override.Parser = knowledge.ParserModel }

// uploadPDF uploads a document with pictures and extracts it.
func (f *fixture) uploadPDF(name string, want ingestion.Pictures, change ...func(*store.NewVersion)) ingestion.StepInput {
	f.Helper()
	in := f.Upload(name, "%PDF-1.7\n", change...)
	_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	f.Must(err)
	extracted, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
	f.Must(err)
	if diff := cmp.Diff(want, extracted.Pictures); diff != "" || extracted.Chunks != 0 {
		f.Fatalf("%d chunks, pictures %s", extracted.Chunks, diff)
	}
	return in
}

func (f *fixture) look(in ingestion.StepInput, kind ingestion.PictureKind) error {
	f.Helper()
	_, err := do(f, f.Ingestion.ReadPictures, ingestion.ReadPicturesInput{StepInput: in, Kind: kind})
	return err
}

// described cuts a version and returns its chunks that are pictures.
func (f *fixture) described(in ingestion.StepInput) []knowledge.Chunk {
	f.Helper()
	_, err := do(f, f.Ingestion.CutDocument, in)
	f.Must(err)
	return slices.DeleteFunc(f.Chunks(in), func(c knowledge.Chunk) bool { return c.Modality != knowledge.ModalityImage })
}

func (f *fixture) metadata(in ingestion.StepInput) map[string]any {
	f.Helper()
	d, err := f.Store.Document(f.Ctx, activitytest.Manager(), in.Document)
	f.Must(err)
	return d.Metadata
}

func TestFigures(t *testing.T) {
	t.Parallel()
	figures := ingestion.Pictures{Figures: true}

	t.Run("a description is a chunk with the place of the figure", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides([]string{"revenue"}, nil)
		f.Server.ScriptChat(modeltest.Text("A bar chart of the revenue."))
		in := f.uploadPDF("a.pdf", figures, multimodal)
		f.Must(f.look(in, ingestion.FigurePictures))
		chunks := f.described(in)
		if len(chunks) != 1 || chunks[0].Text != "A bar chart of the revenue." || !slices.Equal(chunks[0].Figures, []string{"figure-1-1.png"}) {
			t.Fatalf("chunks %+v", chunks)
		}
		want := knowledge.Lines{{End: 27, Page: 1, Box: knowledge.Box{X1: 50, Y1: 100, X2: 300, Y2: 400}}}
		if diff := cmp.Diff(want, chunks[0].Lines); diff != "" {
			t.Error(diff)
		}
		request := f.Server.Requests()[0]
		if pictures := request.Messages[len(request.Messages)-1].Pictures; len(pictures) != 1 || !strings.HasPrefix(pictures[0], "data:image/png;base64,") {
			t.Errorf("sent %q", pictures)
		}
		if diff := cmp.Diff(map[string]any{"pictures_described": 1.0}, f.metadata(in)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a new version does not pay again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides([]string{"a", "b"})
		for range 2 {
			in := f.uploadPDF("a.pdf", figures, multimodal)
			f.Must(f.look(in, ingestion.FigurePictures))
			count := len(f.described(in)) + 1
			_, err := do(f, f.Ingestion.PublishDocument, f.Embed(in, count))
			f.Must(err)
			f.Must(act(f, f.Ingestion.RetireVersions, in))
		}
		if n := f.Server.Totals().Chats.Asked; n != 2 {
			t.Errorf("asked %d times", n)
		}
	})

	t.Run("without multimodal nothing is sent", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides([]string{"a"})
		in := f.Upload("a.pdf", "%PDF-1.7\n")
		if f.Prepare(in) != 1 || f.Server.Totals().Chats.Asked != 0 {
			t.Error("it was described")
		}
	})

	t.Run("a document of one picture that is not described names what to configure", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Parser.Read = func(in extract.Input) (format.Result, error) {
			f.Must(os.WriteFile(filepath.Join(in.Folder, "picture.png"), []byte("a"), 0o600))
			return format.Result{
				Layout: knowledge.Layout{Modality: knowledge.ModalityImage, Blocks: []knowledge.Block{{Kind: knowledge.BlockFigure, Figure: "picture.png"}}},
				Assets: []format.File{{Name: "picture.png", File: "picture.png"}},
			}, nil
		}
		in := f.uploadPDF("a.pdf", figures, multimodal)
		f.Server.ScriptChat(modeltest.Fail(http.StatusBadRequest))
		f.Must(f.look(in, ingestion.FigurePictures))
		_, err := do(f, f.Ingestion.CutDocument, in)
		f.FailedWith(err, knowledge.CodeNeedsComponent, false)
		if !strings.Contains(err.Error(), modeltest.ModelName) || !strings.Contains(err.Error(), "ai.model") {
			t.Error(err)
		}
	})

	t.Run("the pictures go with the document", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides([]string{"a"})
		in := f.uploadPDF("a.pdf", figures, multimodal)
		f.Must(f.look(in, ingestion.FigurePictures))
		prefix := blob.VersionPrefix(in.VersionRef)
		if len(f.Keys(prefix+"shown/")) != 1 || len(f.Keys(prefix+"figure-texts/")) != 1 {
			t.Fatal("nothing is stored")
		}
		f.Must(act(f, f.Ingestion.RemoveBlobs, ingestion.RemoveInput{Workspace: "w", Project: "p", Document: in.Document, Upto: 1}))
		if keys := f.Keys(prefix); len(keys) != 0 {
			t.Errorf("%q stay", keys)
		}
	})
}

func TestFiguresThatFail(t *testing.T) {
	t.Parallel()
	figures := ingestion.Pictures{Figures: true}

	t.Run("a failure costs no answer twice, and equal pictures are sent once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides([]string{"a", "b", "c"}, []string{"a", "d", "e"}, []string{"a"})
		in := f.uploadPDF("a.pdf", figures, multimodal)
		f.Server.ScriptChat(modeltest.Text("One."), modeltest.Text("Two."), modeltest.Fail(http.StatusTooManyRequests))
		f.FailedWith(f.look(in, ingestion.FigurePictures), knowledge.CodeProviderFailed, true)
		for range 2 { // the second time nothing is missing
			f.Must(f.look(in, ingestion.FigurePictures))
		}
		if chats := f.Server.Totals().Chats; chats.Answered != 5 || chats.Asked > 6+2 {
			t.Errorf("%+v for 5 pictures", chats)
		}
		if n := len(f.described(in)); n != 7 {
			t.Errorf("%d chunks", n)
		}
	})

	t.Run("a model that does not see is asked a few times, and the text is ingested", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		var many []string
		for i := range 2 * ingestion.PicturesStep {
			many = append(many, fmt.Sprint(i))
			f.Server.ScriptChat(modeltest.Fail(http.StatusBadRequest))
		}
		f.slides(many)
		in := f.uploadPDF("a.pdf", figures, multimodal)
		result, err := do(f, f.Ingestion.ReadPictures, ingestion.ReadPicturesInput{StepInput: in, Kind: ingestion.FigurePictures})
		f.Must(err)
		if result.More || f.Server.Totals().Chats.Asked > 8 {
			t.Errorf("more %t, asked %d times", result.More, f.Server.Totals().Chats.Asked)
		}
		if n := len(f.described(in)); n != 0 {
			t.Errorf("%d chunks", n)
		}
		if got := f.metadata(in)["pictures_not_described"]; got != 64.0 {
			t.Errorf("%v not described", got)
		}
	})

	t.Run("a picture that is refused does not fail the others", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides([]string{"a", "b", "c"})
		in := f.uploadPDF("a.pdf", figures, multimodal)
		f.Server.ScriptChat(modeltest.Fail(http.StatusBadRequest))
		for range 2 { // the second time it is not asked again
			f.Must(f.look(in, ingestion.FigurePictures))
		}
		if asked, chunks := f.Server.Totals().Chats.Asked, len(f.described(in)); asked != 3 || chunks != 2 {
			t.Errorf("asked %d times for %d chunks", asked, chunks)
		}
	})
}

func TestPagesByModel(t *testing.T) {
	t.Parallel()
	pages := ingestion.Pictures{Pages: true}

	t.Run("the Markdown of a page is its text, with the boxes of the words", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides(nil)
		f.Server.ScriptChat(modeltest.Text("Page 1 of a report\n\nA handwritten note"))
		in := f.uploadPDF("a.pdf", pages, byModel)
		f.Must(f.look(in, ingestion.PagePictures))
		_, err := do(f, f.Ingestion.CutDocument, in)
		f.Must(err)
		chunks := f.Chunks(in)
		if len(chunks) != 1 || chunks[0].Text != "Page 1 of a report\n\nA handwritten note" {
			t.Fatalf("chunks %+v", chunks)
		}
		want := knowledge.Lines{
			{End: 18, Page: 1, Box: knowledge.Box{X1: 10, Y1: 10, X2: 200, Y2: 20}},
			{Start: 20, End: 38, Page: 1, Box: knowledge.Box{X2: 600, Y2: 800}},
		}
		if diff := cmp.Diff(want, chunks[0].Lines); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]any{"read_by": modeltest.ModelName, "pages_transcribed": 1.0}, f.metadata(in)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a failure costs no page twice", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides(make([][]string, 9)...)
		in := f.uploadPDF("a.pdf", pages, byModel)
		f.Server.ScriptChat(modeltest.Text("One."), modeltest.Fail(http.StatusServiceUnavailable), modeltest.Text("Two."))
		f.FailedWith(f.look(in, ingestion.PagePictures), knowledge.CodeProviderFailed, true)
		f.Must(f.look(in, ingestion.PagePictures))
		if chats := f.Server.Totals().Chats; chats.Answered != 9 {
			t.Errorf("%+v for 9 pages", chats)
		}
	})

	t.Run("a model that does not see fails the document and names what to configure", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides(nil, nil)
		in := f.uploadPDF("a.pdf", pages, byModel)
		f.Server.ScriptChat(modeltest.Fail(http.StatusBadRequest), modeltest.Fail(http.StatusBadRequest))
		err := f.look(in, ingestion.PagePictures)
		f.FailedWith(err, knowledge.CodeNeedsComponent, false)
		if !strings.Contains(err.Error(), "ai.model") {
			t.Error(err)
		}
		f.Must(f.look(in, ingestion.PagePictures)) // after a retry it is asked again
	})

	t.Run("a page that is refused keeps its own text", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.slides(nil, nil)
		in := f.uploadPDF("a.pdf", pages, byModel)
		f.Server.ScriptChat(modeltest.Fail(http.StatusBadRequest), modeltest.Text("Read."))
		f.Must(f.look(in, ingestion.PagePictures))
		_, err := do(f, f.Ingestion.CutDocument, in)
		f.Must(err)
		if text := f.Chunks(in)[0].Text; !strings.Contains(text, "Read.") || !strings.Contains(text, "of a report") {
			t.Errorf("text %q", text)
		}
	})

	t.Run("a text has no pages", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "words", byModel)
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeInvalid, false)
	})
}

// picturesFor asks a question about the chunks of a version, and returns the pictures that the
// model is shown.
func (f *fixture) picturesFor(in ingestion.StepInput, chunks []knowledge.Chunk, principal knowledge.Principal) []string {
	f.Helper()
	run := f.Ask("What does the chart show?", func(r *knowledge.Request) {
		r.Principal = principal
		r.Config.AI.Multimodal = true
	})
	found := record.Search{}
	for _, c := range chunks {
		found.Passages = append(found.Passages, record.Passage{ChunkID: c.ID, DocumentID: in.Document, Version: in.Version, Span: c.Span})
	}
	_, err := f.Blobs.PutJSON(f.Ctx, run.Run+"/search", found)
	f.Must(err)
	_, err = do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1, Loop: record.Loop{Searches: []string{run.Run + "/search"}}})
	f.Must(err)
	requests := f.Server.Requests()
	return requests[len(requests)-1].Messages[1].Pictures
}

func TestShownPictures(t *testing.T) {
	t.Parallel()
	published := func(t *testing.T) (*fixture, ingestion.StepInput, []knowledge.Chunk) {
		f := newFixture(t)
		f.slides([]string{"a", "b", "c", "d", "e"})
		in := f.uploadPDF("a.pdf", ingestion.Pictures{Figures: true}, multimodal, func(nv *store.NewVersion) {
			nv.Access = &knowledge.Access{Users: []string{"ann"}}
		})
		f.Must(f.look(in, ingestion.FigurePictures))
		chunks := f.described(in)
		result, err := do(f, f.Ingestion.PublishDocument, f.Embed(in, len(chunks)+1))
		f.Must(err)
		if !result.Published {
			t.Fatal("not published")
		}
		return f, in, chunks
	}

	t.Run("the pictures of the best passages are shown, a few at most", func(t *testing.T) {
		t.Parallel()
		f, in, chunks := published(t)
		if n := len(f.picturesFor(in, chunks[:2], activitytest.Member())); n != 2 {
			t.Errorf("%d pictures of 2 passages", n)
		}
		if n := len(f.picturesFor(in, chunks, activitytest.Member())); n != 4 {
			t.Errorf("%d pictures of 5 passages", n)
		}
	})
	t.Run("the asker must be allowed to read the passage", func(t *testing.T) {
		t.Parallel()
		f, in, chunks := published(t)
		bob := knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "k", User: "bob", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
		if n := len(f.picturesFor(in, chunks, bob)); n != 0 {
			t.Errorf("%d pictures", n)
		}
	})
	t.Run("a model that refuses them answers without", func(t *testing.T) {
		t.Parallel()
		f, in, chunks := published(t)
		f.Server.ScriptChat(modeltest.Fail(http.StatusBadRequest), modeltest.Text("Revenue grows."))
		if n := len(f.picturesFor(in, chunks, activitytest.Member())); n != 0 {
			t.Errorf("%d pictures in the second request", n)
		}
		requests := f.Server.Requests()
		if n := len(requests[len(requests)-2].Messages[1].Pictures); n != 4 {
			t.Errorf("%d pictures in the first request", n)
		}
	})
}
