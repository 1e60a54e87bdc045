// Package safedial reaches addresses that users gave, without letting them
// reach what only this machine or its network should: it resolves a name once,
// refuses what is not public, and connects to the very address that it checked,
// so that a name cannot change between the check and the connection.
//
// Everything that dials for a user (documents by URL) goes through it. What an
// operator configured (model endpoints, stores) does not.
package safedial
