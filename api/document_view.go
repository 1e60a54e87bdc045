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
func (s *Server) startedView(d knowledge.Document, run string) view.Document {
	started := s.documentView(d)
	started.RunID, started.EventsURL = run, s.eventsURL(d.Workspace, run)
	return started
}

// takenView is documentView with the run that ingests the document.
func (s *Server) takenView(t intake.Taken) view.Document {
	shown := s.startedView(t.Document, t.Run)
	shown.Unchanged = t.Unchanged
	return shown
}

// eventsURL is where a run's events are, with a token for a reader that can
// send no header.
func (s *Server) eventsURL(workspace, run string) string {
	return s.link("/runs/" + run + "/events?token=" + url.QueryEscape(s.runToken(workspace, run)))
}

// runToken returns a token with which its holder may follow one run.
func (s *Server) runToken(workspace, run string) string {
	// To the minute, so that a request which is repeated is given the same link.
	expires := s.now().Add(eventsLife + time.Minute).Truncate(time.Minute)
	return s.deps.Access.SignRun(workspace, run, expires)
}

// link returns the address of a path of the API as answers show it.
func (s *Server) link(path string) string { return strings.TrimRight(s.cfg.PublicURL, "/") + path }
