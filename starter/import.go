package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type importCmd struct {
	clientFlags
	Source         source   `arg:"" name:"source" help:"s3://, gs:// or azblob:// with a bucket and a prefix, a .zip file on this machine, or an http(s) URL."`
	Project        string   `short:"p" default:"default" help:"The project of the documents."`
	Type           string   `enum:",zip,url_list,crawl" default:"" help:"The kind of an http(s) source: zip, url_list (a list of URLs) or crawl (a web site). Default: zip if the URL ends in .zip."`
	Secret         string   `placeholder:"NAME" help:"The secret with the credentials (see cairn secrets set). A bucket needs one, unless it is anonymous or the workspace may use the identity of the server. Default: none."`
	Include        []string `sep:"none" placeholder:"PATTERN" help:"Import only the objects that match, such as reports/**/*.pdf; may be repeated."`
	Exclude        []string `sep:"none" placeholder:"PATTERN" help:"Skip the objects that match; may be repeated."`
	Tag            []string `sep:"none" help:"A tag for all documents; may be repeated."`
	Parser         string   `enum:",crawler,model" default:"" help:"How to read files that have pages: crawler extracts their text, model lets a vision model transcribe the pages. Default: crawler."`
	RemoveVanished bool     `help:"Remove the documents of objects that an earlier import found and that no longer exist."`
	DryRun         bool     `help:"Only list and count the objects; import nothing."`
	Wait           bool     `help:"Wait until the import has ended."`
	sourceFlags    `embed:""`
}

// sourceFlags are the settings of the kinds of sources.
type sourceFlags struct {
	Endpoint   string `group:"source" placeholder:"URL" help:"The URL of a service that is compatible with S3, GCS or Azure."`
	Region     string `group:"source" help:"The region of an S3 bucket."`
	PathStyle  bool   `group:"source" help:"Put the name of the S3 bucket into the path of the URL, not into the host name."`
	Anonymous  bool   `group:"source" help:"Send no credentials to the bucket."`
	RoleARN    string `group:"source" name:"role-arn" placeholder:"ARN" help:"The AWS role to assume for reading the S3 bucket."`
	ExternalID string `group:"source" name:"external-id" help:"The external id for assuming the role."`
	MaxPages   int    `group:"source" help:"The largest number of pages of a crawl."`
	MaxDepth   int    `group:"source" help:"The largest number of links to follow from the start page of a crawl."`
	DelayMS    int    `group:"source" name:"delay-ms" help:"The time between two requests of a crawl, in milliseconds."`
}

// options returns the settings that are given, by their names in a request.
func (f sourceFlags) options() map[string]any {
	options := map[string]any{}
	for name, value := range map[string]string{"endpoint": f.Endpoint, "region": f.Region, "role_arn": f.RoleARN, "external_id": f.ExternalID} {
		if value != "" {
			options[name] = value
		}
	}
	for name, value := range map[string]int{"max_pages": f.MaxPages, "max_depth": f.MaxDepth, "delay_ms": f.DelayMS} {
		if value != 0 {
			options[name] = value
		}
	}
	for name, value := range map[string]bool{"path_style": f.PathStyle, "anonymous": f.Anonymous} {
		if value {
			options[name] = value
		}
	}
	return options
}

// Help returns the command's details and an example.
func (importCmd) Help() string {
	return "The server reads the source itself; only an archive on this machine is uploaded. Objects that are unchanged since an " +
		"earlier import of the same source are skipped. The credentials stay on the server: --secret is the name of a stored secret. " +
		"Ctrl-C stops waiting, not the import. The exit code is 1 if an object or the import failed.\n\n" +
		"Example:\n\n" +
		"    cairn import s3://company-docs/handbook/ --include '**/*.md' --secret company_s3 --wait\n" +
		"    cairn import archive.zip --project legal --wait"
}

// Run starts an import.
func (g importCmd) Run(ctx context.Context, a *app) error {
	if g.Project == "" {
		return wrongUse("--project must name a project")
	}
	c, err := g.connectProject(ctx, &g.Project)
	if err != nil {
		return err
	}
	i, err := g.start(ctx, c.WithOutages(func(err error) { fmt.Fprintln(a.stderr, terminal.Clean(outageText(err))) }))
	if err != nil {
		return err
	}
	if !g.Wait {
		if g.forPrograms() {
			return g.write(a, i)
		}
		return terminal.Fields(a.stdout, "import", i.ID, "run", i.RunID, "status", i.Status, "operator", i.OperatorURL)
	}
	return awaitImport(ctx, a, c, i, g.outputFlags)
}

func (g importCmd) start(ctx context.Context, c *client.Client) (client.Import, error) {
	choice := client.ImportChoice{Include: g.Include, Exclude: g.Exclude, Parser: g.Parser, RemoveVanished: g.RemoveVanished, DryRun: g.DryRun}
	kind, err := g.kind()
	if err != nil {
		return client.Import{}, err
	}
	if kind != "" {
		return c.StartImport(ctx, client.NewImport{
			Project: g.Project, Source: client.ImportSource{Type: kind, URI: string(g.Source), Options: g.options(), Secret: g.Secret},
			Tags: g.Tag, ImportChoice: choice,
		})
	}
	if g.Secret != "" || len(g.options()) > 0 {
		return client.Import{}, wrongUse("--secret and the flags of a source do not go with an archive on this machine")
	}
	path := string(g.Source)
	uploaded, err := c.Upload(ctx, client.Upload{
		Project: g.Project, Name: filepath.Base(path), Tags: g.Tag, Choice: &choice,
		Open: func() (io.ReadCloser, error) { return os.Open(path) },
	})
	if err != nil {
		return client.Import{}, err
	}
	if uploaded.Import == nil {
		return client.Import{}, fmt.Errorf("%s is no archive; it became the document %s", path, uploaded.Document.ID)
	}
	return *uploaded.Import, nil
}

