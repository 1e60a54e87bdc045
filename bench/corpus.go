package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// abstract is one document of the Cranfield collection.
type abstract struct{ id, title, text string }

var (
	documentPattern = regexp.MustCompile(`(?s)<doc>(.*?)</doc>`)
	queryPattern    = regexp.MustCompile(`(?s)<top>(.*?)</top>`)
)

// field returns the text of an element of a record. The collection is not
// well-formed XML.
func field(record, name string) string {
	_, rest, _ := strings.Cut(record, "<"+name+">")
	text, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

// abstracts reads the documents of the collection.
func (b *bench) abstracts() ([]abstract, error) {
	data, err := os.ReadFile(filepath.Join(b.data, "cranfield", "cran.all.1400.xml"))
	if err != nil {
		return nil, fmt.Errorf("the Cranfield collection is needed for this: %w", err)
	}
	var list []abstract
	for _, m := range documentPattern.FindAllStringSubmatch(string(data), -1) {
		list = append(list, abstract{id: field(m[1], "docno"), title: field(m[1], "title"), text: field(m[1], "text")})
	}
	return list, nil
}

// queries returns the questions in order and, for each, the relevant documents.
// The judgements number the questions by their position.
func (b *bench) queries() (texts []string, relevant []map[string]bool, err error) {
	data, err := os.ReadFile(filepath.Join(b.data, "cranfield", "cran.qry.xml"))
	if err != nil {
		return nil, nil, err
	}
	for _, m := range queryPattern.FindAllStringSubmatch(string(data), -1) {
		texts = append(texts, field(m[1], "title"))
		relevant = append(relevant, map[string]bool{})
	}
	judged, err := os.ReadFile(filepath.Join(b.data, "cranfield", "cranqrel.trec.txt"))
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(judged)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		query, _ := strconv.Atoi(f[0])
		if grade, _ := strconv.Atoi(f[3]); grade > 0 && query >= 1 && query <= len(relevant) {
			relevant[query-1][f[2]] = true
		}
	}
	return texts, relevant, nil
}
