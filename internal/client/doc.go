// Package client speaks Cairn's HTTP contract: typed requests, errors decoded
// from problem+json, and event streams that outlive a restart of the server.
//
// A Client holds no state but its configuration and is safe for concurrent use.
// It reads no environment and no files; whoever makes it does.
package client
