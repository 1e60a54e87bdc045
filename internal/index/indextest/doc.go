// Package indextest is the contract of index.Index as tests, to be run on every
// implementation. It is for tests only.
package indextest
