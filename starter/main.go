package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/server"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// commands is the command line.
type commands struct {
	Up            upCmd             `cmd:"" group:"server" help:"Start a complete server in one process."`
	API           apiCmd            `cmd:"" name:"api" group:"server" help:"Start an API server of a cluster."`
	Worker        workerCmd         `cmd:"" group:"server" help:"Start a worker of a cluster, or a second process for the imports of a local server."`
	Workers       workersCmd        `cmd:"" group:"server" help:"List the versions of a cluster's workers, and choose the one that begins new runs."`
	Migrate       migrateCmd        `cmd:"" group:"server" help:"Create or update the database and the Temporal namespace of a cluster."`
	Demo          demoCmd           `cmd:"" group:"server" help:"Ingest documents, ask a question, kill the server during the answer, and resume it."`
	Ingest        ingestCmd         `cmd:"" group:"documents" help:"Ingest files, folders and web pages."`
	Import        importCmd         `cmd:"" group:"documents" help:"Import a bucket, an archive, a list of URLs or a web site."`
	Imports       importsCmd        `cmd:"" group:"documents" help:"List, show, pause, resume, cancel and retry imports."`
	Syncs         syncsCmd          `cmd:"" group:"documents" help:"Follow places of services: list, add, show, run, pause, resume and remove syncs."`
	Ask           askCmd            `cmd:"" group:"questions" help:"Ask a question; print the answer while it is written, then its sources."`
	Documents     documentsCmd      `cmd:"" group:"documents" help:"List, show, remove, reingest and retry documents."`
	Chunks        chunksCmd         `cmd:"" group:"questions" help:"Show a passage that an answer cites."`
	Runs          runsCmd           `cmd:"" group:"questions" help:"List, show, watch and control runs."`
	Evaluate      evaluateCmd       `cmd:"" group:"questions" help:"Evaluate the answers of a project with a file of questions."`
	Evaluations   evaluationsCmd    `cmd:"" group:"questions" help:"List, show, compare and control evaluations."`
	TestSets      testSetsCmd       `cmd:"" name:"test-sets" group:"questions" help:"Store, make, list and remove sets of questions for evaluations."`
	Insights      insightsCmd       `cmd:"" group:"questions" help:"Show what the questions to a project show of it: unanswered ones, unused and contradictory documents."`
	Conversations conversationsCmd  `cmd:"" group:"questions" help:"List and search your conversations."`
	MCP           mcpCmd            `cmd:"" name:"mcp" group:"questions" help:"Serve the Model Context Protocol over standard input and output."`
	Projects      projectsCmd       `cmd:"" group:"administration" help:"List, create, show, configure, reindex and delete projects."`
	Apply         applyCmd          `cmd:"" group:"administration" help:"Make projects as files in YAML have them."`
	Diff          diffCmd           `cmd:"" group:"administration" help:"Show what cairn apply would change."`
	Rebuild       rebuildIndexCmd   `cmd:"" name:"rebuild-index" group:"administration" help:"Rebuild the search index from the database and the stored vectors."`
	Backup        backupCmd         `cmd:"" group:"administration" help:"Copy a local instance into a folder, while its server runs."`
	Restore       restoreCmd        `cmd:"" group:"administration" help:"Write a backup into a new data folder."`
	Export        exportCmd         `cmd:"" group:"administration" help:"Write a whole instance to a file, to move it to other stores."`
	ImportAll     importInstanceCmd `cmd:"" name:"import-instance" group:"administration" help:"Write an exported instance into empty stores."`
	Keys          keysCmd           `cmd:"" group:"administration" help:"Create, list and revoke API keys."`
	Limits        limitsCmd         `cmd:"" group:"administration" help:"Show and set the limits of a workspace."`
	Usage         usageCmd          `cmd:"" group:"administration" help:"List what projects, keys and people have used, and their limits."`
	Access        accessCmd         `cmd:"" group:"administration" help:"Explain who sees a document, and why."`
	Grants        grantsCmd         `cmd:"" group:"administration" help:"Allow or deny readers what the access lists of documents do not say."`
	Holds         holdsCmd          `cmd:"" group:"administration" help:"Place, list and lift legal holds, which keep documents from removal."`
	Consents      consentsCmd       `cmd:"" group:"administration" help:"Record, list and withdraw the consents of people whom documents are about."`
	Subjects      subjectsCmd       `cmd:"" group:"administration" help:"Export or erase what a person left."`
	Retention     retentionCmd      `cmd:"" group:"administration" help:"Remove what projects keep no longer."`
	Privacy       privacyCmd        `cmd:"" group:"administration" help:"Show what projects do with personal data, and count what was found."`
	Members       membersCmd        `cmd:"" group:"administration" help:"Add, list, show and remove the people and service accounts of a workspace."`
	Roles         rolesCmd          `cmd:"" group:"administration" help:"Define, list and remove roles."`
	Connections   connectionsCmd    `cmd:"" group:"administration" help:"Add, list, check and remove the connections to services that syncs follow."`
	Audit         auditCmd          `cmd:"" group:"administration" help:"List, verify and export the audit."`
	Secrets       secretsCmd        `cmd:"" group:"administration" help:"Store, list and remove the secrets of tools and imports."`
	Models        modelsCmd         `cmd:"" group:"administration" help:"Add, list and remove embedding models that run on this machine."`
	Health        healthCmd         `cmd:"" group:"administration" help:"Report whether a server or a worker is ready."`
	Doctor        doctorCmd         `cmd:"" group:"administration" help:"Find the problems of an installation, and how to solve them."`
	Config        configCmd         `cmd:"" group:"administration" help:"Print the effective configuration; secrets are masked."`
	Completion    completionCmd     `cmd:"" group:"administration" help:"Print a completion script for a shell."`
	Version       versionCmd        `cmd:"" group:"administration" help:"Print the version."`
	Browse        browseCmd         `cmd:"" hidden:"" help:"Start the browser in its own network; the server starts it."`
	Encode        encodeCmd         `cmd:"" hidden:"" help:"Embed texts with a model in the data folder; the server starts it."`
	Parse         parseCmd          `cmd:"" hidden:"" help:"Parse untrusted files; the server starts it."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// Exit codes of the command.
const (
	exitDone     = 0
	exitFailed   = 1 // the command failed
	exitUsage    = 2 // wrong use
	exitNoServer = 3

	exitInterrupted = 130 // as a shell reports SIGINT
)

// app is the input and output of a command.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	bar    io.Writer // where a progress bar is drawn, nil = nowhere

	view func(ctx context.Context, path string) // shows a file to the person, nil = nobody is there
}

// usageError is wrong use that kong does not detect.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func wrongUse(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

func main() {
	noColour := os.Getenv("NO_COLOR")
	a := &app{stdin: os.Stdin, stdout: terminal.OnScreen(os.Stdout, noColour), stderr: terminal.OnScreen(os.Stderr, noColour), view: viewFile}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		a.bar = os.Stderr
	}
	os.Exit(run(interruptible(), a, os.Args[1:]))
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels. The second one
// ends the process at once, however soon it comes.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		second := <-signals
		signal.Reset(second)
		if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(second) != nil {
			os.Exit(exitInterrupted)
		}
	}()
	return ctx
}

// exited is the panic value with which --help ends parsing.
type exited int

// run parses args, runs the command and returns the exit code. Without a command it writes
// the help to stderr.
func run(ctx context.Context, a *app, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			status, ok := r.(exited)
			if !ok {
				panic(r)
			}
			code = int(status)
		}
	}()
	parser, err := newParser(a)
	if err != nil {
		fmt.Fprintln(a.stderr, "cairn:", err)
		return exitFailed
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	parsed, err := parser.Parse(args)
	if err != nil && strings.HasPrefix(err.Error(), "expected one of ") {
		helper := *a
		helper.stdout = a.stderr
		run(ctx, &helper, append(slices.Clone(args), "--help"))
		return exitUsage
	}
	if err == nil {
		parsed.BindTo(ctx, (*context.Context)(nil))
		err = parsed.Run(a)
	}
	if err != nil {
		report(a.stderr, err)
	}
	return exitCode(err)
}

func newParser(a *app) (*kong.Kong, error) {
	return kong.New(&commands{},
		kong.Name("cairn"),
		kong.Vars{"version": versionLine()},
		kong.Description("Ingest documents and get cited answers. Accepted work survives the death of the process.\n\n"+
			"Exit codes: 0 done, 1 the work failed, 2 wrong use, 3 no server, 130 interrupted."),
		kong.Writers(a.stdout, a.stderr),
		kong.KindMapper(reflect.String, kong.MapperFunc(decodeText)),
		kong.Exit(func(status int) { panic(exited(status)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "server", Title: "Server:"},
			{Key: "documents", Title: "Documents:"},
			{Key: "questions", Title: "Questions:"},
			{Key: "administration", Title: "Administration:"},
			{Key: "source", Title: "Source:"},
		}),
	)
}

func report(out io.Writer, err error) {
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out, "cairn: interrupted")
		return
	}
	fmt.Fprintln(out, "cairn:", terminal.Clean(err.Error()))
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil {
		command := "cairn"
		if selected := parse.Context.Selected(); selected != nil {
			command = "cairn " + selected.Path()
		}
		fmt.Fprintf(out, "See %s --help.\n", command)
	}
	if errors.Is(err, client.ErrNoServer) {
		fmt.Fprintln(out, "Start one with cairn up, or choose another with --url or CAIRN_URL.")
	}
	if client.IsCode(err, "unauthorized") {
		fmt.Fprintln(out, "Set a key with --key or CAIRN_KEY; cairn up writes the first one to admin.key in its data folder.")
	}
}

func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if _, ok := errors.AsType[*kong.ParseError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[server.ConfigError](err); ok {
		return exitUsage
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if gate, ok := errors.AsType[gateError](err); ok {
		return gate.exit
	}
	if _, ok := errors.AsType[server.NoServerError](err); ok || errors.Is(err, client.ErrNoServer) {
		return exitNoServer
	}
	return exitFailed
}
