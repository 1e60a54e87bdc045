// Package workercomponent adds nothing to the Temporal server's own worker.
package workercomponent

import "go.uber.org/fx"

// Module provides no component.
var Module = fx.Options()
