package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/client"
)

type auditCmd struct {
	List   auditListCmd   `cmd:"" help:"List entries of the audit, newest first."`
	Verify auditVerifyCmd `cmd:"" help:"Verify the chain of the audit, of the server or of an exported file."`
	Export auditExportCmd `cmd:"" help:"Write the audit to a file, with its signed checkpoints."`
}

// Help returns an example of the commands.
func (auditCmd) Help() string {
	return "Needs a key with the permission audit.read (roles admin and auditor).\n\nExample:\n\n    cairn audit list --object contract.pdf --since 720h"
}

// auditFilter chooses entries.
type auditFilter struct {
	Since  string `placeholder:"TIME" help:"Only entries from this time on: RFC 3339, or an age such as 24h."`
	Until  string `placeholder:"TIME" help:"Only entries before this time: RFC 3339, or an age."`
	Actor  string `placeholder:"ACTOR" help:"Only entries of key:ID, user:NAME or anonymous."`
	Action string `placeholder:"ACTION" help:"Only entries of an operation of the API, such as get-chunk."`
	Object string `placeholder:"ID" help:"Only entries that name this document, run, key or other thing."`
}

func (f auditFilter) query() (q client.AuditQuery, err error) {
	q = client.AuditQuery{Actor: f.Actor, Action: f.Action, Object: f.Object}
	if q.Since, err = timeOrAge("--since", f.Since); err == nil {
		q.Until, err = timeOrAge("--until", f.Until)
	}
	return q, err
}

// timeOrAge returns the time that a flag names, the zero time for "".
func timeOrAge(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return time.Now().Add(-age).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, wrongUse("%s must be a time such as 2026-03-01T00:00:00Z, or an age such as 24h", flag)
	}
	return at, nil
}

type auditListCmd struct {
	listFlags
	auditFilter
	Limit int `default:"100" help:"The largest number of entries; 0 = all."`
}

// Help returns the command's example.
func (auditListCmd) Help() string {
	return "Example:\n\n    cairn audit list --since 24h\n    cairn audit list --object 5b0c0f4e-7a7c-5d0a-8f5e-0c7a52f1d9e3 --json"
}

// Run lists entries.
func (l auditListCmd) Run(ctx context.Context, a *app) error {
	q, err := l.query()
	if err != nil {
		return err
	}
	c, err := l.connect()
	if err != nil {
		return err
	}
	entries, err := pages(l.Limit, func(cursor string, limit int) (client.List[client.AuditEntry], error) {
		return c.Audit(ctx, q, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.AuditEntry]{Data: entries})
	}
	rows := make([][]string, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, []string{fmt.Sprint(e.Seq), l.when(a, e.At), e.Actor, e.Action, e.Object, e.Outcome, e.Address})
	}
	return l.table(a, listing{
		none: "no entries of the audit", header: []string{"SEQ", "AT", "ACTOR", "ACTION", "OBJECT", "OUTCOME", "ADDRESS"}, rows: rows,
		spare: []string{"ADDRESS", "SEQ", "OBJECT"},
	})
}

type auditVerifyCmd struct {
	clientFlags
	File        string `arg:"" optional:"" type:"existingfile" help:"A file of cairn audit export. Without it, the server verifies its audit."`
	After       int64  `placeholder:"SEQ" help:"Begin behind this entry, which a checkpoint knows: what is before it was verified earlier. Not for a file."`
	PublicKey   string `name:"public-key" placeholder:"KEY" help:"For a file: the key that must have signed its checkpoints. Default: the key that the file names itself."`
	Checkpoints string `placeholder:"FILE" type:"existingfile" help:"For a file: checkpoints that were kept elsewhere, as audit.checkpoints writes them, or the bodies of webhooks of the type audit_checkpoints."`
}

// Help returns the command's details and example.
func (auditVerifyCmd) Help() string {
	return "Names the first broken link: an entry that was changed, is gone or stands in another place, a tail that was cut, or a log that was replaced. " +
		"The last two show by signed checkpoints: give the key, and a checkpoint that was kept outside of the server.\n\n" +
		"Example:\n\n    cairn audit verify\n    cairn audit verify audit.jsonl --public-key 3f5c… --checkpoints checkpoint-2026-03-01.json"
}

// Run verifies an audit.
func (v auditVerifyCmd) Run(ctx context.Context, a *app) error {
	report, err := v.report(ctx, a)
	if err != nil {
		return err
	}
	if v.forPrograms() {
		err = v.write(a, report)
	} else {
		_, err = fmt.Fprintf(a.stdout, "%d entries, %d to %d, hash %s\n", report.Entries, report.First, report.Last, report.Hash)
	}
	if err == nil && report.Broken != nil {
		err = fmt.Errorf("the audit is broken at entry %d (%s): %s", report.Broken.Seq, report.Broken.Kind, report.Broken.Message)
	}
	return err
}

func (v auditVerifyCmd) report(ctx context.Context, a *app) (client.AuditReport, error) {
	if v.File != "" {
		return v.ofFile(a)
	}
	if v.PublicKey+v.Checkpoints != "" {
		return client.AuditReport{}, wrongUse("--public-key and --checkpoints are for a file")
	}
	c, err := v.connect()
	if err != nil {
		return client.AuditReport{}, err
	}
	return c.VerifyAudit(ctx, v.After)
}

