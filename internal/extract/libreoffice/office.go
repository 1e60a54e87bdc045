// Package libreoffice converts office documents with an installed LibreOffice: older
// formats into OpenDocument, which Cairn reads, and all into PDF, for their pages.
//
// LibreOffice takes a second of processor time to start and a twentieth for a small
// document. One process therefore serves a parser child for all its documents: a
// macro in a profile of ours waits for jobs in a folder. The process has no network,
// runs no macros of documents, and ends with the parser child. That it follows no links is
// a setting that some of its import filters ignore: it can open only the files in
// the namespaces of the parser child.
package libreoffice

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"
)

const (
	// conversions is how many documents a process converts before it is replaced.
	conversions = 100
	poll        = 5 * time.Millisecond
)

// ErrUnreadable is returned for a document that LibreOffice cannot open: it is
// damaged, or the password is missing or wrong.
var ErrUnreadable = errors.New("LibreOffice cannot open the document")

// Office is an installed LibreOffice. It starts with its first job. It is not safe
// for concurrent use.
type Office struct {
	program    string
	folder     string
	isConfined bool
	process    *process
	served     int
}

// New returns an office for the program soffice, which keeps its profile in a folder
// of its own. The caller removes the folder. isConfined means that this process is in
// namespaces without a network and without /proc, which LibreOffice then shares.
func New(program, folder string, isConfined bool) *Office {
	return &Office{program: program, folder: folder, isConfined: isConfined}
}

// Job is a document to convert.
type Job struct {
	Path     string
	Password string // of an encrypted document
	Targets  []Target
}

// Target is a file to make of a document.
type Target struct {
	Filter string // the name of LibreOffice's export filter
	Path   string
}

// The export filters.
const (
	FilterODT          = "writer8"
	FilterODP          = "impress8"
	FilterODS          = "calc8"
	FilterTextPDF      = "writer_pdf_Export"
	FilterSlidesPDF    = "impress_pdf_Export"
	FilterWorkbooksPDF = "calc_pdf_Export"
)

// IsRunning reports whether LibreOffice is running.
func (o *Office) IsRunning() bool { return o.process != nil && o.process.alive() }

// Start starts LibreOffice if it is not running, and blocks until it waits for jobs.
// Errors are the cause of ctx, or a failure of LibreOffice.
func (o *Office) Start(ctx context.Context) error {
	if o.served >= conversions {
		o.Close()
	}
	if o.IsRunning() {
		return nil
	}
	if o.process == nil || !o.process.succeeded() {
		if err := o.renew(); err != nil {
			return err
		}
	}
	for range 3 { // in a new profile it asks to be started again
		if err := o.remove("ready", "job", "done"); err != nil {
			return err
		}
		process, err := o.startProcess()
		if err != nil {
			return err
		}
		o.process, o.served = process, 0
		if err = o.await(ctx, "ready"); !errors.Is(err, errEnded) || !process.wantsRestart() {
			return err
		}
	}
	return errors.New("LibreOffice asks again and again to be started again")
}

// renew makes a new profile. A process that was killed leaves files of its document in the
// one before.
func (o *Office) renew() error {
	entries, err := os.ReadDir(o.folder)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(o.file(e.Name())))
	}
	if err != nil {
		return fmt.Errorf("clear the profile of LibreOffice: %w", err)
	}
	return writeProfile(o.folder)
}

// Convert converts a document. It ends LibreOffice when ctx ends. Errors are
// ErrUnreadable, the cause of ctx, or a failure of LibreOffice.
func (o *Office) Convert(ctx context.Context, job Job) error {
	if err := o.Start(ctx); err != nil {
		return err
	}
	o.served++
	if err := o.write(job); err != nil {
		return err
	}
	err := o.await(ctx, "done")
	if errors.Is(err, errEnded) && o.has("job") && o.process.succeeded() {
		return o.Convert(ctx, job) // it ended because it was idle, before it saw the job
	}
	if err != nil {
		return err
	}
	outcome, err := os.ReadFile(o.file("done"))
	if err != nil {
		return fmt.Errorf("read the outcome of LibreOffice: %w", err)
	}
	return errors.Join(outcomeError(strings.TrimSpace(string(outcome))), o.remove("done"))
}

// outcomeError returns the error that the macro reports.
func outcomeError(outcome string) error {
	switch {
	case outcome == "ok":
		return nil
	case outcome == "unreadable", strings.Contains(outcome, "type detection"), strings.Contains(outcome, "Unsupported URL"):
		return ErrUnreadable
	}
	return fmt.Errorf("LibreOffice: %s", outcome)
}

// write writes the job file, whose presence is the signal.
func (o *Office) write(job Job) error {
	var b strings.Builder
	b.WriteString(fileURL(job.Path) + "\n")
	for _, unit := range utf16.Encode([]rune(job.Password)) {
		fmt.Fprintf(&b, "%04x", unit)
	}
	b.WriteByte('\n')
	for _, t := range job.Targets {
		b.WriteString(t.Filter + "\n" + fileURL(t.Path) + "\n")
	}
	name := o.file("job")
	err := os.WriteFile(name+".new", []byte(b.String()), 0o600)
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("write a job for LibreOffice: %w", err)
	}
	return nil
}

func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// errEnded means that LibreOffice ended before it was done.
var errEnded = errors.New("LibreOffice ended before it had converted the document")

// await blocks until LibreOffice has written a file.
func (o *Office) await(ctx context.Context, name string) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !o.has(name) {
		o.process.tidy()
		select {
		case <-ctx.Done():
			o.Close()
			return context.Cause(ctx)
		case <-o.process.exited:
			if o.has(name) {
				return nil
			}
			return errEnded
		case <-tick.C:
		}
	}
	o.process.tidy()
	o.process.isTidy = true // it makes no sockets later
	return nil
}

func (o *Office) file(name string) string { return filepath.Join(o.folder, name) }

func (o *Office) has(name string) bool {
	_, err := os.Stat(o.file(name))
	return err == nil
}

// remove removes files that may not be there.
func (o *Office) remove(names ...string) error {
	for _, name := range names {
		if err := os.Remove(o.file(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove a file of LibreOffice: %w", err)
		}
	}
	return nil
}

// Close ends LibreOffice.
func (o *Office) Close() {
	if o.process != nil && o.process.alive() {
		o.process.kill()
	}
}
