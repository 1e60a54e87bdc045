package api

import (
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/view"
)

// eventsLife is how long the token in an eventsUrl is good.
const eventsLife = time.Hour

// documentView returns a document as clients see it.
func (s *Server) documentView(d knowledge.Document) view.Document {
	return view.NewDocument(d, s.deps.Links.OperatorURL)
}

// startedView is documentView with the run that was started.
func (s *Server) startedView(p knowledge.Principal, d knowledge.Document, run string) view.Document {
	started := s.documentView(d)
	started.RunID, started.EventsURL = run, s.eventsURL(p, run)
	return started
}

// takenView is documentView with the run that ingests the document.
func (s *Server) takenView(p knowledge.Principal, t intake.Taken) view.Document {
	shown := s.startedView(p, t.Document, t.Run)
	shown.Unchanged = t.Unchanged
	return shown
}

// eventsURL is where a run's events are, with a token for a reader that can
// send no header. The link is good as long as the principal's key or JWT is.
func (s *Server) eventsURL(p knowledge.Principal, run string) string {
	return s.link("/runs/" + run + "/events?token=" + url.QueryEscape(s.runToken(p, run)))
}

// runToken returns a token with which its holder may follow one run.
func (s *Server) runToken(p knowledge.Principal, run string) string {
	// To the minute, so that a request which is repeated is given the same link.
	expires := s.now().Add(eventsLife + time.Minute).Truncate(time.Minute)
	return s.deps.Access.SignRun(p, run, expires)
}

// link returns the address of a path of the API as answers show it.
func (s *Server) link(path string) string { return strings.TrimRight(s.cfg.PublicURL, "/") + path }
