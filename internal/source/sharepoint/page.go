package sharepoint

import (
	"context"
	"html"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// sitePage is a page of a site with its texts.
type sitePage struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Publishing  struct {
		Level string `json:"level"`
	} `json:"publishingState"`
	Canvas struct {
		Sections []struct {
			Columns []struct {
				Parts []webPart `json:"webparts"`
			} `json:"columns"`
		} `json:"horizontalSections"`
		Vertical struct {
			Parts []webPart `json:"webparts"`
		} `json:"verticalSection"`
	} `json:"canvasLayout"`
}

// webPart is a part of a page. Those without a text are programs that show something.
type webPart struct {
	HTML string `json:"innerHtml"`
}

// openPage returns a page of a site as an HTML document. A draft is refused: only those who
// edit the page see it.
func (s *Source) openPage(ctx context.Context, at ref, i item, o source.Object) (io.ReadCloser, source.Object, error) {
	var p sitePage
	path := at.Site + "pages/" + escape(i.uniqueID()) + "/microsoft.graph.sitePage?$expand=canvasLayout"
	if err := s.client.get(ctx, path, nil, &p); err != nil {
		return nil, o, err
	}
	if p.Publishing.Level != "" && p.Publishing.Level != "published" {
		return nil, o, knowledge.Errorf(knowledge.CodeConflict, "the newest version of the page is a draft; it is imported when it is published")
	}
	return inMemory([]byte(p.document()), o)
}

// document returns the page as an HTML document.
func (p sitePage) document() string {
	var b strings.Builder
	title := html.EscapeString(p.Title)
	b.WriteString("<!doctype html><html><head><meta charset=\"utf-8\"><title>" + title + "</title></head><body><h1>" + title + "</h1>\n")
	write := func(parts []webPart) {
		for _, w := range parts {
			if w.HTML != "" {
				b.WriteString("<div>" + w.HTML + "</div>\n")
			}
		}
	}
	for _, section := range p.Canvas.Sections {
		for _, column := range section.Columns {
			write(column.Parts)
		}
	}
	write(p.Canvas.Vertical.Parts)
	b.WriteString("</body></html>\n")
	return b.String()
}
