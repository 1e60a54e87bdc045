// Package storetest is the contract of package store as tests. A Store over any
// database holds it: versions switch atomically, a principal sees its own things and
// nothing else, removed things are gone, and of several callers who want the same
// thing at once one gets it.
package storetest
