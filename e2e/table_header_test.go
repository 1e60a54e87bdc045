package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestTableHeaders shows that each part of a table that is cut names its columns.
func TestTableHeaders(t *testing.T) {
	t.Parallel()
	s := start(t)
	var sheet, page strings.Builder
	sheet.WriteString("Ship,Tons\n")
	page.WriteString("<html><body><table><tr><th>Ship</th><th>Tons</th></tr>")
	for i := range 400 {
		fmt.Fprintf(&sheet, "The ship number %d of the fleet,%d\n", i, i*7)
		fmt.Fprintf(&page, "<tr><td>The ship number %d of the fleet</td><td>%d</td></tr>", i, i*7)
	}
	page.WriteString("</table></body></html>")
	for name, content := range map[string]string{"fleet.csv": sheet.String(), "fleet.html": page.String()} {
		t.Run(name, func(t *testing.T) {
			d := s.ended(t, s.sendFile(t, name, []byte(content)))
			var list struct{ Data []client.Chunk }
			s.call(t, "GET", "/workspaces/default/documents/"+d.ID+"/chunks", nil, &list)
			if d.Status != knowledge.StatusPublished || len(list.Data) < 3 {
				t.Fatalf("the document is %s with %d chunks; want at least 3", d.Status, len(list.Data))
			}
			const header = "| Ship | Tons |\n| --- | --- |"
			for i, c := range list.Data {
				var alone client.Chunk
				s.call(t, "GET", "/chunks/"+c.ID, nil, &alone)
				if c.Header != header || alone.Header != header || strings.HasPrefix(c.Text, header) != (i == 0) {
					t.Errorf("part %d has the header %q, alone %q; it begins %.40q", i, c.Header, alone.Header, c.Text)
				}
			}
		})
	}
}
