// Package archtest holds the import rules of the repository as a test. It has
// no code of its own.
package archtest
