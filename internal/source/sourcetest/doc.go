// Package sourcetest holds the contract of source.Source as tests, the faults
// that a source must report, and the programs that stand in for the services.
package sourcetest
