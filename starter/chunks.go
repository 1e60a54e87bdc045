package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type chunksCmd struct {
	Show chunksShowCmd `cmd:"" help:"Show a passage; mark a quotation in it."`
}

// Help returns an example of the commands.
func (chunksCmd) Help() string {
	return "Example:\n\n    cairn chunks show 5b0c0f4e-7a7c-5d0a-8f5e-0c7a52f1d9e3"
}

type chunksShowCmd struct {
	clientFlags
	ID    string `arg:"" help:"The passage's id, from the sources of an answer."`
	Quote string `help:"A sentence to mark in the passage; white space, case and hyphens at line ends do not matter."`
	Open  bool   `help:"Save a picture of the page with the passage or the quotation marked, print its path, and open it in a viewer if there is one."`
}

// Help returns the command's details and an example.
func (chunksShowCmd) Help() string {
	return "A terminal shows the quotation in reverse video; elsewhere it is marked >>>like this<<<. The exit code is 1 if the passage does not contain it.\n\nExample:\n\n" +
		"    cairn chunks show 5b0c0f4e-7a7c-5d0a-8f5e-0c7a52f1d9e3 --quote \"Wipe it with a soft cloth.\" --open"
}

// Run shows a passage.
func (s chunksShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	p, err := readPassage(ctx, c, s.ID, s.Quote)
	if err != nil {
		return err
	}
	if s.Open {
		if p.picture, err = p.savePage(ctx, c); err != nil {
			return err
		}
	}
	if s.forPrograms() {
		err = s.write(a, p.fields())
	} else {
		err = p.write(a)
	}
	if p.picture != "" && a.view != nil {
		a.view(ctx, p.picture)
	}
	if s.Quote != "" && !p.quotation.Found {
		err = errors.Join(err, errors.New("the quotation is not in this passage"))
	}
	return err
}

// passage is a chunk, and a quotation in it.
type passage struct {
	chunk     client.Chunk
	quotation client.Quotation
	raw       map[string]json.RawMessage // the chunk as the API shows it, and the quotation as quote
	picture   string                     // the file with its page, "" = none
}

// fields returns the passage for programs.
func (p passage) fields() map[string]any {
	all := map[string]any{}
	for name, value := range p.raw {
		all[name] = value
	}
	if p.picture != "" {
		all["picture"] = p.picture
	}
	return all
}

// readPassage reads a chunk and looks for a quotation in it, "" = none.
func readPassage(ctx context.Context, c *client.Client, id, quote string) (passage, error) {
	var p passage
	chunk, err := c.Chunk(ctx, id, "")
	if err == nil {
		err = errors.Join(json.Unmarshal(chunk, &p.chunk), json.Unmarshal(chunk, &p.raw))
	}
	if err != nil || quote == "" {
		return p, err
	}
	found, err := c.Chunk(ctx, id, quote)
	if err != nil {
		return p, err
	}
	p.raw["quote"] = found
	return p, json.Unmarshal(found, &p.quotation)
}

// write prints where the passage is, and its text with the quotation marked.
func (p passage) write(a *app) error {
	place := terminal.ChunkPlace(p.chunk)
	if _, err := fmt.Fprintln(a.stdout, terminal.Wrapped(a.stdout, place)); err != nil {
		return err
	}
	if p.chunk.Superseded {
		fmt.Fprintln(a.stdout, terminal.Wrapped(a.stdout, "The document has a newer version, which may say something else.")) // a failure shows with the next line
	}
	fmt.Fprintln(a.stdout) // as above
	if above := p.tableAbove(); above != "" {
		fmt.Fprintln(a.stdout, terminal.Wrapped(a.stdout, terminal.Clean(above))) // as above
	}
	if err := terminal.Passage(a.stdout, p.chunk.Text, p.quotation.Start, p.quotation.End); err != nil || p.picture == "" {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\nThe page: %s\n", p.picture)
	return err
}

// tableAbove returns the caption and the header of the passage's table without what the
// passage's text has too.
func (p passage) tableAbove() string {
	begun := knowledge.HeaderIn(p.chunk.Text)
	return strings.TrimSuffix(strings.TrimSuffix(p.chunk.Header, begun), "\n")
}
