// Package format holds what the readers of all formats have in common: the file
// that they read, the options, the tools that may be installed, and the result.
// The table of formats is in package extract; each reader is a package of its own
// beside this one. Readers run in the parser child only.
package format
