package ooxml

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Read extracts a Word document or a presentation. Errors for which the document is
// at fault are *knowledge.Error: corrupt, parse_limit, too_large or
// unsupported_format.
func Read(s format.Source) (format.Result, error) {
	zip, err := container.Open(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	defer func() { _ = zip.Close() }() // it was only read
	p := newPack(zip, office.New(s))
	part, kind, err := p.mainPart()
	if err != nil {
		return format.Result{}, err
	}
	switch kind {
	case "word":
		err = readWord(p, part)
	case "ppt":
		err = readPresentation(p, part)
	default:
		err = knowledge.Errorf(knowledge.CodeUnsupportedFormat,
			"the file is neither a Word document nor a presentation, as its name says; send it with the right name")
	}
	if err != nil {
		return format.Result{}, err
	}
	title, err := p.properties()
	if err != nil {
		return format.Result{}, err
	}
	return p.doc.Finish(title)
}

// Kind returns the kind of an Office document: word, ppt or xl; "" if it is none of
// them.
func Kind(file string) (string, error) {
	zip, err := container.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = zip.Close() }() // it was only read
	_, kind, err := newPack(zip, nil).mainPart()
	return kind, err
}

// mainPart returns the part with the text, and the folder that it is usually in.
func (p *pack) mainPart() (part, kind string, err error) {
	if _, err := p.relationsOf(""); err != nil {
		return "", "", err
	}
	candidates := []string{p.partOfKind("", "officeDocument"), "word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"}
	for _, part := range candidates {
		if part == "" || !p.zip.Has(part) {
			continue
		}
		name, err := p.rootName(part)
		if err != nil {
			return "", "", err
		}
		switch name {
		case "document":
			return part, "word", nil
		case "presentation":
			return part, "ppt", nil
		case "workbook":
			return part, "xl", nil
		}
		if path.Ext(part) == ".bin" { // XLSB
			return part, "", nil
		}
	}
	return "", "", container.Damaged(container.ErrNotFound)
}

// properties reads what the document says of itself, and returns its stated title.
func (p *pack) properties() (title string, err error) {
	core := p.partOfKind("", "core-properties")
	if core == "" {
		return "", nil
	}
	root, err := p.tree(core)
	if root == nil || err != nil {
		return "", err
	}
	for _, n := range root.Nodes {
		switch n.Name {
		case "title":
			title = n.Content()
		case "creator":
			p.doc.SetMetadata("author", n.Content())
		case "lastModifiedBy":
			p.doc.SetMetadata("last_modified_by", n.Content())
		case "subject", "description", "keywords", "category", "created", "modified", "language":
			p.doc.SetMetadata(n.Name, n.Content())
		}
	}
	if app := p.partOfKind("", "extended-properties"); app != "" {
		root, err := p.tree(app)
		if err != nil {
			return "", err
		}
		p.doc.SetMetadata("company", root.Child("Company").Content())
	}
	return title, nil
}

// sortedIDs returns the ids of relations in the order rId1, rId2, …, rId10.
func sortedIDs(r relations) []string {
	return slices.SortedFunc(maps.Keys(r), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}
