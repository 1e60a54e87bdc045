package main

import (
	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// useWeb gives answers the search engine, if one is configured.
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
}
