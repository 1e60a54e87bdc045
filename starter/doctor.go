package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cairn-rag/cairn/internal/advice"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/server"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type doctorCmd struct {
	clientFlags
	Config string `type:"path" placeholder:"FILE" help:"The server's configuration file. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (doctorCmd) Help() string {
	return "Run the command on the machine of the server and with its configuration: it checks the installed programs and the endpoints from there. " +
		"The exit code is 1 if a problem needs your action.\n\nExample:\n\n    cairn doctor\n    cairn doctor -o json"
}

// States of a finding.
const (
	findingOK   = server.FindingOK
	findingNote = server.FindingNote
	findingBad  = server.FindingBad
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what to do
}

func findings(checked []server.Finding) []finding {
	var found []finding
	for _, f := range checked {
		found = append(found, finding(f))
	}
	return found
}

// Run checks the instance.
func (d doctorCmd) Run(ctx context.Context, a *app) error {
	c, err := d.connect()
	if err != nil {
		return err
	}
	state, found := d.checkServer(ctx, c)
	if found[0].State == findingOK {
		found = append(found, checkDocuments(ctx, c)...)
		found = append(found, checkSyncs(ctx, c)...)
		found = append(found, checkSecrets(ctx, c)...)
	}
	cfg, err := config.Load(config.Options{File: d.Config, Environ: os.Environ()})
	if err == nil {
		found = append(found, checkSameEndpoints(state.Models, cfg)...)
		found = append(found, findings(server.CheckEndpoints(ctx, cfg, state.Models))...)
		found = append(found, findings(server.CheckScanner(ctx, cfg))...)
	} else {
		found = append(found, finding{"configuration", findingBad, err.Error(), "run the command with the configuration and the variables of the server"})
	}
	found = append(found, findings(server.CheckMachine(ctx, cfg))...)
	found = append(found, checkDisk(state.Disk, cmp.Or(cfg.Data, config.DefaultData)))
	return d.report(a, found)
}

func (d doctorCmd) report(a *app, found []finding) error {
	problems := 0
	rows := [][]string{{"STATE", "CHECK", "FOUND", "NEXT STEP"}}
	for _, f := range found {
		if f.State == findingBad {
			problems++
		}
		rows = append(rows, []string{f.State, f.Check, f.Detail, f.Next})
	}
	var err error
	switch {
	case d.forPrograms():
		err = d.write(a, map[string]any{"findings": found, "problems": problems})
	case terminal.Fits(a.stdout, rows):
		err = terminal.Table(a.stdout, rows[0], rows[1:])
	default:
		err = printFindings(a.stdout, found)
	}
	if err == nil && problems > 0 {
		err = fmt.Errorf("%s found", terminal.Count(problems, "problem"))
	}
	return err
}

// printFindings writes findings to a terminal that is too narrow for their table. The line
// of a next step is left to the terminal to break, so that a command in it can be copied.
func printFindings(out io.Writer, found []finding) error {
	for _, f := range found {
		if err := terminal.Paragraph(out, f.State, len(findingBad), f.Check+": "+f.Detail); err != nil {
			return err
		}
		if f.Next == "" {
			continue
		}
		if err := terminal.Paragraph(terminal.Wide(out), "", len(findingBad), "next: "+f.Next); err != nil {
			return err
		}
	}
	return nil
}

// maxNamed is how many documents of one cause are looked at.
const maxNamed = 500

// checkDocuments counts the documents that failed, or wait, by stage and cause.
func checkDocuments(ctx context.Context, c *client.Client) []finding {
	var found []finding
	acknowledged := 0
	for _, status := range []string{"error", "pending"} {
		list, known, err := unacknowledged(ctx, c, status)
		if err != nil {
			return append(found, finding{"documents", findingBad, err.Error(), whatOpens(err)})
		}
		acknowledged += known
		found = append(found, stuck(list.Documents)...)
		if more := list.Total - known; more > len(list.Documents) {
			found = append(found, finding{"documents", findingNote, fmt.Sprintf("%d with the status %s; the first %d were looked at", more, status, len(list.Documents)), ""})
		}
	}
	found = append(found, checkStale(ctx, c)...)
	found = append(found, checkImports(ctx, c)...)
	switch {
	case len(found) > 0:
	case acknowledged > 0:
		found = append(found, finding{"documents", findingOK, fmt.Sprintf("none waits, and %s acknowledged", terminal.Count(acknowledged, "failure")), ""})
	default:
		found = append(found, finding{"documents", findingOK, "none failed, none waits", ""})
	}
	return found
}

// unacknowledged lists documents with a status, without those whose failure a person has
// acknowledged: these are counted.
func unacknowledged(ctx context.Context, c *client.Client, status string) (told client.DocumentList, acknowledged int, err error) {
	query := client.DocumentQuery{Status: status, Limit: maxNamed}
	for read := 0; ; query.Page++ {
		page, err := c.Documents(ctx, query)
		if err != nil {
			return told, 0, err
		}
		told.Total = page.Total
		read += len(page.Documents)
		for _, d := range page.Documents {
			if d.Acknowledged {
				acknowledged++
			} else {
				told.Documents = append(told.Documents, d)
			}
		}
		if len(page.Documents) == 0 || read >= page.Total || len(told.Documents) >= maxNamed {
			return told, acknowledged, nil
		}
	}
}

// checkImports names the imports whose documents wait for a model.
func checkImports(ctx context.Context, c *client.Client) []finding {
	list, err := c.Imports(ctx, "", "", maxImports)
	if err != nil {
		return []finding{{"imports", findingBad, err.Error(), whatOpens(err)}}
	}
	var found []finding
	for _, i := range list.Data {
		if i.Waiting != nil {
			found = append(found, finding{"imports", findingBad, fmt.Sprintf("%s waits: %s", i.Source.URI, importWait(*i.Waiting)), "wait, or after a repair: cairn imports retry " + i.ID})
		}
	}
	return found
}

// maxImports is how many of the newest imports are looked at.
const maxImports = 100

// whatOpens returns the next step where the server refused the key.
func whatOpens(err error) string {
	refused, ok := errors.AsType[*client.Error](err)
	if ok && (refused.Code == knowledge.CodeUnauthorized || refused.Code == knowledge.CodeForbidden) {
		return "name a key with --key or CAIRN_KEY; the admin key is in admin.key of the server's data folder"
	}
	return ""
}

// checkStale counts the documents of another embedding model, or of other settings.
func checkStale(ctx context.Context, c *client.Client) []finding {
	var found []finding
	state, err := c.Details(ctx)
	if err != nil {
		return []finding{{"documents", findingBad, err.Error(), ""}}
	}
	for _, u := range state.UncomparedEmbeddings {
		detail := fmt.Sprintf("the endpoint of %s has another address than the one that embedded the documents, and was not compared with it: %s", knowledge.DescribeGeneration(u.Model), u.Message)
		found = append(found, finding{"embedding model", findingBad, detail, "check models.embedding, and that the endpoint runs"})
	}
	embedded := 0
	for _, s := range state.StaleEmbeddings {
		embedded += s.Documents
		how := fmt.Sprintf("embedded with %s, and %s is configured now", knowledge.DescribeGeneration(s.EmbeddedWith), knowledge.DescribeGeneration(s.Configured))
		found = append(found, staleFindings(s.Documents, s.Reindexing, how)...)
	}
	stale, err := c.ActOnDocuments(ctx, "reingest", client.Selection{Filter: &client.DocumentFilter{Stale: true}, DryRun: true})
	if err == nil && embedded == 0 {
		reindexing := 0
		for _, run := range stale.Runs {
			reindexing += run.Documents
		}
		found = append(found, staleFindings(stale.Matched, reindexing, "made with other settings than the project has")...)
	}
	return found
}

// staleFindings are the findings about stale documents. A reindex is under way for some of
// them.
func staleFindings(documents, reindexing int, how string) (found []finding) {
	if reindexing > 0 {
		detail := fmt.Sprintf("%s %s: a reindex is under way", terminal.Count(reindexing, "document"), how)
		found = append(found, finding{"documents", findingNote, detail, "cairn runs list --kind reindex --status running names its run, and cairn runs show RUN how far it is"})
	}
	if left := documents - reindexing; left > 0 {
		found = append(found, finding{"documents", findingBad, terminal.Count(left, "document") + " " + how, "cairn documents reingest --all --stale"})
	}
	return found
}

// stuck groups documents that failed or wait, or that nothing was heard of for long, by
// stage and cause, in their order.
func stuck(documents []client.Document) []finding {
	type cause struct{ stage, state, code, message string }
	count, first, order := map[cause]int{}, map[cause]client.Document{}, []cause{}
	for _, d := range documents {
		k := cause{stage: string(d.Stage)}
		switch {
		case d.Error != nil:
			k = cause{string(cmp.Or(d.Error.Stage, d.Stage)), "failed", string(d.Error.Code), d.Error.Message}
		case d.Waiting != nil:
			k.state, k.code, k.message = "waits", string(d.Waiting.Code), d.Waiting.Message
		case d.Status == knowledge.StatusPending && time.Since(d.UpdatedAt) > advice.StillWorking:
			k.state, k.message = "is pending", advice.Unchanged
		default:
			continue // it is being worked on
		}
		if count[k]++; count[k] == 1 {
			first[k], order = d, append(order, k)
		}
	}
	var found []finding
	for _, k := range order {
		d, n := first[k], count[k]
		who, state, next := d.Name, k.state, nextStep(d)
		if n > 1 {
			who = fmt.Sprintf("%s and %d more", d.Name, n-1)
			state = cmp.Or(map[string]string{"waits": "wait", "is pending": "are pending"}[state], state)
		}
		if n > 1 {
			next = cmp.Or(nextOfAll(d, k.code), next)
		}
		if k.state == "is pending" {
			next = "see that a worker runs, and what its workflow waits for: " + d.OperatorURL
		}
		if k.code != "" {
			k.message = k.code + ": " + k.message
		}
		found = append(found, finding{"documents", findingBad, fmt.Sprintf("%s %s at %s: %s", who, state, k.stage, k.message), next})
	}
	return found
}
