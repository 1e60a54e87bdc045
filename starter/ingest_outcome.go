package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// The ways in which a document comes out of an ingestion.
const (
	outcomeAccepted  = "accepted" // and not waited for, or not to the end
	outcomePublished = "published"
	outcomeSkipped   = "skipped"
	outcomeFailed    = "failed"
	outcomeNotSent   = "not sent" // the ingestion stopped before the server answered
)

// outcome is how one entry came out.
type outcome struct {
	Name     string           `json:"name"`
	Outcome  string           `json:"outcome"`
	Error    string           `json:"error,omitempty"`
	Document *client.Document `json:"document,omitempty"`
}

// replaces reports whether the document was there before: it has a new version now.
func (o outcome) replaces() bool {
	return o.Document != nil && o.Document.Version > 1
}

// summary is what an ingestion did. Each document is in one of the numbers.
type summary struct {
	Documents []outcome `json:"documents"`
	Accepted  int       `json:"accepted"`
	Published int       `json:"published"`
	Skipped   int       `json:"skipped"`
	Failed    int       `json:"failed"`
	NotSent   int       `json:"notSent"`
	Replaced  int       `json:"replaced"` // of all these, documents that were there before
	Hidden    int       `json:"hidden"`   // files and folders that were left out, in none of the other numbers
}

func summarise(outcomes []outcome, hidden int) summary {
	count, replaced := map[string]int{}, 0
	for _, o := range outcomes {
		count[o.Outcome]++
		if o.replaces() {
			replaced++
		}
	}
	return summary{Documents: outcomes, Accepted: count[outcomeAccepted], Published: count[outcomePublished],
		Skipped: count[outcomeSkipped], Failed: count[outcomeFailed], NotSent: count[outcomeNotSent],
		Replaced: replaced, Hidden: hidden}
}

// write says the numbers: skipped and failed always, the others where there are any.
func (s summary) write(out io.Writer) error {
	var parts []string
	add := func(n int, what string, always bool) {
		if n > 0 || always {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(s.Accepted, outcomeAccepted, s.Published == 0)
	add(s.Published, outcomePublished, false)
	add(s.Skipped, outcomeSkipped, true)
	add(s.Failed, outcomeFailed, true)
	add(s.NotSent, outcomeNotSent, false)
	text := strings.Join(parts, ", ")
	if s.Replaced > 0 {
		text += fmt.Sprintf("; new versions of documents that were there: %d", s.Replaced)
	}
	if s.Hidden > 0 {
		text += fmt.Sprintf("; hidden and left out: %d", s.Hidden)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// err is the command's own error, if the documents make one.
func (s summary) err() error {
	switch {
	case s.Failed > 0:
		return fmt.Errorf("%d of %s failed", s.Failed, terminal.Count(len(s.Documents), "document"))
	case len(s.Documents) == 0:
		return errors.New("there are no files in what was named")
	case s.Skipped == len(s.Documents):
		return errors.New("none of the files is of a kind that is read")
	}
	return nil
}

// finish prints the summary of an ingestion that ended, or that stopped with an
// error. What the server has accepted then goes on there.
func (g ingestCmd) finish(a *app, s summary, stopped error) error {
	if g.JSON {
		if err := terminal.JSON(a.stdout, s); err != nil {
			return errors.Join(stopped, err)
		}
	} else if err := s.write(a.stderr); err != nil {
		return errors.Join(stopped, err)
	}
	if stopped == nil {
		return s.err()
	}
	if s.Accepted > 0 {
		fmt.Fprintln(a.stderr, "What was accepted goes on in the server.") // an error to come shows the same
	}
	return stopped
}
