package main

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/config"
)

// clientFlags are the flags of every command that calls a server.
type clientFlags struct {
	URL       string `name:"url" env:"CAIRN_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The address of the server (${env})."`
	Key       string `name:"key" env:"CAIRN_KEY" placeholder:"KEY" help:"API key or JWT (${env}). Default: for a server on this machine the key in ./cairn-data/admin.key."`
	Workspace string `name:"workspace" default:"default" help:"The workspace to use."`
	outputFlags
}

// connect returns a client. It does not call the server.
func (f clientFlags) connect() (*client.Client, error) {
	key := f.Key
	if key == "" {
		key = localKey(f.URL, filepath.Join(config.DefaultData, "admin.key"))
	}
	c, err := client.New(client.Config{URL: f.URL, Key: key, Workspace: f.Workspace})
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return c, nil
}

// localKey returns the key in the file path if the server is on this machine,
// else "": the key must not be sent to another machine.
func localKey(server, path string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return "" // the server then answers that a key is missing
	}
	return strings.TrimSpace(string(key))
}
