package ooxml

import (
	"errors"
	"io"
	"path"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
)

// pack is an open document: a ZIP file of parts that name each other by
// relationships.
type pack struct {
	zip       *container.Container
	doc       *office.Document
	relations map[string]relations // by part
	attached  map[string]bool      // parts that are children already
}

// relation leads from one part to another part or to an address.
type relation struct {
	kind     string // the last part of the type: image, chart, …
	target   string // the path of a part, or an address
	external bool   // an address, which is never fetched
}

type relations map[string]relation

func newPack(zip *container.Container, doc *office.Document) *pack {
	return &pack{zip: zip, doc: doc, relations: map[string]relations{}, attached: map[string]bool{}}
}

// tree returns the root element of a part, nil if there is no such part.
func (p *pack) tree(part string) (*markup.Node, error) {
	r, err := p.zip.Open(part)
	if err != nil {
		return nil, optional(err)
	}
	defer r.Close()
	return markup.Parse(r)
}

// rootName returns the name of the root element of a part, "" if it is not XML.
func (p *pack) rootName(part string) (string, error) {
	if path.Ext(part) == ".bin" {
		return "", nil
	}
	r, err := p.zip.Open(part)
	if err != nil {
		return "", err
	}
	defer r.Close()
	root, err := markup.Root(r)
	if err != nil {
		return "", err
	}
	return root.Name, nil
}

// optional drops the error of a part that is not there.
func optional(err error) error {
	if errors.Is(err, container.ErrNotFound) {
		return nil
	}
	return err
}

// relationsOf returns the relations of a part by their ids. The part "" stands for
// the whole document.
func (p *pack) relationsOf(part string) (relations, error) {
	if found, ok := p.relations[part]; ok {
		return found, nil
	}
	folder, name := path.Split(part)
	root, err := p.tree(folder + "_rels/" + name + ".rels")
	if err != nil {
		return nil, err
	}
	found := relations{}
	for _, n := range root.Children("Relationship") {
		r := relation{kind: path.Base(n.Attr("Type")), target: n.Attr("Target"), external: n.Attr("TargetMode") == "External"}
		if !r.external {
			r.target = resolve(folder, r.target)
		}
		found[n.Attr("Id")] = r
	}
	p.relations[part] = found
	return found, nil
}

// resolve returns the path of a part that a relation in a folder names.
func resolve(folder, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	target, _, _ = strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		target = folder + target
	}
	return strings.TrimPrefix(path.Clean("/"+target), "/")
}

// part returns the part to which a relation of another part leads, "" if there is
// none: it is not there, or it is an address.
func (p *pack) part(from, id string) string {
	found, err := p.relationsOf(from)
	if err != nil {
		return ""
	}
	if r, ok := found[id]; ok && !r.external && p.zip.Has(r.target) {
		return r.target
	}
	return ""
}

// partOfKind returns the first part that a relation of a kind leads to, "" if there
// is none.
func (p *pack) partOfKind(from, kind string) string {
	parts := p.partsOfKind(from, kind)
	if len(parts) == 0 {
		return ""
	}
	return parts[0]
}

func (p *pack) partsOfKind(from, kind string) []string {
	found, err := p.relationsOf(from)
	if err != nil {
		return nil
	}
	var parts []string
	for _, id := range sortedIDs(found) {
		if r := found[id]; r.kind == kind && !r.external && p.zip.Has(r.target) {
			parts = append(parts, r.target)
		}
	}
	return parts
}

// open returns the opener of a part.
func (p *pack) open(part string) office.Opener {
	return func() (io.ReadCloser, error) { return p.zip.Open(part) }
}
