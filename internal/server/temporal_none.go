//go:build cluster

package server

import "context"

// RequireTemporal returns an error if this build has no Temporal server.
func RequireTemporal() error {
	return ConfigError{"this build has no Temporal server (it was made with -tags cluster): set temporal.address to the host and port of one, or use a build without that tag"}
}

// startTemporal refuses to start, since this build has no Temporal server.
func (p *platform) startTemporal(context.Context) error { return RequireTemporal() }
