package api_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/paged"
	"github.com/cairn-rag/cairn/internal/parsed"
)

// addOffice adds an office document that was read without pages, and what LibreOffice makes
// of it.
func (e *edge) addOffice(name string) (id, chunk string) {
	const text = "Tea is hot. Coffee is too."
	id = e.add(e.editor, name, "", map[string]any{"content": map[string]any{"base64": "e1xydGYxIFRlYX0=", "mediaType": "application/rtf"}}) // {\rtf1 Tea}
	layout := knowledge.Layout{Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: text}}}
	if _, err := e.blobs.PutJSON(e.t.Context(), parsed.LayoutKey(e.dispatched(id).VersionRef), layout); err != nil {
		e.t.Fatal(err)
	}
	e.publish(id, knowledge.Chunk{Text: text, Span: knowledge.Span{End: len(text)}})
	list := e.do("GET", own+"/documents/"+id+"/chunks", e.reader, nil).want(200)["data"].([]any)
	e.work.pages = knowledge.Layout{Pages: []knowledge.PageSize{{Page: 1, Width: 600, Height: 800}}, Blocks: []knowledge.Block{{Text: text, Lines: knowledge.Lines{
		{Start: 0, End: 11, Page: 1, Box: knowledge.Box{X1: 10, Y1: 10, X2: 120, Y2: 20}}, {Start: 12, End: 26, Page: 1, Box: knowledge.Box{X1: 10, Y1: 30, X2: 150, Y2: 40}},
	}}}}
	return id, list[0].(map[string]any)["id"].(string)
}

func TestPagesOfAnOfficeDocumentAreMade(t *testing.T) {
	t.Parallel()
	e := open(t)
	id, chunk := e.addOffice("a.rtf")
	passage := func() map[string]any {
		return e.do("GET", "/chunks/"+chunk+"?quote=Coffee+is+too.", e.reader, nil).want(200)
	}
	if boxes := passage()["boxes"].([]any); len(boxes) > 0 {
		t.Errorf("before there are pages it has the boxes %v", boxes)
	}
	want := map[string]any{"data": []any{map[string]any{"page_number": 1.0, "width": 600.0, "height": 800.0}}, "unavailable": nil}
	for range 2 {
		if diff := cmp.Diff(want, e.do("GET", own+"/documents/"+id+"/pages", e.reader, nil).want(200)); diff != "" {
			t.Error(diff)
		}
	}
	if e.work.made != 1 {
		t.Errorf("the pages were made %d times", e.work.made)
	}
	box := map[string]any{"bbox": []any{10.0, 30.0, 150.0, 40.0}, "page_number": 1.0, "page_size": []any{600.0, 800.0}}
	if diff := cmp.Diff([]any{box}, passage()["boxes"]); diff != "" {
		t.Errorf("boxes of the quotation: %s", diff)
	}
	listed := e.do("GET", own+"/documents/"+id+"/chunks", e.reader, nil).want(200)["data"].([]any)[0].(map[string]any)
	if listed["page_number"] != 1.0 || len(listed["lines"].([]any)) != 2 {
		t.Errorf("listed with the lines %v on page %v", listed["lines"], listed["page_number"])
	}
	if got := e.do("GET", own+"/documents/"+id+"/pages/1.png", e.reader, nil); string(got.body) != "page 1 at 96 of %PDF-1.7 made" {
		t.Errorf("the picture: %d %s", got.status, got.body)
	}
	e.do("GET", own+"/documents/"+id+"/pages", e.stranger, nil).refused(404, knowledge.CodeNotFound)
}

func TestAPictureMakesThePages(t *testing.T) {
	t.Parallel()
	e := open(t)
	id, _ := e.addOffice("a.rtf")
	if got := e.do("GET", own+"/documents/"+id+"/pages/1.png", e.reader, nil); got.status != 200 || string(got.body) != "page 1 at 96 of %PDF-1.7 made" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// unavailable returns the code by which a document has no pages, and the detail with which
// its pictures are refused.
func (e *edge) unavailable(id string) (code, detail string) {
	e.t.Helper()
	view := e.do("GET", own+"/documents/"+id+"/pages", e.reader, nil).want(200)
	if len(view["data"].([]any)) > 0 {
		e.t.Errorf("there are pages: %v", view)
	}
	if reason, ok := view["unavailable"].(map[string]any); ok {
		code = reason["code"].(string)
		detail = reason["message"].(string)
	}
	return code, detail
}

func TestWhyAnOfficeDocumentHasNoPages(t *testing.T) {
	t.Parallel()
	for _, code := range []knowledge.Code{knowledge.CodeParseLimit, knowledge.CodeCorrupt, knowledge.CodeEncrypted} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			e := open(t)
			id, _ := e.addOffice("a.rtf")
			e.work.fail = knowledge.Errorf(code, "LibreOffice says so")
			for range 2 {
				if got, detail := e.unavailable(id); got != string(code) || detail == "" {
					t.Errorf("code %q, %q", got, detail)
				}
			}
			if e.work.made != 1 {
				t.Errorf("it was tried %d times", e.work.made)
			}
			e.do("GET", own+"/documents/"+id+"/pages/1.png", e.reader, nil).refused(404, knowledge.CodeNotFound)
		})
	}
	t.Run("without LibreOffice", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		id, _ := e.addOffice("a.rtf")
		e.work.pages = knowledge.Layout{}
		if got, _ := e.unavailable(id); got != string(knowledge.CodeNeedsComponent) {
			t.Errorf("code %q", got)
		}
	})
	t.Run("a text has none, and no reason", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		id := e.add(e.editor, "a.txt", "one")
		e.publish(id, knowledge.Chunk{Text: "one"})
		if got, _ := e.unavailable(id); got != "" {
			t.Errorf("code %q", got)
		}
	})
}

func TestPagesOfARedactedOfficeDocumentAreNotMade(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("POST", hooks+"/projects", e.admin, `{"id":"default","privacy":{"pii":"redact"}}`).want(200)
	id, _ := e.addOffice("a.rtf")
	if got, detail := e.unavailable(id); got != string(knowledge.CodeForbidden) || !strings.Contains(detail, "redacted") {
		t.Errorf("code %q, %q", got, detail)
	}
	if got := e.do("GET", own+"/documents/"+id+"/pages/1.png", e.editor, nil); got.status == 200 {
		t.Errorf("a picture: %s", got.body)
	}
	if e.work.made > 0 {
		t.Error("pages were made")
	}
}

func TestPagesOfARemovedDocumentDoNotStay(t *testing.T) {
	t.Parallel()
	e := open(t)
	id, _ := e.addOffice("a.rtf")
	e.do("GET", own+"/documents/"+id+"/pages", e.reader, nil).want(200)
	version := e.dispatched(id).VersionRef
	if _, err := e.blobs.DeletePrefix(t.Context(), blob.VersionPrefix(version), nil); err != nil { // as a removal does
		t.Fatal(err)
	}
	for _, key := range []string{paged.PDFKey(version), blob.StepKey(version, "pages/made.json")} {
		if _, _, err := e.blobs.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s stays: %v", key, err)
		}
	}
}
