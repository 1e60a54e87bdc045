package api_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// addPDF takes a PDF in and gives its document's id.
func (e *edge) addPDF(key string) string {
	return e.add(key, "a.pdf", "", map[string]any{"content": map[string]any{"base64": "JVBERi0xLjcK", "mediaType": "application/pdf"}}) // "%PDF-1.7\n"
}

func TestPagePictures(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.addPDF(e.editor)
	page := own + "/documents/" + id + "/pages/2.png"

	e.do("GET", page, e.reader, nil).refused(404, knowledge.CodeNotFound) // it is not published
	e.publish(id, knowledge.Chunk{Text: "text"})
	first := e.do("GET", page+"?dpi=150", e.reader, nil)
	if first.status != 200 || string(first.body) != "page 2 at 150 of %PDF-1.7\n" {
		t.Fatalf("%d %s", first.status, first.body)
	}
	for name, want := range map[string]string{"Content-Type": "image/png", "Cache-Control": "private, no-cache", "Etag": `"1-2-150"`} {
		if got := first.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for range 2 {
		e.do("GET", page+"?dpi=150", e.reader, nil)
		e.do("GET", page+"?dpi=151", e.reader, nil)
	}
	if diff := cmp.Diff([]extract.Drawing{{Page: 2, Resolution: 150}, {Page: 2, Resolution: 151}, {Page: 2, Resolution: 151}}, e.work.drawings); diff != "" {
		t.Errorf("drawings: the usual resolutions are stored (-want +got):\n%s", diff)
	}
	e.work.drawings = nil
	boxes := page + "?dpi=150&box=10,20.5,30,40&box=1,2,3,4"
	marked := e.do("GET", boxes, e.reader, nil)
	if got := e.do("GET", boxes, e.reader, nil, "If-None-Match", marked.header.Get("Etag")); got.status != http.StatusNotModified || marked.status != 200 || marked.header.Get("Etag") == first.header.Get("Etag") {
		t.Errorf("%d, then %d: a page with boxes has a tag of its own", marked.status, got.status)
	}
	want := extract.Drawing{Page: 2, Resolution: 150, Boxes: []knowledge.Box{{X1: 10, Y1: 20.5, X2: 30, Y2: 40}, {X1: 1, Y1: 2, X2: 3, Y2: 4}}}
	if diff := cmp.Diff([]extract.Drawing{want}, e.work.drawings); diff != "" {
		t.Errorf("drawings with boxes are not stored ones (-want +got):\n%s", diff)
	}
	if got := e.do("GET", page+"?dpi=150", e.reader, nil, "If-None-Match", `"1-2-96", W/"1-2-150"`); got.status != http.StatusNotModified || len(got.body) > 0 {
		t.Errorf("%d %s, want that the client has it", got.status, got.body)
	}
	e.do("GET", page+"?dpi=150", e.stranger, nil, "If-None-Match", "*").refused(404, knowledge.CodeNotFound)
	for _, wrong := range []string{"/pages/0.png", "/pages/2.jpg", "/pages/2.png?dpi=20", "/pages/2.png?dpi=1200", "/pages/2.png?box=1,2,3", "/pages/2.png?box=1,2,3,4,5", "/pages/2.png?box=a,b,c,d"} {
		e.do("GET", own+"/documents/"+id+wrong, e.reader, nil).refused(422, knowledge.CodeInvalid)
	}
}

func TestPagePicturesOfAnOfficeDocument(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.rtf", "", map[string]any{"content": map[string]any{"base64": "e1xydGYxIFRlYX0=", "mediaType": "application/rtf"}}) // {\rtf1 Tea}
	e.publish(id, knowledge.Chunk{Text: "Tea"})
	page := own + "/documents/" + id + "/pages/1.png"
	e.do("GET", page, e.reader, nil).refused(404, knowledge.CodeNotFound) // LibreOffice is not installed
	key := blob.AssetKey(e.dispatched(id).VersionRef, extract.PagesAsset)
	if _, err := e.blobs.Put(t.Context(), key, []byte("%PDF-1.7")); err != nil {
		t.Fatal(err)
	}
	if got := e.do("GET", page, e.reader, nil); got.status != 200 || string(got.body) != "page 1 at 96 of %PDF-1.7" {
		t.Errorf("%d %s", got.status, got.body)
	}
	e.do("GET", page, e.stranger, nil).refused(404, knowledge.CodeNotFound)
}

func TestPagesThatCannotBeShown(t *testing.T) {
	t.Parallel()
	e := open(t)
	text := e.add(e.editor, "a.txt", "one")
	e.do("GET", own+"/documents/"+text+"/pages/1.png", e.editor, nil).refused(404, knowledge.CodeNotFound)
	id := e.addPDF(e.editor)
	for _, code := range []knowledge.Code{knowledge.CodeNotFound, knowledge.CodeEncrypted} {
		e.work.fail = knowledge.Errorf(code, "the parser says so")
		status := map[knowledge.Code]int{knowledge.CodeNotFound: 404, knowledge.CodeEncrypted: 422}[code]
		e.do("GET", own+"/documents/"+id+"/pages/9.png", e.editor, nil).refused(status, code)
	}
}

func TestThePictureOfARemovedDocumentDoesNotStay(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.addPDF(e.editor)
	e.publish(id, knowledge.Chunk{Text: "text"})
	e.work.drawn = func() { e.exec("DELETE FROM documents WHERE id = ?", id) }
	e.do("GET", own+"/documents/"+id+"/pages/1.png", e.reader, nil)
	key := blob.StepKey(e.dispatched(id).VersionRef, "pages/1-96.png")
	if _, _, err := e.blobs.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the picture is stored: %v", err)
	}
}
