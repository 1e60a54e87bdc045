package server

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/extract"
)

// The commands of the program with which a server starts it again. Their arguments are
// not for people.
const (
	parseCommand  = "parse"
	browseCommand = "browse"
	encodeCommand = "encode"
)

// Parse is the child process that parses untrusted files. It answers requests until in
// ends.
func Parse(ctx context.Context, in io.Reader, out io.Writer) error {
	return extract.Serve(ctx, in, out)
}

// Browse is the first program in the network of the browser. It becomes the browser.
func Browse(args []string) error { return browser.Launch(args) }

// child returns the command line of a child process.
func child(command string) ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{program, command}, nil
}
