// Package embed declares what the client of Milvus needs to compile.
package embed

import (
	"errors"
	"net"
)

var errAbsent = errors.New("the etcd server is not part of this program")

// Config is the configuration of a server.
type Config struct {
	Dir, LogLevel string
	LogOutputs    []string
}

// Server is the server itself.
type Server struct{}

// Etcd is a server that runs in the process.
type Etcd struct {
	Server  *Server
	Clients []net.Listener
}

// NewConfig returns an empty Config.
func NewConfig() *Config { return &Config{} }

// ConfigFromFile always fails.
func ConfigFromFile(string) (*Config, error) { return nil, errAbsent }

// StartEtcd always fails.
func StartEtcd(*Config) (*Etcd, error) { return nil, errAbsent }

// Close does nothing.
func (*Etcd) Close() {}
