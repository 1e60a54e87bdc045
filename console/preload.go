package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pages are the first parts of the addresses that are pages, each with its module. Some are
// addresses of the API too, so a page is sent only to who asks for HTML.
func pages() map[string]string {
	return map[string]string{
		"":           "pages/ask.js",
		"ask":        "pages/ask.js",
		"documents":  "pages/documents.js",
		"runs":       "pages/runs.js",
		"projects":   "pages/projects.js",
		"keys":       "pages/keys.js",
		"usage":      "pages/usage.js",
		"audit":      "pages/audit.js",
		"members":    "pages/members.js",
		"roles":      "pages/roles.js",
		"grants":     "pages/grants.js",
		"holds":      "pages/holds.js",
		"retention":  "pages/retention.js",
		"operations": "pages/operations.js",
		"imports":    "pages/imports.js",
		"syncs":      "pages/syncs.js",

		"evaluations": "pages/evaluations.js",
	}
}

// editionOf returns the name of these files as they are: it changes when one of them does.
func editionOf(files map[string]file) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %s\n", name, files[name].etag)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// imported finds the modules that a module imports when it is loaded, and not later.
var imported = regexp.MustCompile(`(?m)^import [^;]*"(\.[^"]+)";`)

// modulesOf returns the modules that a page loads, those that are imported first before the
// others.
func modulesOf(files map[string]file, first ...string) []string {
	found := slices.Clone(first)
	for i := 0; i < len(found); i++ {
		for _, one := range imported.FindAllSubmatch(files[found[i]].bytes, -1) {
			if name := path.Join(path.Dir(found[i]), string(one[1])); !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// pageOf returns the HTML of a page, which begins with some modules. Its addresses name the edition, so that a browser keeps
// the files for good, and it loads the modules at once rather than one behind the other.
func pageOf(files map[string]file, edition, name string, modules ...string) file {
	var links strings.Builder
	for _, name := range modulesOf(files, modules...) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s%s\">\n", folder, name)
	}
	html := bytes.Replace(files[name].bytes, []byte("</head>"), []byte(links.String()+"</head>"), 1)
	return newFile(name, bytes.ReplaceAll(html, []byte(`"`+folder), []byte(`"`+folder+edition+"/")))
}
