package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// Outcomes of an entry.
const (
	outcomeAccepted  = "accepted" // without waiting, or waiting was interrupted
	outcomePublished = "published"
	outcomeUnchanged = "unchanged" // the document's newest version is the same
	outcomeSkipped   = "skipped"
	outcomeFailed    = "failed"
	outcomeNotSent   = "not sent" // the ingestion stopped before the server answered
)

// outcome is the result of one entry.
type outcome struct {
	Name     string           `json:"name"`
	Outcome  string           `json:"outcome"`
	Error    string           `json:"error,omitempty"`
	Document *client.Document `json:"document,omitempty"`
	Import   *client.Import   `json:"import,omitempty"` // of an archive
	files    int              // in the archive, 0 = not known
}

// counts returns how many documents have which outcome: one, or the files of an archive.
func (o outcome) counts() map[string]int {
	i := o.Import
	switch {
	case i == nil:
		return map[string]int{o.Outcome: 1}
	case o.Outcome == outcomeAccepted:
		return map[string]int{outcomeAccepted: max(1, o.files)}
	}
	counts := map[string]int{outcomePublished: int(i.Published), outcomeSkipped: int(i.Skipped), outcomeFailed: int(i.Failed)}
	if o.Outcome == outcomeFailed && i.Failed == 0 {
		counts[outcomeFailed] = max(1, int(i.Remaining)) // the import has failed as a whole
	}
	return counts
}

// replaces reports whether the document existed already and has a new version
// now.
func (o outcome) replaces() bool {
	return o.Document != nil && o.Document.Version > 1 && !o.Document.Unchanged
}

// summary is the result of an ingestion. Each document counts in one of the
// numbers, and each file of an archive is a document.
type summary struct {
	Documents []outcome `json:"documents"`
	Accepted  int       `json:"accepted"`
	Published int       `json:"published"`
	Unchanged int       `json:"unchanged"`
	Skipped   int       `json:"skipped"`
	Failed    int       `json:"failed"`
	NotSent   int       `json:"notSent"`
	Replaced  int       `json:"replaced"` // documents of all these that existed before
	Hidden    int       `json:"hidden"`   // hidden files and folders, which no other number contains
	Ignored   int       `json:"ignored"`  // files and folders that .cairnignore leaves out, likewise

	unsupported bool // no file was of a supported kind
}

// total is the number of documents.
func (s summary) total() int {
	return s.Accepted + s.Published + s.Unchanged + s.Skipped + s.Failed + s.NotSent
}

func summarise(outcomes []outcome, found gathering) summary {
	count, replaced, unsupported := map[string]int{}, 0, true
	for _, o := range outcomes {
		for outcome, n := range o.counts() {
			count[outcome] += n
		}
		unsupported = unsupported && o.Outcome == outcomeSkipped
		if o.replaces() {
			replaced++
		}
	}
	return summary{Documents: outcomes, Accepted: count[outcomeAccepted], Published: count[outcomePublished],
		Unchanged: count[outcomeUnchanged], Skipped: count[outcomeSkipped], Failed: count[outcomeFailed], NotSent: count[outcomeNotSent],
		Replaced: replaced, Hidden: found.hidden, Ignored: found.ignored, unsupported: unsupported}
}

// write prints the numbers: skipped and failed always, the others if they are
// not 0.
func (s summary) write(out io.Writer) error {
	var parts []string
	add := func(n int, outcome string, always bool) {
		if n > 0 || always {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	add(s.Accepted, outcomeAccepted, s.Published+s.Unchanged == 0)
	add(s.Published, outcomePublished, false)
	add(s.Unchanged, outcomeUnchanged, false)
	add(s.Skipped, outcomeSkipped, true)
	add(s.Failed, outcomeFailed, true)
	add(s.NotSent, outcomeNotSent, false)
	text := strings.Join(parts, ", ")
	if s.Replaced > 0 {
		text += fmt.Sprintf("; new versions of existing documents: %d", s.Replaced)
	}
	if s.Hidden > 0 {
		text += fmt.Sprintf("; hidden files left out: %d", s.Hidden)
	}
	if s.Ignored > 0 {
		text += fmt.Sprintf("; left out by %s: %d", ignoreFile, s.Ignored)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// err returns the error of the command, nil if all went well.
func (s summary) err() error {
	switch {
	case s.Failed > 0:
		return fmt.Errorf("%d of %s failed", s.Failed, terminal.Count(s.total(), "document"))
	case len(s.Documents) == 0:
		return errors.New("the given paths contain no files")
	case s.unsupported:
		return errors.New("none of the files is of a supported kind")
	}
	return nil
}

// finish prints the summary of an ingestion that ended, or that stopped with an
// error. The server continues with the documents that it has accepted.
func (g ingestCmd) finish(a *app, s summary, stopped error) error {
	if g.forPrograms() {
		if err := g.write(a, s); err != nil {
			return errors.Join(stopped, err)
		}
	} else if err := s.write(a.stderr); err != nil {
		return errors.Join(stopped, err)
	}
	if stopped == nil {
		return s.err()
	}
	if s.Accepted > 0 {
		fmt.Fprintln(a.stderr, "The server continues with the accepted documents.") // the error follows in any case
	}
	return stopped
}
