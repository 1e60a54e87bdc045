package mail

import (
	"cmp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/jhillyerd/enmime/v2"
)

// ReadPage reads a saved web page (MHT), without the files that belong to it. Errors are *knowledge.Error if the file is at fault.
func ReadPage(s format.Source) (format.Result, error) {
	data, err := s.Bytes()
	if err != nil {
		return format.Result{}, err
	}
	root, err := parse(inUTF8(data))
	if err != nil {
		return format.Result{}, err
	}
	page := mainPage(root)
	if page == nil {
		return format.Result{}, knowledge.Errorf(knowledge.CodeEmpty, "there is no web page in the file; save the page again")
	}
	var content html.Page
	err = readHTML(page, func(data []byte, declared string) (err error) {
		content, err = html.ReadPage(data, declared)
		return err
	})
	if err != nil {
		return format.Result{}, err
	}
	metadata := content.Metadata
	if url := address(root, page); url != "" {
		if metadata == nil {
			metadata = map[string]string{}
		}
		metadata["url"] = url
	}
	title := cmp.Or(content.Title, header(root.Header, "Subject"))
	return format.Result{Layout: knowledge.Layout{Title: title, Metadata: metadata, Blocks: content.Blocks}}, nil
}

// mainPage returns the first HTML part, which the format says is the page itself, or
// the first text part.
func mainPage(root *enmime.Part) *enmime.Part {
	for _, kind := range []string{"text/html", "application/xhtml+xml", "text/plain"} {
		found := root.DepthMatchFirst(func(p *enmime.Part) bool { return contentType(p) == kind && len(p.Content) > 0 })
		if found != nil {
			return found
		}
	}
	return nil
}

// address returns the address from which a page was saved, "" if the file has none.
func address(root, page *enmime.Part) string {
	for _, url := range []string{root.Header.Get("Snapshot-Content-Location"), page.Header.Get("Content-Location"), root.Header.Get("Content-Location")} {
		if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
			return url
		}
	}
	return ""
}
