package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type doctorCmd struct {
	clientFlags
	Config string `type:"path" placeholder:"FILE" help:"The server's configuration file. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (doctorCmd) Help() string {
	return "Components and endpoints are those of this machine and configuration: run the command beside the server. " +
		"It exits with 1 if a person has to do something.\n\nExample:\n\n    cairn doctor\n    cairn doctor -o json"
}

// States of a finding.
const (
	findingOK   = "ok"
	findingNote = "note"    // nothing has to be done
	findingBad  = "problem" // a person has to do something
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what to do
}

// Run checks the instance.
func (d doctorCmd) Run(ctx context.Context, a *app) error {
	cfg, err := config.Load(config.Options{File: d.Config, Environ: os.Environ()})
	if err != nil {
		return usageError{err.Error()}
	}
	c, err := d.connect()
	if err != nil {
		return err
	}
	state, found := d.checkServer(ctx, c)
	if found[0].State == findingOK {
		found = append(found, checkDocuments(ctx, c)...)
	}
	found = append(found, checkEndpoints(ctx, cfg)...)
	found = append(found, checkComponents()...)
	found = append(found, checkDisk(state.Disk, cfg.Data))
	return d.report(a, found)
}

func (d doctorCmd) report(a *app, found []finding) error {
	problems := 0
	rows := make([][]string, 0, len(found))
	for _, f := range found {
		if f.State == findingBad {
			problems++
		}
		rows = append(rows, []string{f.State, f.Check, f.Detail, f.Next})
	}
	var err error
	if d.forPrograms() {
		err = d.write(a, map[string]any{"findings": found, "problems": problems})
	} else {
		err = terminal.Table(terminal.Wide(a.stdout), []string{"STATE", "CHECK", "FOUND", "NEXT STEP"}, rows) // a command is not cut
	}
	if err == nil && problems > 0 {
		err = fmt.Errorf("%s found", terminal.Count(problems, "problem"))
	}
	return err
}

// maxNamed is how many documents of one cause are looked at.
const maxNamed = 500

// checkDocuments counts the documents that failed, or wait, by stage and cause.
func checkDocuments(ctx context.Context, c *client.Client) []finding {
	var found []finding
	for _, status := range []string{"error", "pending"} {
		list, err := c.Documents(ctx, client.DocumentQuery{Status: status, Limit: maxNamed})
		if err != nil {
			return append(found, finding{"documents", findingBad, err.Error(), ""})
		}
		found = append(found, stuck(list.Documents)...)
		if list.Total > len(list.Documents) {
			found = append(found, finding{"documents", findingNote, fmt.Sprintf("%d with the status %s; the first %d were looked at", list.Total, status, len(list.Documents)), ""})
		}
	}
	found = append(found, checkStale(ctx, c)...)
	if len(found) == 0 {
		found = append(found, finding{"documents", findingOK, "none failed, none waits", ""})
	}
	return found
}

// checkStale counts the documents of another embedding model, or of other settings.
func checkStale(ctx context.Context, c *client.Client) []finding {
	const repair = "cairn documents reingest --all --stale"
	var found []finding
	state, err := c.Details(ctx)
	if err != nil {
		return []finding{{"documents", findingBad, err.Error(), ""}}
	}
	embedded := 0
	for _, s := range state.StaleEmbeddings {
		embedded += s.Documents
		detail := fmt.Sprintf("%s embedded with %s, and %s is configured now", terminal.Count(s.Documents, "document"), s.EmbeddedWith, s.Configured)
		found = append(found, finding{"documents", findingBad, detail, repair})
	}
	stale, err := c.ActOnDocuments(ctx, "reingest", client.Selection{Filter: &client.DocumentFilter{Stale: true}, DryRun: true})
	if err == nil && stale.Matched > 0 && embedded == 0 {
		found = append(found, finding{"documents", findingBad, terminal.Count(stale.Matched, "document") + " made with other settings than the project has", repair})
	}
	return found
}

// stuck groups documents that failed or wait by stage and cause, in their order.
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
		default:
			continue // it is being worked on
		}
		if count[k]++; count[k] == 1 {
			first[k], order = d, append(order, k)
		}
	}
	var found []finding
	for _, k := range order {
		d := first[k]
		detail := fmt.Sprintf("%s %s at %s: %s: %s", d.Name, k.state, k.stage, k.code, k.message)
		next := nextStep(d)
		if n := count[k]; n > 1 {
			detail = fmt.Sprintf("%s and %d more %s at %s: %s: %s", d.Name, n-1, k.state, k.stage, k.code, k.message)
			if d.Waiting != nil || d.Error.MayRetry() {
				next = "after a repair: cairn documents retry --all --code " + k.code
			}
		}
		found = append(found, finding{"documents", findingBad, detail, next})
	}
	return found
}
