// Package access decides who asks: it turns an API key or a JWT into a
// Principal, lets a key act for one of its application's users, and signs the
// links by which a browser follows one run. It is the only package that makes
// principals; what a principal may then do is asked of the principal itself
// (its scopes) and of package store (its tokens).
//
// Keys are random and stored as SHA-256, so looking one up by its hash tells
// nothing to a clock. JWTs are HS256 with the instance's secret; the algorithm
// is fixed, whatever a token says of itself. No credential is ever logged or
// put into an error.
package access
