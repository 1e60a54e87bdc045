package main

import (
	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/source/web"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// pagesPerHost is how many pages of one host are requested at a time.
const pagesPerHost = 4

// useWeb sets the search engine and the reader of pages, if an engine is configured.
func (p *platform) useWeb(answering *activities.Answering) {
	c := p.cfg.WebSearch
	if c.Provider == "" {
		return
	}
	client, err := websearch.New(websearch.Config{Provider: knowledge.WebProvider(c.Provider), URL: c.URL, Key: c.Key, Engine: c.Engine}, nil)
	if err != nil { // the configuration was checked
		p.log.Error("the web cannot be searched", "error", err)
		return
	}
	answering.Web = client
	if p.parsers != nil {
		answering.Pages = scrape.NewReader(scrape.Config{
			Client: web.NewClient(p.dialer.Client(0), web.NewPace(pagesPerHost)), Extractor: p.parsers, Folder: p.temporary(),
		})
	}
}
