package server

import (
	"context"
	"net/url"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/source/web"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// pagesPerHost is how many pages of one host are requested at a time.
const pagesPerHost = 4

// useWeb sets the search engine and the reader of pages, if an engine is configured.
func (p *platform) useWeb(questions *answering.Dependencies) {
	if web, ok := p.webSource(); ok {
		questions.Web, questions.Pages = web.Web, web.Pages
	}
}

// webSource returns the search engine and the reader of pages, ok = false if no engine is
// configured.
func (p *platform) webSource() (source answering.WebSource, ok bool) {
	c := p.cfg.WebSearch
	if c.Provider == "" {
		return source, false
	}
	rules, err := websearch.RulesOf(knowledge.WebSearchConfig{BonusDomains: c.BonusDomains, BlacklistedDomains: c.BlacklistedDomains}, nil)
	var client *websearch.Client
	if err == nil {
		client, err = websearch.New(websearch.Config{Provider: knowledge.WebProvider(c.Provider), URL: c.URL, Key: c.Key, Engine: c.Engine, Rules: rules}, nil)
	}
	if err != nil {
		p.log.Error("the web cannot be searched", "error", err)
		return source, false
	}
	source.Web = client
	if p.parsers != nil {
		cfg := scrape.Config{
			Client: web.NewClient(p.dialer.Client(0), web.NewPace(pagesPerHost)), Extractor: p.parsers, Folder: p.temporary(),
		}
		if p.browser != nil {
			cfg.Browser = p.browser
		}
		source.Pages = ruledReader{scrape.NewReader(cfg), rules}
	}
	return source, true
}

// ruledReader reads only pages that the rules of the instance allow, in redirects too.
type ruledReader struct {
	answering.PageReader

	rules websearch.Rules
}

// Read implements answering.PageReader.
func (r ruledReader) Read(ctx context.Context, addresses []string, allow func(*url.URL) bool) []scrape.Page {
	return r.PageReader.Read(ctx, addresses, func(u *url.URL) bool { return r.rules.AllowURL(u) && allow(u) })
}

// startBrowser prepares the browser of a worker, if it is configured. Chromium itself is
// started by the first page that needs it.
func (p *platform) startBrowser(context.Context) error {
	if !p.cfg.Scrape.Chromium {
		return nil
	}
	launcher, err := child(browseCommand)
	if err != nil {
		return err
	}
	if err := browser.Available(); err != nil {
		p.log.Warn("scrape.chromium is set, but pages are read without their scripts", "error", err)
	}
	p.browser = browser.New(browser.Config{Launcher: launcher, Dialer: p.dialer, Agent: web.Agent, Logger: p.log})
	p.onClose(p.browser.Close)
	return nil
}
