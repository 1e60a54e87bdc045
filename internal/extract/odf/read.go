// Package odf reads OpenDocument texts, presentations and spreadsheets (ODT, ODP,
// ODS): text in reading order with its structure, tables, notes, comments, text
// boxes, charts, pictures, embedded documents, and what the document says of itself.
// It fetches nothing. Pages are not in such a file; package extract gets them from
// LibreOffice.
package odf

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// reader reads one document.
type reader struct {
	zip      *container.Container
	doc      *office.Document
	folder   string // of an embedded object that is being read, "" = the document itself
	depth    int    // of embedded objects
	styles   styles
	lists    map[string]*counters // by the id of a list
	newest   map[string]*counters // by the name of a list style
	outline  counters
	notes    int
	controls map[string]string // texts of form controls, by id
	footers  map[string]string // declared texts of slides, by name
	slides   int
	isSheets bool // the document is a spreadsheet
	sheet    *openSheet
	err      error // of a sheet that ended
}

// Read extracts an OpenDocument file. Errors for which the document is at fault are
// *knowledge.Error: corrupt, encrypted, parse_limit, too_large or
// unsupported_format.
func Read(s format.Source) (format.Result, error) {
	zip, err := container.Open(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	defer func() { _ = zip.Close() }() // it was only read
	r := newReader(zip, office.New(s))
	if encrypted, err := r.isEncrypted(); err != nil || encrypted {
		if encrypted {
			err = knowledge.Errorf(knowledge.CodeEncrypted, "the document asks for a password; send it with override.password, or without a password")
		}
		return format.Result{}, err
	}
	if err := r.read(); err != nil {
		return format.Result{}, err
	}
	title, err := r.properties()
	if err != nil {
		return format.Result{}, err
	}
	return r.doc.Finish(title)
}

func newReader(zip *container.Container, doc *office.Document) *reader {
	return &reader{
		zip: zip, doc: doc, styles: newStyles(), lists: map[string]*counters{}, newest: map[string]*counters{},
		controls: map[string]string{}, footers: map[string]string{},
	}
}

// isEncrypted reports whether the content of the document is encrypted.
func (r *reader) isEncrypted() (bool, error) {
	root, err := r.tree("META-INF/manifest.xml")
	if err != nil {
		return false, err
	}
	for _, entry := range root.Children("file-entry") {
		if path := entry.Attr("full-path"); entry.Child("encryption-data") != nil && (path == "content.xml" || path == "encrypted-package") {
			return true, nil
		}
	}
	return false, nil
}

// read reads the styles and then the content of a document or an embedded object.
func (r *reader) read() error {
	common, err := r.tree(r.folder + "styles.xml")
	if err != nil {
		return err
	}
	r.styles.add(common)
	content, err := r.zip.Open(r.folder + "content.xml")
	if errors.Is(err, container.ErrNotFound) {
		return container.Damaged(err)
	}
	if err != nil {
		return err
	}
	defer content.Close()
	if err := markup.Each(content, r.open, r.visit); err != nil {
		return err
	}
	if r.endSheet(); r.err != nil {
		return r.err
	}
	if r.folder == "" {
		r.doc.MarkHeadings()
		return r.addFurniture(common)
	}
	return nil
}

// tree returns the root element of a file of the document, nil if there is none.
func (r *reader) tree(name string) (*markup.Node, error) {
	f, err := r.zip.Open(name)
	if errors.Is(err, container.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return markup.Parse(f)
}

// open reports whether an element is read part by part.
func (r *reader) open(n *markup.Node) bool {
	switch n.Name {
	case "document-content", "body", "section", "automatic-styles", "presentation", "table-row-group", "table-rows", "table-header-rows":
		return true
	case "text", "chart": // the whole, not a chart or a text in it
		return strings.HasSuffix(n.Space, ":office:1.0")
	case "spreadsheet":
		r.isSheets = r.depth == 0
		return true
	case "table":
		if r.isSheets {
			r.beginSheet(n)
		}
		return r.isSheets
	}
	return false
}

// visit adds an element of the content.
func (r *reader) visit(n *markup.Node) error {
	if r.err != nil {
		return r.err
	}
	switch n.Name {
	case "style", "list-style":
		r.styles.addOne(n)
		return nil
	case "page":
		return r.slide(n)
	case "table-row":
		return r.sheetRow(n)
	case "shapes":
		if r.sheet != nil {
			r.sheet.after = append(r.sheet.after, func() error { return r.graphic(n, "") })
		}
		return nil
	case "header-decl", "footer-decl", "date-time-decl":
		r.footers[n.Attr("name")] = n.Content()
		return nil
	case "forms":
		r.readControls(n)
		return nil
	case "chart":
		return r.chart(n)
	}
	return r.block(n)
}

// properties reads what the document says of itself, and returns its stated title.
func (r *reader) properties() (title string, err error) {
	root, err := r.tree("meta.xml")
	if err != nil {
		return "", err
	}
	meta := root.Child("meta")
	if meta == nil {
		return "", nil
	}
	var keywords []string
	for _, n := range meta.Nodes {
		switch n.Name {
		case "title":
			title = n.Content()
		case "initial-creator":
			r.doc.SetMetadata("author", n.Content())
		case "creator":
			r.doc.SetMetadata("last_modified_by", n.Content())
		case "creation-date":
			r.doc.SetMetadata("created", n.Content())
		case "date":
			r.doc.SetMetadata("modified", n.Content())
		case "subject", "description", "language":
			r.doc.SetMetadata(n.Name, n.Content())
		case "keyword":
			keywords = append(keywords, n.Content())
		}
	}
	r.doc.SetMetadata("keywords", strings.Join(keywords, ", "))
	if r.doc.Result.Layout.Metadata["author"] == "" {
		r.doc.SetMetadata("author", meta.Child("creator").Content())
	}
	return title, nil
}

// addFurniture adds the texts of the page styles and the slide masters: headers and
// footers.
func (r *reader) addFurniture(common *markup.Node) error {
	masters := common.Child("master-styles").Children("master-page")
	var headers []string
	for _, master := range masters {
		for _, name := range []string{"header", "header-first", "header-left"} {
			headers = append(headers, r.plain(master.Child(name)))
		}
	}
	r.doc.Headers(headers)
	for _, master := range masters {
		for _, name := range []string{"footer", "footer-first", "footer-left"} {
			r.doc.Furniture(knowledge.BlockFooter, r.plain(master.Child(name)))
		}
		if r.slides > 0 {
			r.masterText(master)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.footers)) {
		r.doc.Furniture(knowledge.BlockFooter, r.footers[key])
	}
	return r.doc.Err()
}
