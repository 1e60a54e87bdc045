// Package extracttest has what the tests of several readers share: the samples in
// testdata, an address that no reader may call, and scripts in place of programs.
package extracttest
