// Package indextest is the contract of index.Index as tests, for every
// implementation.
package indextest
