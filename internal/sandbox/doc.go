// Package sandbox runs code that a model wrote: Python, and JavaScript where node is
// installed. The code runs in bubblewrap, away from everything: without network, in
// namespaces of its own, as a user that owns nothing, with bounds on time, memory,
// processes, output and disk. It sees the programs of the system, read-only, and a
// folder of its own, which is removed afterwards.
//
// The package does not keep anything between two jobs, and does not know who asks.
package sandbox
