package main

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/extract"
)

// entry is one document to send: a file or an address.
type entry struct {
	name       string
	path       string // of a file
	externalID string
	url        string // "" = a file
	open       func() (io.ReadCloser, error)
	transcript *client.Transcript // of a recording, nil = none
	unsent     *outcome           // nil = to be sent
}

// gathering is the command's arguments as entries.
type gathering struct {
	entries []entry
	hidden  int // files and folders left out because of their names
	ignored int // files and folders left out by a rule of .cairnignore
}

// gather returns an entry for each file and address of the arguments. The files
// of a folder are named by their paths inside it. Two entries with the same
// external id would be versions of one document, so they are an error. prefix
// is put before each external id.
func gather(sources []source, externalID, prefix string) (gathering, error) {
	var g gathering
	for _, source := range sources {
		if err := g.add(string(source)); err != nil {
			return g, err
		}
	}
	g.pairTranscripts()
	if externalID != "" {
		if len(g.entries) != 1 {
			return g, wrongUse("--external-id names one document, but there are %d", len(g.entries))
		}
		g.entries[0].externalID = externalID
	}
	seen := map[string]bool{}
	for i := range g.entries {
		g.entries[i].externalID = prefix + g.entries[i].externalID
		e := g.entries[i]
		if e.unsent != nil {
			continue
		}
		if !utf8.ValidString(e.externalID) {
			g.entries[i].unsent = &outcome{Name: e.name, Outcome: outcomeFailed,
				Error: "its name is not UTF-8: rename it, or ingest it alone with --external-id"}
			continue
		}
		if seen[e.externalID] {
			return g, wrongUse("two documents would have the external id %q; ingest them one at a time, each with a --prefix of its own", e.externalID)
		}
		seen[e.externalID] = true
	}
	return g, nil
}

// pairTranscripts makes a transcript part of the recording of the same name beside it:
// talk.vtt or talk.srt of talk.mp3.
func (g *gathering) pairTranscripts() {
	var paths []string
	for _, e := range g.entries {
		paths = append(paths, filepath.ToSlash(e.path)) // "" for an address
	}
	paired := map[int]bool{}
	for recording, beside := range extract.PairTranscripts(paths) {
		transcript := g.entries[beside]
		g.entries[recording].transcript = &client.Transcript{Name: transcript.name, Open: transcript.open}
		paired[beside] = true
	}
	var kept []entry
	for i, e := range g.entries {
		if !paired[i] {
			kept = append(kept, e)
		}
	}
	g.entries = kept
}

func (g *gathering) add(source string) error {
	if u, err := url.Parse(source); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		g.entries = append(g.entries, entry{name: source, externalID: source, url: source})
		return nil
	}
	info, err := os.Stat(source)
	switch {
	case err != nil:
		return usageError{err.Error()}
	case info.IsDir():
		g.folder(source)
	case info.Mode().IsRegular():
		g.file(source, filepath.Base(source))
	default:
		return wrongUse("%s is neither a file nor a folder", source)
	}
	return nil
}

// file adds a file by its path inside its folder. The server uses the last part
// as the name, which must be UTF-8.
func (g *gathering) file(path, inside string) {
	g.entries = append(g.entries, entry{name: strings.ToValidUTF8(inside, "\ufffd"), path: path, externalID: inside,
		open: func() (io.ReadCloser, error) { return os.Open(path) }})
}

// addUnsent adds an entry that is not sent, with the reason.
func (g *gathering) addUnsent(name, how, why string) {
	g.entries = append(g.entries, entry{name: name, unsent: &outcome{Name: name, Outcome: how, Error: why}})
}

// folder adds the files of a folder and of its subfolders. A file that cannot
// be read becomes an outcome and stops nothing else. Hidden files, and those that
// .cairnignore leaves out, are counted.
func (g *gathering) folder(folder string) {
	root, err := filepath.EvalSymlinks(folder) // WalkDir does not follow a root that is a link
	if err != nil {
		g.addUnsent(folder, outcomeFailed, err.Error())
		return
	}
	rules := ignoreRules{}
	visit := func(path string, d fs.DirEntry, err error) error {
		inside, relErr := filepath.Rel(root, path)
		if relErr != nil {
			return relErr
		}
		inside = filepath.ToSlash(inside)
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			g.addUnsent(inside, outcomeFailed, err.Error())
		case path != root && g.leavesOut(rules, inside, d):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.IsDir():
			if err := rules.load(path, inside); err != nil { // a file that should be left out must not be sent
				g.addUnsent(filepath.ToSlash(filepath.Join(inside, ignoreFile)), outcomeFailed, err.Error()+"; nothing of the folder is sent")
				return filepath.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			g.link(path, inside)
		case d.Type().IsRegular():
			g.file(path, inside)
		default:
			g.addUnsent(inside, outcomeSkipped, "it is neither a file nor a folder")
		}
		return nil
	}
	if err := filepath.WalkDir(root, visit); err != nil {
		g.addUnsent(folder, outcomeFailed, err.Error())
	}
}

// leavesOut reports whether a file or folder is hidden or ignored, and counts it.
func (g *gathering) leavesOut(rules ignoreRules, inside string, d fs.DirEntry) bool {
	switch {
	case strings.HasPrefix(d.Name(), "."):
		g.hidden++
	case rules.ignores(inside, d.IsDir()):
		g.ignored++
	default:
		return false
	}
	return true
}

// link adds the file to which a link in a folder points. It does not follow
// links to folders, which may form a circle.
func (g *gathering) link(path, inside string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		g.addUnsent(inside, outcomeSkipped, fmt.Sprintf("it is a broken link: %v", err))
	case info.IsDir():
		g.addUnsent(inside, outcomeSkipped, "it is a link to a folder")
	case info.Mode().IsRegular():
		g.file(path, inside)
	default:
		g.addUnsent(inside, outcomeSkipped, "it is neither a file nor a folder")
	}
}
