// Package access authenticates requests. It turns an API key or a JWT into a
// Principal, lets a key act for one of its application's users, and signs the
// links with which a browser follows one run. Only this package creates
// principals. permissions.go is the one table of permissions, roles and routes, which
// the router asks; package store checks the tokens of a principal.
//
// Keys are random and stored as SHA-256 hashes, so the time of a lookup reveals
// nothing about them. JWTs are HS256 with the instance's secret; the algorithm
// in a token's header is not trusted. Credentials are never logged or repeated
// in an error.
package access
