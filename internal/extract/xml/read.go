package xml

import (
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Read returns the layout of an XML document. declared is the character set that came
// with the file, "" if none did; after it the document's own declaration counts. Errors
// are *knowledge.Error.
func Read(data []byte, declared string) (knowledge.Layout, error) {
	if declared == "" {
		declared = declaredCharset(data)
	}
	text, err := charset.Decode(data, declared)
	if err != nil {
		return knowledge.Layout{}, err
	}
	root, err := parse(text)
	if err != nil {
		return knowledge.Layout{}, err
	}
	w := writer{isProse: isProse(root)}
	switch root.name {
	case "svg":
		w.drawing(root)
	case "rss", "feed", "RDF":
		w.feed(root)
	default:
		w.document(root)
	}
	w.flush()
	w.layout.Metadata = charset.Note(w.layout.Metadata, charset.Assumed(data, declared))
	return w.layout, nil
}

var encodingIn = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']`)

// declaredCharset returns the character set in the first line of a document, "" if it
// names none that is known.
func declaredCharset(data []byte) string {
	found := encodingIn.FindSubmatch(data[:min(len(data), 512)])
	if found == nil || strings.HasPrefix(strings.ToLower(string(found[1])), "utf-16") { // such a file has a byte order mark
		return ""
	}
	return charset.Declared("text/xml; charset=" + string(found[1]))
}
