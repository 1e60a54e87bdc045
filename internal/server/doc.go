// Package server assembles a Cairn server. It opens the stores, makes the clients of
// models and of Temporal, and starts the workers, the sweeps and the API. roles.go lists
// the parts of each role of a process: Up, API, Work and Migrate. The other files are
// named after the parts that they start.
//
// The command calls it with a checked configuration. It reads no flags and no
// environment, prints nothing, and is not imported by any part that it starts. It is
// also the other end of the processes that a server starts from the same program (Parse
// and Browse), and has those checks of cairn doctor that ask the endpoints and the
// machine of a server.
package server
