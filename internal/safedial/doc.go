// Package safedial connects to addresses that users supply, but not to
// addresses inside this machine or its network. It resolves a name once,
// refuses addresses that are not public, and connects to the address that it
// checked, so that a name cannot change between the check and the connection.
//
// Everything that dials for a user (documents by URL) uses it. Connections to
// addresses that an operator configured (model endpoints, stores) do not.
package safedial
