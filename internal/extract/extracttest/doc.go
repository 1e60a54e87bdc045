// Package extracttest has what the tests of several readers share: the samples in
// testdata, and an address that no reader may call.
package extracttest
