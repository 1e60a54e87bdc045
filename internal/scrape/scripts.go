package scrape

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/cairn-rag/cairn/internal/extract"
)

// littleText is below how many code points of text a page with scripts seems to get its
// text from these.
const littleText = 500

// NeedsScripts reports whether a page that is in a file seems to get its text from
// scripts: it has some, and little text without them.
func NeedsScripts(file, mediaType, text string) bool {
	if kind, _, _ := strings.Cut(extract.Declared(mediaType), ";"); kind != extract.TypeHTML || utf8.RuneCountInString(text) >= littleText {
		return false
	}
	data, err := os.ReadFile(file)
	return err == nil && hasScript(data)
}

// LooksEmpty reports whether a page that is not yet extracted seems to get its text from
// scripts. It reads the tags one after the other and builds no tree.
func LooksEmpty(page []byte) bool {
	if !hasScript(page) {
		return false
	}
	runes, hidden := 0, 0
	for tags := html.NewTokenizer(bytes.NewReader(page)); runes < littleText; {
		switch tags.Next() {
		case html.ErrorToken:
			return true
		case html.StartTagToken:
			if name, _ := tags.TagName(); isHidden[atom.Lookup(name)] {
				hidden++
			}
		case html.EndTagToken:
			if name, _ := tags.TagName(); isHidden[atom.Lookup(name)] {
				hidden = max(0, hidden-1)
			}
		case html.TextToken:
			if hidden == 0 {
				runes += countVisible(tags.Text())
			}
		}
	}
	return false
}

// isHidden are the elements whose text is not shown where scripts run.
var isHidden = map[atom.Atom]bool{
	atom.Head: true, atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Title: true,
}

// countVisible returns how many code points of a text are not white space.
func countVisible(text []byte) (n int) {
	for _, r := range string(text) {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

func hasScript(page []byte) bool { return bytes.Contains(bytes.ToLower(page), []byte("<script")) }

// runScripts reads a page again with its scripts. If that adds nothing, the page stays as
// it was read, with the error that it had.
func (r *Reader) runScripts(ctx context.Context, page *Page, folder string, mayRequest func(*url.URL) error, plain error) error {
	page.Scripts = ScriptsNotRun
	document, err := r.cfg.Browser.Render(ctx, page.URL, mayRequest)
	if errors.Is(err, errRefused) {
		page.Text = ""
		return err // where scripts lead to is as if the server redirected there
	}
	if err != nil {
		return plain
	}
	file := filepath.Join(folder, "document")
	if err := os.WriteFile(file, []byte(document.HTML), 0o600); err != nil {
		return err
	}
	text, err := r.text(ctx, folder, file, document.URL, extract.TypeHTML)
	if err == nil {
		page.Scripts = ScriptsRan
		if len(text) > len(page.Text) {
			page.Text, page.URL = text, document.URL
		}
		return nil
	}
	if errors.Is(err, errNoText) && ctx.Err() == nil {
		page.Scripts = ScriptsRan // they made no text either
	}
	return plain
}
