package server

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/config"
)

// States of a finding.
const (
	FindingOK   = "ok"
	FindingNote = "note"    // nothing has to be done
	FindingBad  = "problem" // a person has to do something
)

// Finding is the result of one check of cairn doctor.
type Finding struct {
	Check  string
	State  string
	Detail string
	Next   string // what to do, "" = nothing
}

// checkPatience bounds each of the checks that ask an endpoint.
const checkPatience = 30 * time.Second

// CheckMachine checks the programs with which a server on this machine reads documents, and its
// memory.
func CheckMachine(ctx context.Context, cfg config.Config) []Finding {
	return append(append(checkComponents(), checkConfinement(ctx, cfg)), checkMemory()...)
}
