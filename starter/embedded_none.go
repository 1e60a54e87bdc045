//go:build cluster

package main

import "context"

// hasTemporal reports whether this build has a Temporal server.
const hasTemporal = false

// startTemporal refuses to start, since this build has no Temporal server.
func (p *platform) startTemporal(context.Context) error { return errNoTemporal }
