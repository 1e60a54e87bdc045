package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// TestReference compares docs/cli.md with the commands, their arguments and their flags.
func TestReference(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&app{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "docs", "cli.md")
	want := reference(parser.Model)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not what the code says; go test ./starter -run TestReference -update writes it:\n%s", path, diff)
	}
	for line := range strings.Lines(want) {
		if strings.HasSuffix(line, "|  |\n") {
			t.Errorf("an argument or a flag without help: %s", line)
		}
	}
}

const referenceHead = `# Command line

<!-- Made from starter by: go test ./starter -run TestReference -update -->

cairn is one program: the server, and a client of its HTTP API. "cairn COMMAND --help"
prints the help of a command. A command takes a document by its id, external id or name,
a project by its id or name, and a run, an import or a key by its id. The beginning of an
id is enough if no other id has it.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | the work failed |
| 2 | the command line is wrong |
| 3 | no server answered |
| 130 | the command was interrupted |

## Flags of many commands

Commands that call a server have --url, --key and --workspace. Commands that print a result
have --output and --json, and those that print a table have --wide.

| flag | meaning |
|---|---|
`

// reference returns the text of docs/cli.md.
func reference(application *kong.Application) string {
	page := &strings.Builder{}
	page.WriteString(referenceHead)
	leaves := application.Leaves(true)
	listing := leaves[slices.IndexFunc(leaves, func(n *kong.Node) bool { return n.Path() == "projects list" })]
	for _, flag := range listing.Flags {
		writeRow(page, flagUsage(flag), flag.Value)
	}
	var titles []string
	for _, leaf := range leaves {
		if title := leaf.ClosestGroup().Title; !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	for _, title := range titles {
		fmt.Fprintf(page, "\n## %s\n", strings.TrimSuffix(title, ":"))
		for _, leaf := range leaves {
			if leaf.ClosestGroup().Title == title {
				writeCommand(page, leaf, listing.Flags)
			}
		}
	}
	return page.String()
}

// writeCommand writes the section of a command, without the shared flags.
func writeCommand(page *strings.Builder, leaf *kong.Node, shared []*kong.Flag) {
	text, example, _ := strings.Cut(leaf.Detail, "Example:\n\n")
	fmt.Fprintf(page, "\n### cairn %s\n\n%s\n", leaf.Path(), leaf.Help)
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(page, "\n%s\n", markdown.Replace(text))
	}
	fmt.Fprintf(page, "\n```\n%s\n```\n", strings.TrimPrefix(strings.ReplaceAll(strings.TrimRight(example, "\n"), "\n    ", "\n"), "    "))
	own := slices.DeleteFunc(slices.Clone(leaf.Flags), func(flag *kong.Flag) bool {
		return flag.Hidden || slices.ContainsFunc(shared, func(other *kong.Flag) bool { return other.Name == flag.Name && other.Help == flag.Help })
	})
	if len(leaf.Positional)+len(own) == 0 {
		return
	}
	page.WriteString("\n| argument or flag | meaning |\n|---|---|\n")
	for _, argument := range leaf.Positional {
		writeRow(page, argument.Summary(), argument)
	}
	for _, flag := range own {
		writeRow(page, flagUsage(flag), flag.Value)
	}
}

// markdown escapes the characters that Markdown would take for its own.
var markdown = strings.NewReplacer("*", `\*`, "<", `\<`, "|", `\|`)

// flagUsage returns a flag as it is typed.
func flagUsage(flag *kong.Flag) string {
	usage := "--" + flag.Name
	if flag.Short != 0 {
		usage = "-" + string(flag.Short) + ", " + usage
	}
	switch {
	case flag.IsBool():
	case flag.PlaceHolder != "":
		usage += " " + flag.PlaceHolder
	default:
		usage += " " + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
	}
	return usage
}

// writeRow writes the row of an argument or a flag.
func writeRow(page *strings.Builder, usage string, v *kong.Value) {
	meaning := v.Help
	if v.Default != "" && !strings.Contains(meaning, "Default: ") {
		meaning += " Default: `" + v.Default + "`."
	}
	if v.Required && v.Flag != nil {
		meaning += " Required."
	}
	fmt.Fprintf(page, "| `%s` | %s |\n", strings.ReplaceAll(usage, "|", `\|`), markdown.Replace(meaning))
}
