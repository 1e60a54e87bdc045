package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Gatherer returns the registry of m.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }
