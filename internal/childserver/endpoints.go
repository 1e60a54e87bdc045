package childserver

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// endpointsFile is the file of a data folder in which a server describes itself.
const endpointsFile = "endpoints.json"

// Endpoints describe a running server: cairn up writes them into its data
// folder when it is ready.
type Endpoints struct {
	API      string `json:"api"`               // URL
	UI       string `json:"ui"`                // URL of the operator's pages
	Temporal string `json:"temporal"`          // host and port
	KeyFile  string `json:"key_file"`          // path of the admin key
	Offline  string `json:"offline,omitempty"` // host and port of the offline model, "" = not served
	PID      int    `json:"pid"`
	// Listeners are all addresses of the process, which no address that a user gives
	// may reach.
	Listeners []netip.AddrPort `json:"listeners,omitempty"`
}

// ReadEndpoints reads the endpoints of a data folder. They may belong to a
// process that has ended.
func ReadEndpoints(folder string) (e Endpoints, err error) {
	b, err := os.ReadFile(filepath.Join(folder, endpointsFile))
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(b, &e)
}

// Write replaces the endpoints of a data folder in one step.
func (e Endpoints) Write(folder string) error {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("encode endpoints: %w", err)
	}
	path := filepath.Join(folder, endpointsFile)
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write endpoints: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write endpoints: %w", err)
	}
	return nil
}

// Address returns the host and port of an endpoint, or a free port of this
// machine if the endpoint is empty. It is the value of a --listen flag.
func Address(endpoint string) string {
	if endpoint == "" {
		return "127.0.0.1:0"
	}
	if _, host, found := strings.Cut(endpoint, "://"); found {
		endpoint = host
	}
	return strings.TrimRight(endpoint, "/")
}
