// Package sourcetest holds the contract of source.Source as tests, and the faults
// that a source must report.
package sourcetest
