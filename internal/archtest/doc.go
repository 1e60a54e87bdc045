// Package archtest holds the rules of the repository as tests: which package may import
// which, and that its pages name what exists. It has no code of its own.
package archtest
