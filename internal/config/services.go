package config

import (
	"net"
	"net/url"
	"strconv"
)

// Service is the address of a service that Cairn uses.
type Service struct {
	Host string // a name or an IP address
	Port uint16
}

// defaultPorts are the ports of addresses that name none.
var defaultPorts = map[string]uint16{"postgres": 5432, "postgresql": 5432, "milvus": 19530, "http": 80, "https": 443}

// Services returns the Temporal server, the malware scanner and the stores that are reached over
// a network.
// No address that a user gives may reach them.
func (c Config) Services() []Service {
	var all []Service
	for _, address := range []string{c.Temporal.Address, c.Scan.Clamd} {
		if host, port, err := net.SplitHostPort(address); err == nil {
			if n, err := strconv.ParseUint(port, 10, 16); err == nil {
				all = append(all, Service{host, uint16(n)})
			}
		}
	}
	for _, address := range []string{c.Database.URL, c.Vector.URL, c.Privacy.Analyzer.URL} {
		if service, ok := serviceAt(address); ok {
			all = append(all, service)
		}
	}
	if service, ok := c.Blob.Service(); ok {
		all = append(all, service)
	}
	return all
}

// Service returns the service that keeps the blobs. It reports false if that is a folder, or
// the public service of the bucket's scheme.
func (b Blob) Service() (Service, bool) { return serviceAt(b.endpoint()) }

// serviceAt returns the service at an address. It reports false for a file.
func serviceAt(address string) (Service, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return Service{}, false
	}
	port := defaultPorts[u.Scheme]
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		port = uint16(n)
	}
	return Service{u.Hostname(), port}, true
}

// endpoint returns the address of the service that keeps the blobs, "" if it is a folder or
// the public service of the bucket's scheme.
func (b Blob) endpoint() string {
	u, err := url.Parse(b.URL)
	if err != nil || !b.Bucket() {
		return ""
	}
	return u.Query().Get("endpoint")
}
