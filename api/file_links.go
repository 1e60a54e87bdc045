package api

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// fileLinks signs the links to files of a run in the words of its answer, so that whoever reads
// the answer opens them without a key. Its words may be cut anywhere.
type fileLinks struct {
	views *views
	p     knowledge.Principal
	run   store.Run

	known []string // paths of files that calls produced
	held  string   // the beginning of what may be a link
	last  byte     // that was returned
}

// maxFileLink bounds a link that is held back, in bytes. The name of a file has fewer.
const maxFileLink = 600

// afterLink matches the first byte behind a link.
var afterLink = regexp.MustCompile(`[\s()<>"'\]?#]`)

func (v *views) fileLinks(p knowledge.Principal, run store.Run) *fileLinks {
	return &fileLinks{views: v, p: p, run: run}
}

// sign returns a whole text with signed links.
func (v *views) signFileLinks(p knowledge.Principal, run store.Run, text string) string {
	l := v.fileLinks(p, run)
	return l.Write(text) + l.Close()
}

// expect notes files whose links may come. A link of one of them is not held back at its end.
func (l *fileLinks) expect(files []knowledge.RunFile) {
	for _, f := range files {
		l.known = append(l.known, tool.FilePath(l.run.ID, f.Name))
	}
}

// Write returns words with signed links, without what may become a link.
func (l *fileLinks) Write(text string) string {
	l.held += text
	return l.read(false)
}

// Holds reports whether words are held back.
func (l *fileLinks) Holds() bool { return l.held != "" }

// Close returns what was held back.
func (l *fileLinks) Close() string { return l.read(true) }

func (l *fileLinks) read(final bool) string {
	var out strings.Builder
	put := func(text string) {
		if text != "" {
			l.last = text[len(text)-1]
			out.WriteString(text)
		}
	}
	folder := strings.TrimSuffix(tool.FilePath(l.run.ID, "x"), "x")
	for {
		at := strings.Index(l.held, folder)
		if at < 0 {
			break
		}
		put(l.held[:at])
		l.held = l.held[at:]
		end := afterLink.FindStringIndex(l.held)
		switch {
		case end != nil:
			end[1] = end[0]
		case final || len(l.held) > maxFileLink || slices.Contains(l.known, l.held):
			end = []int{0, len(l.held)}
		default:
			return out.String()
		}
		link := l.held[:end[1]]
		l.held = l.held[end[1]:]
		if !strings.HasPrefix(l.held, "?") { // one that has a token stays
			link = l.signed(link)
		}
		put(link)
	}
	keep := 0 // of the end, which may be the beginning of a link
	for n := min(len(l.held), len(folder)-1); n > 0 && !final && keep == 0; n-- {
		if strings.HasPrefix(folder, l.held[len(l.held)-n:]) {
			keep = n
		}
	}
	put(l.held[:len(l.held)-keep])
	l.held = l.held[len(l.held)-keep:]
	return out.String()
}

// signed returns the link with a token, and with the address of the instance where it has none
// and one is configured.
func (l *fileLinks) signed(path string) string {
	_, escaped, _ := strings.Cut(path, "/files/")
	name, err := url.PathUnescape(escaped)
	if err != nil || name == "" {
		return path
	}
	link := path + "?token=" + url.QueryEscape(l.views.runFileToken(l.p, l.run, name))
	if l.last != 0 && !strings.ContainsRune(" \n\t([<\"'", rune(l.last)) { // an address stands before it
		return link
	}
	return l.views.link(link)
}
