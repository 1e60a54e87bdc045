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
)

// entry is one document to send: a file or an address.
type entry struct {
	name       string
	externalID string
	url        string // "" = a file
	open       func() (io.ReadCloser, error)
	unsent     *outcome // nil = it is sent
}

// gather turns what the command was given into entries: a folder into the files
// that it holds, named by their paths inside it. Hidden files and folders are
// left out. Two entries with one external id would be versions of one document,
// which nobody means: that is wrong use.
func gather(sources []source, externalID string) ([]entry, error) {
	var entries []entry
	for _, source := range sources {
		found, err := gatherOne(string(source))
		if err != nil {
			return nil, err
		}
		entries = append(entries, found...)
	}
	if externalID != "" {
		if len(entries) != 1 {
			return nil, wrongUse("--external-id names one document, but there are %d", len(entries))
		}
		entries[0].externalID = externalID
	}
	seen := map[string]bool{}
	for i, e := range entries {
		if !utf8.ValidString(e.externalID) {
			entries[i].unsent = &outcome{Name: e.name, Outcome: outcomeFailed,
				Error: "its name is not UTF-8: rename it, or ingest it alone with --external-id"}
			continue
		}
		if seen[e.externalID] {
			return nil, wrongUse("two documents would have the external id %q; ingest them one folder at a time, or with --external-id", e.externalID)
		}
		seen[e.externalID] = true
	}
	return entries, nil
}

func gatherOne(source string) ([]entry, error) {
	if u, err := url.Parse(source); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return []entry{{name: source, externalID: source, url: source}}, nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	if info.IsDir() {
		return gatherFolder(source)
	}
	if !info.Mode().IsRegular() {
		return nil, wrongUse("%s is neither a file nor a folder", source)
	}
	return []entry{fileEntry(source, filepath.Base(source))}, nil
}

func gatherFolder(folder string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != folder && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		inside, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		entries = append(entries, fileEntry(path, filepath.ToSlash(inside)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the folder %s: %w", folder, err)
	}
	return entries, nil
}

// fileEntry shows a file by its path inside its folder; the server keeps the
// last part of it as the name, which has to be UTF-8.
func fileEntry(path, inside string) entry {
	return entry{name: strings.ToValidUTF8(inside, "\ufffd"), externalID: inside,
		open: func() (io.ReadCloser, error) { return os.Open(path) }}
}
