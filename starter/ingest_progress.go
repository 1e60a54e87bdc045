package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// ingestNotes shows why an ingestion does not advance. Safe for concurrent use.
type ingestNotes struct {
	progress *terminal.Progress
	out      io.Writer

	mu     sync.Mutex
	apart  int  // requests and streams without a connection
	quiet  bool // nothing about documents
	waited map[string]string
}

// newIngestNotes returns notes that are written to out, above the progress. Quiet ones are
// about outages only.
func newIngestNotes(progress *terminal.Progress, out io.Writer, quiet bool) *ingestNotes {
	return &ingestNotes{progress: progress, out: out, quiet: quiet, waited: map[string]string{}}
}

// outage counts the requests that try again. It writes a line for the first of them, and
// one when the last has a connection.
func (n *ingestNotes) outage(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		if n.apart--; n.apart == 0 {
			n.progress.Note(n.out, outageText(nil))
		}
		return
	}
	if n.apart++; n.apart == 1 {
		n.progress.Note(n.out, outageText(err))
	}
}

// now shows how far a document is.
func (n *ingestNotes) now(name string, d client.Document) {
	n.progress.Now(fmt.Sprintf("%s %.0f %%, %s", d.Stage, 100*d.Progress, name))
}

// document shows how far a document is, and writes what it waits for, once for each try. It
// returns the stage, "" = an event of something else.
func (n *ingestNotes) document(name string, e client.Event) knowledge.Stage {
	var d client.Document
	if e.Name != client.EventDocument || e.Decode(&d) != nil || n.quiet {
		return "" // an event that cannot be read is no reason to stop
	}
	n.now(name, d)
	if d.Waiting == nil {
		return d.Stage
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	try := fmt.Sprint(d.Waiting.Attempt, d.Stage)
	if n.waited[name] != try {
		n.waited[name] = try
		n.progress.Note(n.out, fmt.Sprintf("%s waits: %s", name, documentWait(*d.Waiting)))
	}
	return d.Stage
}
