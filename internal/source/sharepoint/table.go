package sharepoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// maxRows bounds the rows of a list that is read.
const maxRows = 20_000

// table returns the object of a list, whose rows it reads: Graph does not tell when they have
// changed. With mirror nobody sees it, because Graph tells no rights of lists and rows.
func (r *run) table(ctx context.Context, l part) ([]source.Object, error) {
	site := r.at.Site
	o := source.Object{Key: "list/" + l.ID, Name: "Lists/" + strings.ReplaceAll(l.Name, "/", "_") + ".csv", Address: l.Web, MediaType: "text/csv", Ref: ref{Part: l, Site: site}.text()}
	if r.follow.Mirror {
		o.Access = &knowledge.Access{}
	}
	data, err := r.readTable(ctx, site, l)
	if knowledge.IsCode(err, knowledge.CodeTooLarge) {
		o.Bytes = -1 // it fails when it is opened
		return []source.Object{o}, nil
	}
	o.ETag, o.Bytes = tagOf(data), int64(len(data))
	return []source.Object{o}, err
}

func tagOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

func (s *Source) openTable(ctx context.Context, at ref, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	data, err := s.readTable(ctx, at.Site, at.Part)
	if err != nil {
		return nil, o, err
	}
	if o.ETag = tagOf(data); o.ETag == known {
		return nil, o, source.ErrUnchanged
	}
	return inMemory(data, o)
}

// column is a column of a list.
type column struct {
	Name     string `json:"name"`
	Title    string `json:"displayName"`
	Hidden   bool   `json:"hidden"`
	ReadOnly bool   `json:"readOnly"`
}

// isSystems reports whether a column has what SharePoint writes, or a link that it shows.
func (c column) isSystems() bool {
	return c.Hidden || c.ReadOnly || slices.Contains([]string{"ContentType", "Attachments", "Edit", "LinkTitle", "LinkTitleNoMenu", "DocIcon", "ItemChildCount", "FolderChildCount"}, c.Name)
}

// readTable returns the rows of a list as CSV, with the columns that people write.
func (s *Source) readTable(ctx context.Context, site string, l part) ([]byte, error) {
	path := site + "lists/" + escape(l.ID) + "/"
	columns, err := all[column](ctx, s.client, path+"columns?$select=name,displayName,hidden,readOnly", maxParts)
	if err != nil {
		return nil, err
	}
	columns = slices.DeleteFunc(columns, column.isSystems)
	rows, err := all[struct {
		Fields map[string]json.RawMessage `json:"fields"`
	}](ctx, s.client, path+"items?$expand=fields&$top=1000", maxRows)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := make([]string, len(columns))
	for n, c := range columns {
		header[n] = c.Title
	}
	_ = w.Write(header) // a Buffer does not fail
	for _, row := range rows {
		cells := make([]string, len(columns))
		for n, c := range columns {
			cells[n] = cellOf(row.Fields[c.Name])
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return b.Bytes(), nil
}

// cellOf returns a value as text: several choices divided by commas, and anything else that is
// no text as JSON.
func cellOf(value json.RawMessage) string {
	var text string
	var several []string
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &several) == nil:
		return strings.Join(several, ", ")
	}
	return string(value)
}
