package e2e_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// chartPDF returns a PDF with a line of text and, below it, a picture in the box
// [60, 142, 460, 442] of the page.
func chartPDF(t *testing.T) []byte {
	t.Helper()
	chart := image.NewRGBA(image.Rect(0, 0, 400, 300))
	for y := range 300 {
		for x := range 400 {
			shade := color.RGBA{uint8(x / 2), uint8(y / 2), 200, 255}
			if x%100 > 50 && y > 300-x/2 {
				shade = color.RGBA{200, 30, 30, 255}
			}
			chart.Set(x, y, shade)
		}
	}
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, chart, nil); err != nil {
		t.Fatal(err)
	}
	const content = "BT /F1 12 Tf 60 780 Td (The figure below shows how the mill did.) Tj ET q 400 0 0 300 60 400 cm /I1 Do Q"
	var out bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	out.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [4 0 R] /Count 1 >>")
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> /XObject << /I1 6 0 R >> >> /Contents 5 0 R >>")
	object("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	object("<< /Type /XObject /Subtype /Image /Width 400 /Height 300 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length %d >>\nstream\n%s\nendstream", picture.Len(), picture.String())
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return out.Bytes()
}

// sendPDF uploads a file as base64 and returns the document when it has ended.
func (s *server) sendPDF(t *testing.T, name string, file []byte, fields map[string]any) documentView {
	t.Helper()
	body := map[string]any{"name": name, "content": map[string]any{"base64": base64.StdEncoding.EncodeToString(file)}}
	for key, value := range fields {
		body[key] = value
	}
	var d documentView
	if status := s.call(t, "POST", webhooks+"/document?projectId=default&wait=true", body, &d); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	return d
}

// documentView is what these tests read of a document.
type documentView struct {
	ID       string                   `json:"id"`
	Status   string                   `json:"status"`
	Error    *knowledge.DocumentError `json:"error"`
	Metadata map[string]any           `json:"metadata"`
}

// chunkView is what these tests read of a chunk.
type chunkView struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Page     int    `json:"page_number"`
	Metadata struct {
		Modality string `json:"modality"`
	} `json:"metadata"`
	Boxes []struct {
		Box  [4]float64 `json:"bbox"`
		Page int        `json:"page_number"`
	} `json:"bbox"`
}

func (s *server) setAI(t *testing.T, ai map[string]any) {
	t.Helper()
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"id": "default", "ai": ai}, nil); status >= 300 {
		t.Fatalf("status %d", status)
	}
}

// TestMultimodal describes the figure of a PDF, finds it, and shows it to the model.
func TestMultimodal(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.setAI(t, map[string]any{"multimodal": true})
	const description = "A bar chart: revenue of the Quayside mill grows from 40 to 160 tonnes between 2019 and 2023."
	m.ScriptChat(modeltest.Text(description))
	named := map[string]any{"externalId": "mill"}
	d := s.sendPDF(t, "mill.pdf", chartPDF(t), named)
	if d.Status != "published" || d.Metadata["pictures_described"] != 1.0 {
		t.Fatalf("document %+v, %+v", d, d.Error)
	}

	var list struct{ Data []chunkView }
	s.call(t, "GET", "/workspaces/default/documents/"+d.ID+"/chunks", nil, &list)
	var figure chunkView
	for _, c := range list.Data {
		if c.Metadata.Modality == "image" {
			figure = c
		}
	}
	if figure.Text != description || figure.Page != 1 || len(figure.Boxes) != 1 {
		t.Fatalf("chunks %+v", list.Data)
	}
	for i, want := range [4]float64{60, 142, 460, 442} {
		if got := figure.Boxes[0].Box[i]; got < want-2 || got > want+2 {
			t.Errorf("box %v", figure.Boxes[0].Box)
			break
		}
	}

	t.Run("a question is sent with the picture, and cites the figure", func(t *testing.T) {
		m.ScriptChat(modeltest.Text("Revenue grows to 160 tonnes. <source_1>"))
		var answer struct {
			Answer  string
			Sources []struct {
				ChunkID string `json:"chunkId"`
				Page    int    `json:"pageNumber"`
				Used    bool   `json:"usedInResponse"`
			}
		}
		if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "How did the revenue of the Quayside mill grow?", "projectId": "default"}, &answer); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		requests := m.Requests()
		last := requests[len(requests)-1]
		question := last.Messages[len(last.Messages)-1]
		if len(question.Pictures) != 1 || !strings.HasPrefix(question.Pictures[0], "data:image/") || !strings.Contains(string(question.Content), "The picture of <source_1>") {
			t.Errorf("%d pictures, words %q", len(question.Pictures), question.Content)
		}
		if len(answer.Sources) == 0 || answer.Sources[0].ChunkID != figure.ID || !answer.Sources[0].Used || answer.Sources[0].Page != 1 {
			t.Errorf("answer %+v, figure %s", answer, figure.ID)
		}
	})
	t.Run("a model that sees no pictures answers without", func(t *testing.T) {
		m.ScriptChat(modeltest.Fail(http.StatusBadRequest), modeltest.Text("Revenue grows. <source_1>"))
		if got := s.shown(t, m, "", nil); got != (shownFigure{described: true}) {
			t.Errorf("the model was shown %+v", got)
		}
	})
	t.Run("who may not read the figure any more has nobody look at it", func(t *testing.T) {
		restrict := func(users ...string) {
			change := map[string]any{"access": map[string]any{"users": users, "workspace": len(users) == 0}}
			if status := s.call(t, "PATCH", "/workspaces/default/documents/"+d.ID, change, nil); status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
		}
		restrict("ann")
		defer restrict()
		if got := s.shown(t, m, "bob", nil); got != (shownFigure{}) {
			t.Errorf("bob is answered with %+v", got)
		}
		if got := s.shown(t, m, "ann", nil); got != (shownFigure{1, true}) {
			t.Errorf("ann is answered with %+v", got)
		}
		// In the middle of an answer: the first call of the model had the picture.
		if got := s.shown(t, m, "ann", func() { restrict("bob") }); got != (shownFigure{}) {
			t.Errorf("ann is answered with %+v after the revocation", got)
		}
	})
	t.Run("a new version does not pay for the picture again", func(t *testing.T) {
		asked := m.Totals().Chats.Asked
		again := s.sendPDF(t, "mill.pdf", chartPDF(t), named)
		if n := m.Totals().Chats.Asked - asked; n != 0 || again.ID != d.ID || again.Metadata["pictures_described"] != 1.0 {
			t.Errorf("asked %d times for %+v", n, again)
		}
	})
}

