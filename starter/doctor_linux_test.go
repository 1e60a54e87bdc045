package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/starter/terminal"
)

// TestDoctorReport has findings that no machine changes. A command in them is never cut,
// however narrow the terminal is.
func TestDoctorReport(t *testing.T) {
	t.Parallel()
	found := []finding{
		{"server", findingOK, "ready, with 4 services", ""},
		{"documents", findingBad, "a.md and 1 more wait at embed: provider_failed: the endpoint cannot be reached", "after a repair: cairn documents retry --all --code provider_failed"},
		{"component Tesseract", findingNote, "not found; it reads scanned pages", "apt-get install tesseract-ocr"},
	}
	const table = `STATE    CHECK                FOUND                                                                           NEXT STEP
ok       server               ready, with 4 services
problem  documents            a.md and 1 more wait at embed: provider_failed: the endpoint cannot be reached  after a repair: cairn documents retry --all --code provider_failed
note     component Tesseract  not found; it reads scanned pages                                               apt-get install tesseract-ocr
`
	const at80 = `ok       server: ready, with 4 services
problem  documents: a.md and 1 more wait at embed: provider_failed: the endpoint
         cannot be reached
         next: after a repair: cairn documents retry --all --code provider_failed
note     component Tesseract: not found; it reads scanned pages
         next: apt-get install tesseract-ocr
`
	const at50 = `ok       server: ready, with 4 services
problem  documents: a.md and 1 more wait at embed:
         provider_failed: the endpoint cannot be
         reached
         next: after a repair: cairn documents retry --all --code provider_failed
note     component Tesseract: not found; it reads
         scanned pages
         next: apt-get install tesseract-ocr
`
	for width, want := range map[int]string{50: at50, 80: at80, 200: table} {
		file, read := openTerminal(t, width)
		err := doctorCmd{}.report(&app{stdout: terminal.OnScreen(file, "1")}, found)
		if err == nil || err.Error() != "1 problem found" {
			t.Errorf("the error is %v", err)
		}
		if diff := cmp.Diff(want, read()); diff != "" {
			t.Errorf("at %d columns (-want +got):\n%s", width, diff)
		}
	}
	const yaml = `findings:
  - check: server
    detail: ready, with 4 services
    state: ok
  - check: documents
    detail: 'a.md and 1 more wait at embed: provider_failed: the endpoint cannot be reached'
    next: 'after a repair: cairn documents retry --all --code provider_failed'
    state: problem
  - check: component Tesseract
    detail: not found; it reads scanned pages
    next: apt-get install tesseract-ocr
    state: note
problems: 1
`
	const json = `{
  "findings": [
    {
      "check": "server",
      "detail": "ready, with 4 services",
      "state": "ok"
    },
    {
      "check": "documents",
      "detail": "a.md and 1 more wait at embed: provider_failed: the endpoint cannot be reached",
      "next": "after a repair: cairn documents retry --all --code provider_failed",
      "state": "problem"
    },
    {
      "check": "component Tesseract",
      "detail": "not found; it reads scanned pages",
      "next": "apt-get install tesseract-ocr",
      "state": "note"
    }
  ],
  "problems": 1
}
`
	for output, want := range map[string]string{outputYAML: yaml, outputJSON: json} {
		var out bytes.Buffer
		command := doctorCmd{}
		command.Output = output
		if err := command.report(&app{stdout: &out}, found); err == nil {
			t.Errorf("no error in %s", output)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("in %s (-want +got):\n%s", output, diff)
		}
	}
}
