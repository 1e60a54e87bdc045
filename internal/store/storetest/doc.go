// Package storetest is the contract of package store as tests. Whatever database
// stands behind a Store, these hold: versions switch atomically, a principal
// sees its own and nothing else, what is removed is gone, and of many who want
// the same thing at once one gets it.
package storetest
