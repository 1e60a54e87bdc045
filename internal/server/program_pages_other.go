//go:build !linux

package server

// programPages stay mapped on other systems than Linux.
type programPages struct{}

func findProgramPages() (none programPages) { return none }

func (programPages) release() {}
