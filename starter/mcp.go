package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/mcpserver"
)

type mcpCmd struct {
	URL       string `name:"url" env:"CAIRN_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The address of the server (${env})."`
	Key       string `name:"key" env:"CAIRN_KEY" placeholder:"KEY" help:"API key or JWT (${env}). Default: for a server on this machine the key in ./cairn-data/admin.key."`
	Workspace string `name:"workspace" default:"default" help:"The workspace to use."`
}

// Help returns the command's details and an example.
func (mcpCmd) Help() string {
	return "An application that speaks MCP starts this command and calls its tools: rag_search, web_search, list_documents, get_chunk and ask_project.\n" +
		"A server that the application can reach by itself has the same tools at /mcp. In its settings:\n\n" +
		"    {\"mcpServers\": {\"cairn\": {\"command\": \"cairn\", \"args\": [\"mcp\", \"--url\", \"http://127.0.0.1:8080\"], \"env\": {\"CAIRN_KEY\": \"…\"}}}}\n\nExample:\n\n" +
		"    cairn mcp --url http://127.0.0.1:8080"
}

// Run serves until standard input ends.
func (m mcpCmd) Run(ctx context.Context, a *app) error {
	c, err := clientFlags{URL: m.URL, Key: m.Key, Workspace: m.Workspace}.connect()
	if err != nil {
		return err
	}
	server := mcpserver.New(mcpserver.Config{
		Version: versionName(), Log: slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Connect: func(context.Context, http.Header) (*client.Client, error) { return c, nil },
	})
	err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(a.stdin), Writer: unclosed{a.stdout}})
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("serve MCP: %w", err)
	}
	return nil
}

// unclosed is an output that outlasts its user.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
