package html

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/hypertext"
	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is what a web page says.
type Page struct {
	Title    string
	Metadata map[string]string // what the page says of itself
	Blocks   []knowledge.Block // furniture among them
}

// ReadPage returns a page of a web site, with its furniture marked. declared is the
// character set that came with the file, "" if none did; after it the page's own
// declaration counts. Errors are *knowledge.Error.
func ReadPage(data []byte, declared string) (Page, error) {
	root, err := parse(data, declared)
	if err != nil {
		return Page{}, err
	}
	if declared == "" {
		declared = declaredCharset(data[:min(len(data), 4096)])
	}
	page := Page{Title: pageTitle(root), Metadata: charset.Note(pageMetadata(root), charset.Assumed(data, declared))}
	removeHidden(root)
	hypertext.WriteScripts(root)
	unwrapCells(root)
	units := unitsOf(root)
	furniture := cutFurniture(root, units, mainText(root, units))
	heading, blocks, err := convert(root)
	page.Title = cmp.Or(page.Title, heading)
	page.Blocks = putFurniture(blocks, furniture)
	return page, err
}

// Read returns the title and the blocks of HTML that is not a page of a web site, such
// as a mail or a chapter of a book: all of its text counts. It is like ReadPage
// otherwise.
func Read(data []byte, declared string) (title string, blocks []knowledge.Block, err error) {
	root, err := parse(data, declared)
	if err != nil {
		return "", nil, err
	}
	title = pageTitle(root)
	removeHidden(root)
	hypertext.WriteScripts(root)
	unwrapCells(root)
	heading, blocks, err := convert(root)
	return cmp.Or(title, heading), blocks, err
}

func parse(data []byte, declared string) (*html.Node, error) {
	text, err := decode(data, declared)
	if err != nil {
		return nil, err
	}
	text = withoutMarks.Replace(text)
	if err := checkRoots(text); err != nil {
		return nil, err
	}
	// Any text is HTML: the parser fails only if elements are nested too deep.
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeParseLimit, "the elements of the page are nested more than 512 levels deep; make it simpler").WithCause(err)
	}
	return root, nil
}

// decode applies the declarations in this order: a byte order mark, declared,
// the page's meta element. Valid UTF-8 needs no declaration. In a page that declares
// UTF-8 a wrong byte becomes a replacement character, as in browsers.
func decode(data []byte, declared string) (string, error) {
	if declared == "" {
		declared = declaredCharset(data[:min(len(data), 4096)])
	}
	text, err := charset.Decode(data, declared)
	if declared == utf8Name && knowledge.IsCode(err, knowledge.CodeMalformed) {
		return charset.Decode(bytes.ToValidUTF8(data, []byte("\ufffd")), "")
	}
	return text, err
}

const utf8Name = "utf-8"

var charsetIn = regexp.MustCompile(`(?i)charset\s*=\s*["']?([^\s"';]+)`)

// declaredCharset returns the character set that a meta element at the start of
// a page declares, "" if none does.
func declaredCharset(head []byte) string {
	z := html.NewTokenizer(bytes.NewReader(head))
	found := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			switch set := charsetOf(z.Token()); set {
			case "":
			case utf8Name: // another one may say what the other bytes are
				found = set
			default:
				return set
			}
		}
	}
}

func charsetOf(element html.Token) string {
	if element.DataAtom != atom.Meta {
		return ""
	}
	attributes := map[string]string{}
	for _, a := range element.Attr {
		attributes[a.Key] = a.Val
	}
	set := attributes["charset"]
	if strings.EqualFold(attributes["http-equiv"], "content-type") {
		if found := charsetIn.FindStringSubmatch(attributes["content"]); set == "" && found != nil {
			set = found[1]
		}
	}
	if strings.HasPrefix(strings.ToLower(set), "utf-16") { // false: UTF-16 text would not have been readable up to here
		return ""
	}
	if strings.EqualFold(set, utf8Name) {
		return utf8Name
	}
	return charset.Declared("text/html; charset=" + set)
}

// convert returns the first heading of level 1 and the blocks of a page.
func convert(root *html.Node) (string, []knowledge.Block, error) {
	tables, err := takeTables(root)
	if err != nil {
		return "", nil, err
	}
	reduceNesting(root, 0)
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(), // it arranges tables that hold no data
	))
	for _, name := range []string{"summary", "legend", "center"} { // the converter treats them as inline elements
		c.Register.TagType(name, converter.TagTypeBlock, converter.PriorityStandard)
	}
	c.Register.RendererFor("tr", converter.TagTypeBlock, row, converter.PriorityEarly)
	// It must run before the base plugin writes < and > as references.
	c.Register.TextTransformer(func(_ converter.Context, s string) string { return escape(s) }, converter.PriorityEarly)
	md, err := c.ConvertNode(root)
	if err != nil {
		return "", nil, fmt.Errorf("convert HTML: %w", err)
	}
	if len(md) > 2*charset.MaxText {
		return "", nil, charset.TooLong()
	}
	heading, blocks := markdown.Read(string(md))
	blocks = putTables(blocks, tables)
	for i := range blocks {
		blocks[i].Origin = knowledge.Origin{} // the lines of the converted text are not lines of the page
	}
	return heading, blocks, nil
}

// row writes a row of a table that the converter does not convert as a table,
// because it contains a list or another table, or because it is layout.
func row(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	var cells [][]byte
	separator := knowledge.CellSeparator
	for cell := n.FirstChild; cell != nil; cell = cell.NextSibling {
		var b bytes.Buffer
		ctx.RenderNodes(ctx, &b, cell)
		text := bytes.TrimSpace(b.Bytes())
		if len(text) == 0 {
			continue
		}
		if bytes.ContainsRune(text, '\n') || bytes.Contains(text, []byte(tableStart)) {
			separator = "\n\n"
		}
		cells = append(cells, text)
	}
	_, _ = w.WriteString("\n\n") // a buffer takes everything
	_, _ = w.Write(bytes.Join(cells, []byte(separator)))
	_, _ = w.WriteString("\n\n")
	return converter.RenderSuccess
}