// kind returns the type of the source, "" for an archive on this machine.
func (g importCmd) kind() (string, error) {
	uri := string(g.Source)
	scheme, _, remote := strings.Cut(uri, "://")
	switch {
	case !remote && g.Type == "" || g.Type == "zip" && !remote:
		info, err := os.Stat(uri)
		switch {
		case err != nil:
			return "", usageError{err.Error()}
		case !info.Mode().IsRegular() || !strings.EqualFold(filepath.Ext(uri), ".zip"):
			return "", wrongUse("%s is not a .zip file; ingest files and folders of this machine with cairn ingest", uri)
		}
		return "", nil
	case g.Type != "":
		return g.Type, nil
	case scheme == "s3":
		return "s3", nil
	case scheme == "gs":
		return "gcs", nil
	case scheme == "azblob":
		return "azure", nil
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || scheme != "http" && scheme != "https":
		return "", wrongUse("%s is not a source; give s3://, gs://, azblob://, an http(s) address, or a .zip file", uri)
	case strings.EqualFold(filepath.Ext(u.Path), ".zip"):
		return "zip", nil
	}
	return "", wrongUse("choose the kind of %s: --type crawl for a web site, --type url_list for a list of URLs, --type zip for an archive", uri)
}

// awaitImport shows an import until it ends, and then its outcome.
func awaitImport(ctx context.Context, a *app, c *client.Client, i client.Import, output outputFlags) error {
	out, bar := a.stderr, a.bar
	if output.forPrograms() {
		out, bar = io.Discard, nil
	}
	meter := terminal.NewMeter(out, bar)
	_, err := c.WithOutages(func(err error) { meter.Note(a.stderr, outageText(err)) }).Wait(ctx, i.RunID, func(e client.Event) {
		now := i
		if e.Name == client.EventImport && e.Decode(&now) == nil {
			// Progress that cannot be written is no reason to stop.
			_ = meter.Show(now.Discovered-now.Remaining, now.Discovered, importProgress(now))
		}
	})
	err = errors.Join(err, meter.Close())
	if err != nil {
		fmt.Fprintf(a.stderr, "The server continues with the import %s.\n", i.ID) // the error follows in any case
		return err
	}
	if i, err = c.Import(ctx, i.ID); err != nil {
		return err
	}
	if output.forPrograms() {
		err = output.write(a, i)
	} else {
		err = writeImport(a, i)
	}
	return errors.Join(err, importOutcome(i))
}

// importProgress returns how far an import is, in words.
func importProgress(i client.Import) string {
	text := fmt.Sprintf("%d failed, %.0f/s", i.Failed, i.DocumentsPerSecond)
	if i.ETASeconds != nil {
		text += ", " + (time.Duration(*i.ETASeconds * float64(time.Second))).Round(time.Second).String() + " left"
	}
	switch {
	case i.Status == "paused":
		text = "paused"
	case i.Waiting != nil:
		text = fmt.Sprintf("%d failed, waits: %s", i.Failed, i.Waiting.Message)
	}
	return text
}

// importNumbers returns how far an import is, with the numbers.
func importNumbers(i client.Import) string {
	return fmt.Sprintf("%d of %d, %s", i.Discovered-i.Remaining, i.Discovered, importProgress(i))
}

// writeImport writes what became of an import: the objects that failed, and the numbers.
func writeImport(a *app, i client.Import) error {
	for _, f := range i.Failures {
		if err := terminal.Outcome(a.stdout, outcomeFailed, firstOf(f.Name, f.Key), objectFailure(f.Error)); err != nil {
			return err
		}
	}
	if more := i.Failed - int64(len(i.Failures)); more > 0 && len(i.Failures) > 0 {
		if _, err := fmt.Fprintf(a.stdout, "and %d more: cairn imports failures %s\n", more, i.ID); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%d published, %d skipped, %d failed", i.Published, i.Skipped, i.Failed)
	if i.DryRun {
		text = fmt.Sprintf("%d (%s) would be imported, %d skipped", i.Remaining, knowledge.SizeText(i.Bytes), i.Skipped)
	}
	if i.Vanished > 0 {
		text += fmt.Sprintf("; vanished from the source: %d, removed: %d", i.Vanished, i.Deleted)
	}
	if i.DocumentsPerSecond > 0 {
		text += fmt.Sprintf("; %.0f documents/s", i.DocumentsPerSecond)
	}
	_, err := fmt.Fprintln(a.stderr, text)
	return err
}

// importCounts returns what an import that has ended has done.
func importCounts(i client.Import) string {
	if i.Status != "completed" {
		return ""
	}
	return fmt.Sprintf(": %d published, %d skipped, %d failed", i.Published, i.Skipped, i.Failed)
}

// objectFailure returns the code and the cause of a failure, and its stage if it has one.
func objectFailure(e knowledge.DocumentError) string {
	if e.Stage == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s at %s: %s", e.Code, e.Stage, e.Message)
}

// importOutcome returns the error of an import that has ended, nil if all went well.
func importOutcome(i client.Import) error {
	switch {
	case i.Error != nil:
		return *i.Error
	case i.Status != "completed":
		return fmt.Errorf("the import ended as %s", i.Status)
	case i.Failed > 0:
		return fmt.Errorf("%d of %d objects failed (cairn imports retry %s may help)", i.Failed, i.Discovered, i.ID)
	}
	return nil
}
