// Package epub reads EPUB books: their chapters in reading order, the tables and
// headings in them, their pictures, and what the book says of itself.
package epub

import (
	"cmp"
	"errors"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxChapter is the largest chapter in bytes.
const maxChapter = 64 << 20

// book is an open book.
type book struct {
	zip *container.Container
	doc *office.Document
}

// Read extracts a book. Errors for which the book is at fault are *knowledge.Error:
// corrupt, encrypted, parse_limit, too_large or empty.
func Read(s format.Source) (format.Result, error) {
	zip, err := container.Open(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	defer func() { _ = zip.Close() }() // it was only read
	b := book{zip: zip, doc: office.New(s)}
	if err := b.checkProtection(); err != nil {
		return format.Result{}, err
	}
	file, root, err := b.packageFile()
	if err != nil {
		return format.Result{}, err
	}
	title := b.properties(root.Child("metadata"))
	for _, part := range spine(root) {
		if err := b.chapter(resolve(path.Dir(file), part)); err != nil {
			return format.Result{}, err
		}
	}
	return b.doc.Finish(title)
}

// tree returns the root element of a file, nil if there is none.
func (b *book) tree(name string) (*markup.Node, error) {
	r, err := b.zip.Open(name)
	if errors.Is(err, container.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return markup.Parse(r)
}

// checkProtection refuses a book whose chapters are encrypted. Fonts may be.
func (b *book) checkProtection() error {
	root, err := b.tree("META-INF/encryption.xml")
	if err != nil || root == nil {
		return err
	}
	protected := false
	root.All("CipherReference", func(n *markup.Node) {
		switch strings.ToLower(path.Ext(n.Attr("URI"))) {
		case ".html", ".xhtml", ".htm", ".xml", ".opf":
			protected = true
		}
	})
	if protected {
		return knowledge.Errorf(knowledge.CodeEncrypted, "the book is protected against copying (DRM); send it without this protection")
	}
	return nil
}

// packageFile returns the file that lists the chapters.
func (b *book) packageFile() (file string, root *markup.Node, err error) {
	index, err := b.tree("META-INF/container.xml")
	if err != nil {
		return "", nil, err
	}
	file = index.First("rootfile").Attr("full-path")
	if file == "" {
		for _, name := range b.zip.Names() {
			if strings.HasSuffix(name, ".opf") {
				file = name
				break
			}
		}
	}
	root, err = b.tree(file)
	if err == nil && root == nil {
		err = container.Damaged(container.ErrNotFound)
	}
	return file, root, err
}

// properties reads what the book says of itself, and returns its title.
func (b *book) properties(metadata *markup.Node) (title string) {
	if metadata == nil {
		return ""
	}
	var authors []string
	for _, n := range metadata.Nodes {
		switch n.Name {
		case "title":
			title = cmp.Or(title, n.Content())
		case "creator":
			authors = append(authors, office.Tidy(n.Content()))
		case "date":
			b.doc.SetMetadata("created", n.Content())
		case "publisher", "language", "subject", "description", "rights":
			b.doc.SetMetadata(n.Name, n.Content())
		}
	}
	b.doc.SetMetadata("author", strings.Join(authors, ", "))
	return title
}

// spine returns the files of the chapters in reading order, without the table of
// contents, which repeats their headings.
func spine(root *markup.Node) []string {
	items := map[string]*markup.Node{}
	for _, n := range root.Child("manifest").Children("item") {
		items[n.Attr("id")] = n
	}
	var parts []string
	for _, n := range root.Child("spine").Children("itemref") {
		item := items[n.Attr("idref")]
		if item == nil || hasWord(item.Attr("properties"), "nav") {
			continue
		}
		if href := item.Attr("href"); href != "" {
			parts = append(parts, href)
		}
	}
	return parts
}

func hasWord(list, word string) bool {
	for _, w := range strings.Fields(list) {
		if w == word {
			return true
		}
	}
	return false
}

// resolve returns the path of a file that another one in a folder refers to.
func resolve(folder, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if decoded, err := url.PathUnescape(href); err == nil {
		href = decoded
	}
	return strings.TrimPrefix(path.Clean("/"+folder+"/"+href), "/")
}

// chapter adds the blocks and the pictures of a chapter. A chapter that the book does
// not have is left out.
func (b *book) chapter(name string) error {
	data, err := b.zip.Bytes(name, maxChapter)
	if errors.Is(err, container.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if strings.EqualFold(path.Ext(name), ".svg") {
		return nil // a page that is a picture
	}
	_, blocks, err := html.Read(data, "utf-8")
	if err != nil {
		return err
	}
	shown := pictures(data)
	b.doc.AddBlocks(slices.DeleteFunc(blocks, func(block knowledge.Block) bool {
		return block.Kind == knowledge.BlockParagraph && slices.ContainsFunc(shown, func(p picture) bool { return p.text == block.Text })
	}))
	if err := b.addPictures(name, shown); err != nil {
		return err
	}
	return b.doc.Err()
}

// addPictures adds the pictures of a chapter behind its text.
func (b *book) addPictures(chapter string, shown []picture) error {
	for _, p := range shown {
		file := resolve(path.Dir(chapter), p.source)
		if !b.zip.Has(file) {
			continue
		}
		if err := b.doc.Figure(file, p.text, func() (io.ReadCloser, error) { return b.zip.Open(file) }); err != nil {
			return err
		}
	}
	return nil
}