// TestParserModel has a model read the pages of a PDF.
func TestParserModel(t *testing.T) {
	t.Parallel()
	byModel := map[string]any{"parser": "model"}
	t.Run("the text is what the model writes", func(t *testing.T) {
		t.Parallel()
		m := standIn(t, modeltest.Options{})
		s := start(t, at(m.URL())...)
		m.ScriptChat(modeltest.Text("# The mill\n\nThe figure below shows how the mill did.\n\nA chart of 160 tonnes."))
		d := s.sendPDF(t, "mill.pdf", chartPDF(t), byModel)
		if d.Status != "published" || d.Metadata["read_by"] != modeltest.ModelName {
			t.Fatalf("document %+v, %+v", d, d.Error)
		}
		var list struct{ Data []chunkView }
		s.call(t, "GET", "/workspaces/default/documents/"+d.ID+"/chunks", nil, &list)
		if len(list.Data) != 1 || !strings.Contains(list.Data[0].Text, "A chart of 160 tonnes.") || list.Data[0].Page != 1 {
			t.Errorf("chunks %+v", list.Data)
		}
	})
	t.Run("an import of an archive has the model read what has pages", func(t *testing.T) {
		t.Parallel()
		m := standIn(t, modeltest.Options{})
		s := start(t, at(m.URL())...)
		m.ScriptChat(modeltest.Text("A chart of 160 tonnes."))
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		for name, content := range map[string]string{"mill.pdf": string(chartPDF(t)), "note.txt": "A note beside the chart."} {
			w, err := z.Create(name)
			if err == nil {
				_, err = io.WriteString(w, content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		up, err := s.Upload(t.Context(), client.Upload{
			Project: "default", Name: "mills.zip", Choice: &client.ImportChoice{Parser: "model"},
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil },
		})
		if err != nil || up.Import == nil {
			t.Fatal(up, err)
		}
		if i := s.awaitImport(t, up.Import.ID); i.Published != 2 {
			t.Fatalf("import %+v", i)
		}
		found, err := s.retrieve(t.Context(), "chart", "160 tonnes")
		if err != nil || len(found) != 1 {
			t.Errorf("found %v, %v", found, err)
		}
		if n := m.Totals().Chats.Asked; n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	t.Run("the offline model sees no pictures and says what to configure", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		d := s.sendPDF(t, "mill.pdf", chartPDF(t), byModel)
		if d.Status != "error" || d.Error.Code != knowledge.CodeNeedsComponent || !strings.Contains(d.Error.Message, "ai.model") {
			t.Errorf("document %+v, %+v", d, d.Error)
		}
	})
}
