package sheet

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/script"
)

var (
	textRun  = regexp.MustCompile(`(?s)<(?:\w+:)?r>.*?</(?:\w+:)?r>`)
	aligned  = regexp.MustCompile(`<(?:\w+:)?vertAlign\s+val=["'](super|sub)script["']`)
	textOf   = regexp.MustCompile(`(<(?:\w+:)?t(?:\s[^>]*)?>)([^<]*)(</(?:\w+:)?t>)`)
	alignTag = []byte("vertAlign")
)

// writeScripts makes plain text of raised and lowered text, such as 10⁶, because the
// library drops how a part of a text looks. Sheets in temporary files stay as they are.
func (r *reader) writeScripts() {
	r.file.Pkg.Range(func(name, value any) bool {
		part, isName := name.(string)
		data, isData := value.([]byte)
		isText := strings.HasPrefix(part, "xl/worksheets/") || strings.EqualFold(part, textsPart)
		if isName && isData && isText && bytes.Contains(data, alignTag) {
			r.file.Pkg.Store(part, textRun.ReplaceAllFunc(data, writeScript))
		}
		return true
	})
}

func writeScript(run []byte) []byte {
	found := aligned.FindSubmatch(run)
	if found == nil {
		return run
	}
	at := script.Raised
	if string(found[1]) == "sub" {
		at = script.Lowered
	}
	return textOf.ReplaceAllFunc(run, func(element []byte) []byte {
		parts := textOf.FindSubmatch(element)
		if bytes.IndexByte(parts[2], '&') >= 0 { // a character in another form
			return element
		}
		return []byte(string(parts[1]) + script.Write(at, string(parts[2])) + string(parts[3]))
	})
}
