// Package client calls Cairn's HTTP API: typed requests, errors decoded from
// problem+json, and event streams that reconnect after a restart of the server.
//
// A Client has no state but its configuration and is safe for concurrent use.
// It reads neither the environment nor files; its caller does.
package client
