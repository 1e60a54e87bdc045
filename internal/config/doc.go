// Package config reads the configuration of the cairn command: a YAML file, the
// environment, and the command line, the later winning over the earlier. It is
// the one place that knows the environment; everything else is handed what it
// needs.
//
// The comments of the structs state the meaning and the default of each key.
// The reference in docs/configuration.md is made from them.
package config
