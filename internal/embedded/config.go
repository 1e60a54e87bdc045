package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/cairn-rag/cairn/internal/namespace"
)

// Sync is the loss that an acknowledged step survives.
type Sync string

// The values of Sync.
const (
	// SyncFull survives a loss of power: each commit reaches the disk.
	SyncFull Sync = "full"
	// SyncNormal survives a kill of the process. A loss of power may undo the last
	// commits and never damages the file. It is about a quarter faster.
	SyncNormal Sync = "normal"
)

// retention is how long the history of an ended workflow is kept.
const retention = namespace.Retention

// Config holds the folder, the addresses and the settings of a Server.
type Config struct {
	// Dir is the folder of the database files. It is created. Required.
	Dir string
	// Listen is the loopback address of the gRPC API. Port 0 takes a free one.
	// Defaults to 127.0.0.1:7233.
	Listen string
	// UIListen is the loopback address of the web UI. Port 0 takes a free one.
	// Defaults to 127.0.0.1:8233.
	UIListen string
	// SearchAttributes are registered at the first start; later starts register
	// those that are missing. Defaults to none.
	SearchAttributes map[string]enumspb.IndexedValueType
	// ListedBy names the search attributes by which workflows are listed often.
	// They have an index; a list by another attribute scans all workflows.
	// Defaults to none.
	ListedBy []string
	// Sync is the loss that an acknowledged step survives. Defaults to SyncFull.
	Sync Sync
	// Codec decrypts payloads for the web UI, at /codec/decode of its own address. Defaults to
	// none: the UI shows payloads as they are stored.
	Codec http.Handler
	// Logger receives the server's warnings and errors. Required.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:7233"
	}
	if c.UIListen == "" {
		c.UIListen = "127.0.0.1:8233"
	}
	if c.Sync == "" {
		c.Sync = SyncFull
	}
	return c
}

func (c Config) validate() error {
	if c.Dir == "" || c.Logger == nil {
		return errors.New("the embedded Temporal server needs a folder and a logger")
	}
	if c.Sync != SyncFull && c.Sync != SyncNormal {
		return fmt.Errorf("temporal sync %q: choose %q or %q", c.Sync, SyncFull, SyncNormal)
	}
	return nil
}

// endpoint is a loopback address and the key of its configuration.
type endpoint struct {
	what string // "the Temporal server"
	key  string // the configuration key
	addr netip.AddrPort
}

func parseEndpoint(what, key, listen string) (endpoint, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return endpoint{}, fmt.Errorf("%s %q is not an address with a port, such as 127.0.0.1:7233", key, listen)
	}
	if host == "localhost" || host == "" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return endpoint{}, fmt.Errorf("%s %q: %s does not authenticate callers, so it listens on loopback addresses only, such as 127.0.0.1", key, listen, what)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return endpoint{}, fmt.Errorf("%s %q: %q is not a port", key, listen, port)
	}
	return endpoint{what: what, key: key, addr: netip.AddrPortFrom(ip, uint16(number))}, nil
}

// listen opens the address. Its error names the key to change.
func (e endpoint) listen() (net.Listener, error) {
	l, err := net.Listen("tcp", e.addr.String())
	if err != nil {
		return nil, fmt.Errorf("port %d on %s, which %s needs, cannot be opened (%w): stop what uses it, or set %s to another address; port 0 takes a free one",
			e.addr.Port(), e.addr.Addr(), e.what, err, e.key)
	}
	return l, nil
}
