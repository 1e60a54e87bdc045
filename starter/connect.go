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

// clientFlags are the flags of every command that speaks to a server.
type clientFlags struct {
	URL       string `name:"url" env:"CAIRN_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server (${env})."`
	Key       string `name:"key" env:"CAIRN_KEY" placeholder:"KEY" help:"API key or JWT (${env}); for a server on this machine ./cairn-data/admin.key is read otherwise."`
	Workspace string `name:"workspace" default:"default" help:"The workspace to act in."`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// connect makes a client; it does not speak to the server yet.
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

// localKey reads the key of a server on this machine. It is sent nowhere else.
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
		return "" // the server says that a key is missing
	}
	return strings.TrimSpace(string(key))
}
