//go:build unioffice

package unioffice

// The parts of Read that need no licence key.
var (
	AddWord         = addWord
	AddPresentation = addPresentation
	AddWorkbook     = addWorkbook
)