func (v auditVerifyCmd) ofFile(a *app) (report client.AuditReport, err error) {
	data, err := os.ReadFile(v.File)
	if err != nil {
		return report, err
	}
	var beside []audit.Checkpoint
	if v.Checkpoints != "" {
		text, err := os.ReadFile(v.Checkpoints)
		if err != nil {
			return report, err
		}
		if beside, err = parseCheckpoints(text); err != nil {
			return report, fmt.Errorf("%s has no checkpoints: %w", v.Checkpoints, err)
		}
	}
	lines, key := splitExport(data)
	if v.PublicKey != "" {
		key = v.PublicKey
	} else {
		fmt.Fprintln(a.stderr, "The signatures are checked with the key that the file itself names. Give --public-key to know who signed it.")
	}
	found, err := audit.VerifyFile(bytes.NewReader(lines), key, beside)
	if err != nil {
		return report, fmt.Errorf("%s: %w", v.File, err)
	}
	report = client.AuditReport{Entries: found.Entries, First: found.First, Last: found.Last, Hash: found.Hash, PublicKey: found.PublicKey}
	if found.Broken != nil {
		report.Broken = &client.AuditBreak{Seq: found.Broken.Seq, Kind: found.Broken.Kind, Message: found.Broken.Message}
	}
	return report, nil
}

// parseCheckpoints reads checkpoints as audit.checkpoints writes them, and as a webhook gets them:
// one or several JSON objects.
func parseCheckpoints(text []byte) (list []audit.Checkpoint, err error) {
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var one struct {
			audit.Checkpoint
			Payload *audit.Checkpoint `json:"payload"`
		}
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF):
			if len(list) == 0 {
				return nil, errors.New("it is empty")
			}
			return list, nil
		case err != nil:
			return nil, err
		}
		if one.Payload != nil {
			one.Checkpoint = *one.Payload
		}
		if one.Signature == "" {
			return nil, errors.New("an object has no signature")
		}
		list = append(list, one.Checkpoint)
	}
}

// exportedKey is the last line of an export.
type exportedKey struct {
	PublicKey string `json:"public_key"`
}

// splitExport returns the lines of an export without the last one, and the key that that one
// names.
func splitExport(data []byte) (lines []byte, key string) {
	end := bytes.TrimRight(data, "\n")
	at := bytes.LastIndexByte(end, '\n') + 1
	var last exportedKey
	if json.Unmarshal(end[at:], &last) != nil || last.PublicKey == "" {
		return data, ""
	}
	return data[:at], last.PublicKey
}

type auditExportCmd struct {
	clientFlags
	auditFilter
	File   string `arg:"" help:"The file to write; - is standard output."`
	Format string `enum:"jsonl,ocsf" default:"jsonl" help:"jsonl, which cairn audit verify reads, or ocsf: events of the Open Cybersecurity Schema Framework."`
}

// Help returns the command's details and example.
func (auditExportCmd) Help() string {
	return "Entries are written oldest first, one a line. Behind them, in the format jsonl, are the signed checkpoints and the key that checks them. " +
		"An export that leaves entries out by --actor, --action or --object cannot be verified.\n\n" +
		"Example:\n\n    cairn audit export audit.jsonl\n    cairn audit export - --format ocsf --since 24h"
}

// Run writes an export.
func (e auditExportCmd) Run(ctx context.Context, a *app) (err error) {
	q, err := e.query()
	if err != nil {
		return err
	}
	c, err := e.connect()
	if err != nil {
		return err
	}
	if e.File == "-" {
		return e.export(ctx, c, q, a.stdout)
	}
	file, err := os.OpenFile(e.File, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := e.export(ctx, c, q, file); err != nil {
		_ = file.Close() // the first error counts
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if e.forPrograms() {
		return e.write(a, map[string]string{"file": e.File})
	}
	_, err = fmt.Fprintln(a.stdout, "wrote", e.File)
	return err
}

// export reads the checkpoints first, so that they know no entry that is not exported.
func (e auditExportCmd) export(ctx context.Context, c *client.Client, q client.AuditQuery, to io.Writer) error {
	list, err := c.AuditCheckpoints(ctx)
	if err != nil {
		return err
	}
	if err := c.ExportAudit(ctx, q, e.Format, to); err != nil || e.Format != "jsonl" {
		return err
	}
	encoder := json.NewEncoder(to)
	for _, checkpoint := range list.Data {
		var c struct{ At time.Time }
		if err := json.Unmarshal(checkpoint, &c); err != nil {
			return fmt.Errorf("read a checkpoint: %w", err)
		}
		if !q.Until.IsZero() && c.At.After(q.Until) {
			continue // it knows entries that are left out
		}
		if err := encoder.Encode(map[string]json.RawMessage{"checkpoint": checkpoint}); err != nil {
			return err
		}
	}
	return encoder.Encode(exportedKey{list.PublicKey})
}
