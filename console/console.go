// Package console serves the pages of Cairn to browsers. They are hand-written modules of
// JavaScript below static, embedded as they are; static/app.js is where they start. They
// reach the server by its public API alone.
package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/samples"
)

//go:embed static
var static embed.FS

// policy lets the pages load what Cairn serves and run its modules, and nothing else. No
// script may make HTML of text. The origins of the pages that may frame them follow it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors "

// folder is the address of the modules.
const folder = "/console/"

// file is an embedded file as it is sent.
type file struct {
	bytes []byte
	kind  string // Content-Type
	etag  string
}

// Framers returns the origins of the pages that may show the page of an agent in a frame.
type Framers func(ctx context.Context, slug string) []string

// Handler serves the console and the pages of agents, and everything else by next.
func Handler(next http.Handler, framers Framers) http.Handler {
	files, err := read()
	if err != nil {
		panic(err) // the files are part of the command
	}
	edition := editionOf(files)
	html := map[string]file{}
	for first, module := range pages() {
		html[first] = pageOf(files, edition, "index.html", "app.js", module)
	}
	agents := agentPages{page: pageOf(files, edition, "agent.html", agentModule), script: files["embed.js"], framers: framers}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var found file
		var ok bool
		cache := "no-cache" // asked for anew each time, and sent only if it differs
		switch first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
		case strings.HasPrefix(r.URL.Path, folder):
			name, kept := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, folder), edition+"/")
			if kept {
				cache = "public, max-age=31536000, immutable"
			}
			found, ok = files[name]
		case agents.serve(w, r):
			return
		case strings.Contains(r.Header.Get("Accept"), "text/html"):
			found, ok = html[first]
		}
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		found.send(w, r, cache, "'none'")
	})
}

// send sends the file. framers are the origins whose pages may show it in a frame.
func (f file) send(w http.ResponseWriter, r *http.Request, cache, framers string) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Cache-Control", cache)
	header.Set("ETag", f.etag)
	header.Set("Vary", "Accept")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", policy+framers)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.bytes))
}

// read returns the files by their paths below folder: the modules, and the sample documents
// with a list of their names.
func read() (map[string]file, error) {
	files := map[string]file{}
	if err := readInto(files, static, "static/", ""); err != nil {
		return nil, fmt.Errorf("read the console: %w", err)
	}
	documents, err := samples.Documents()
	if err != nil {
		return nil, fmt.Errorf("open the samples: %w", err)
	}
	names, err := fs.Glob(documents, "*")
	if err != nil {
		return nil, fmt.Errorf("list the samples: %w", err)
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("encode the list of samples: %w", err)
	}
	files["samples/list.json"] = newFile("list.json", list)
	if err := readInto(files, documents, "", "samples/"); err != nil {
		return nil, fmt.Errorf("read the samples: %w", err)
	}
	return files, nil
}

// readInto adds the files of a folder, with another beginning of their names.
func readInto(files map[string]file, from fs.FS, cut, prefix string) error {
	return fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		files[prefix+strings.TrimPrefix(name, cut)] = newFile(name, content)
		return nil
	})
}

func newFile(name string, content []byte) file {
	sum := sha256.Sum256(content)
	kind := mime.TypeByExtension(path.Ext(name))
	if strings.HasSuffix(name, ".js") { // some systems know another type
		kind = "text/javascript; charset=utf-8"
	}
	return file{content, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
}
