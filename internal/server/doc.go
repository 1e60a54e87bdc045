// Package server assembles a Cairn server. It opens the stores, makes the clients of
// models and of Temporal, and starts the workers, the sweeps and the API. roles.go lists
// the parts of each role of a process: Up, API, Work and Migrate. The other files are
// named after the parts that they start.
//
// The command calls it with a checked configuration. The package reads no flags and no
// environment, and prints nothing. A server starts the same program again to parse files
// and to run the browser; Parse and Browse are these children. CheckEndpoints and
// CheckMachine are the checks of cairn doctor that need the parts of a server.
package server
