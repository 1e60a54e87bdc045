package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
)

type limitsCmd struct {
	Show limitsShowCmd `cmd:"" help:"Show the limits of the workspace, and what it has used of them."`
	Set  limitsSetCmd  `cmd:"" help:"Replace the limits of the workspace."`
}

// Help returns an example of the commands.
func (limitsCmd) Help() string {
	return "Keys and members get limits by cairn keys create and cairn members add, projects by cairn projects set. Each limit holds beside the others; cairn usage lists them.\n\nExample:\n\n    cairn limits set requestsPerMinute=6000 costPerDay=50"
}

// limitNames are the limits that a key, a member or a workspace may have.
const limitNames = "requestsPerMinute, tokensPerDay, documents, bytes or costPerDay"

// parseLimits reads limits as NAME=VALUE. None are nil.
func parseLimits(given []string) (*client.Limits, error) {
	if len(given) == 0 {
		return nil, nil
	}
	var l client.Limits
	for _, one := range given {
		name, text, _ := strings.Cut(one, "=")
		value, err := strconv.ParseFloat(text, 64)
		whole := value == math.Trunc(value)
		if err != nil || !(value > 0 && value <= 1e15) || name != "costPerDay" && !whole {
			return nil, wrongUse("a limit is %s and a number above 0, such as requestsPerMinute=60, not %q", limitNames, one)
		}
		switch name {
		case "requestsPerMinute":
			l.RequestsPerMinute = int(value)
		case "tokensPerDay":
			l.TokensPerDay = int64(value)
		case "documents":
			l.Documents = int(value)
		case "bytes":
			l.Bytes = int64(value)
		case "costPerDay":
			l.CostPerDay = value
		default:
			return nil, wrongUse("there is no limit %q: it is %s", name, limitNames)
		}
	}
	return &l, nil
}

type limitsShowCmd struct{ listFlags }

// Help returns the command's example.
func (limitsShowCmd) Help() string { return "Example:\n\n    cairn limits show --json" }

// Run shows the limits of the workspace.
func (l limitsShowCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	limits, err := c.WorkspaceLimits(ctx)
	if err != nil {
		return err
	}
	return l.show(a, limits)
}

// show prints the limits of a workspace.
func (f listFlags) show(a *app, w client.WorkspaceLimits) error {
	if f.forPrograms() {
		return f.write(a, w)
	}
	var rows [][]string
	add := func(name string, limit, used float64) {
		if limit > 0 {
			rows = append(rows, []string{name, plainNumber(limit), plainNumber(used)})
		}
	}
	if n := w.Limits.RequestsPerMinute; n > 0 {
		rows = append(rows, []string{"requestsPerMinute", strconv.Itoa(n), ""})
	}
	add("tokensPerDay", float64(w.Limits.TokensPerDay), float64(w.UsedToday.Tokens))
	add("documents", float64(w.Limits.Documents), float64(w.UsedToday.Documents))
	add("bytes", float64(w.Limits.Bytes), float64(w.UsedToday.Bytes))
	add("costPerDay", w.Limits.CostPerDay, w.UsedToday.Cost)
	return f.table(a, listing{none: "no limits; cairn limits set sets some", header: []string{"LIMIT", "VALUE", "USED"}, rows: rows})
}

// plainNumber returns a number without an exponent.
func plainNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

type limitsSetCmd struct {
	listFlags
	Limits []string `arg:"" optional:"" name:"name=value" help:"requestsPerMinute, tokensPerDay, documents, bytes or costPerDay, and a number. Without any the workspace has those of the configuration."`
}

// Help returns the command's example.
func (limitsSetCmd) Help() string {
	return "It needs the instance's admin key, and replaces all limits that the workspace had. A change shows within two seconds.\n\nExample:\n\n    cairn limits set requestsPerMinute=6000 tokensPerDay=5000000"
}

// Run sets the limits of the workspace.
func (l limitsSetCmd) Run(ctx context.Context, a *app) error {
	limits, err := parseLimits(l.Limits)
	if err != nil {
		return err
	}
	if limits == nil {
		limits = &client.Limits{}
	}
	c, err := l.connect()
	if err != nil {
		return err
	}
	stored, err := c.SetWorkspaceLimits(ctx, *limits)
	if err != nil {
		return err
	}
	return l.show(a, stored)
}

type usageCmd struct {
	listFlags
	By   string `enum:"project,key,user" default:"project" help:"To whom usage is attributed: project, key or user."`
	From string `help:"The first day, in UTC, such as 2026-01-31. Default: 29 days before the last one."`
	To   string `help:"The last day. Default: today."`
}

// Help returns the command's details and an example.
func (usageCmd) Help() string {
	return "Runs and tokens are those of the period; what was used of the limits is that of this day, in UTC.\n\nExample:\n\n    cairn usage --by key"
}

// Run lists usage and limits.
func (u usageCmd) Run(ctx context.Context, a *app) error {
	c, err := u.connect()
	if err != nil {
		return err
	}
	usage, err := c.WorkspaceUsage(ctx, u.By, u.From, u.To)
	if err != nil {
		return err
	}
	if u.forPrograms() {
		return u.write(a, usage)
	}
	rows := make([][]string, 0, len(usage.Data))
	for _, o := range usage.Data {
		tokens := o.Total.PromptTokens + o.Total.CompletionTokens + o.Total.EmbeddingTokens + o.Total.RerankTokens
		rows = append(rows, []string{firstOf(o.Name, o.ID, "(nobody)"), strconv.Itoa(o.Total.Runs), strconv.Itoa(tokens), usedOf(o)})
	}
	return u.table(a, listing{
		none: "nothing was used", header: []string{strings.ToUpper(u.By), "RUNS", "TOKENS", "LIMITS"}, rows: rows, spare: []string{"RUNS"},
	})
}

// usedOf returns what was used of limits, in a few words.
func usedOf(o client.OwnedUsage) string {
	l := o.Limits
	if l == nil {
		return ""
	}
	var words []string
	if l.RequestsPerMinute > 0 {
		words = append(words, fmt.Sprintf("%d requests a minute", l.RequestsPerMinute))
	}
	add := func(what string, limit, used float64) {
		if limit > 0 {
			words = append(words, plainNumber(used)+"/"+plainNumber(limit)+" "+what)
		}
	}
	add("tokens today", float64(l.TokensPerDay), float64(o.UsedToday.Tokens))
	add("cost today", l.CostPerDay, o.UsedToday.Cost)
	add("documents", float64(l.Documents), float64(o.UsedToday.Documents))
	add("bytes", float64(l.Bytes), float64(o.UsedToday.Bytes))
	return strings.Join(words, ", ")
}
