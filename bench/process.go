package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/process"
)

// cpu returns the processor seconds that the server and its parsers have used so
// far, those that have ended included.
func (s *server) cpu() float64 {
	own, parsers := s.processors()
	return s.spent + own + parsers
}

// processors returns the processor seconds of the running server and of its parsers.
func (s *server) processors() (own, parsers float64) {
	server, ended, _ := process.CPU(s.PID()) // 0 if it has ended
	for _, pid := range s.Children() {
		parser, _ := process.TreeCPU(pid) // a parser is a child of its sandbox
		ended += parser
	}
	return server.Seconds(), ended.Seconds()
}

// rest waits until the server has finished what the requests before left to do:
// until it uses less than a twentieth of a processor for a second.
func (s *server) rest(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < time.Minute; {
		before := s.cpu()
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.cpu()-before < .05 {
			return nil
		}
	}
	return errors.New("the server was still busy after a minute")
}

// peakMB returns the highest resident memory of the server so far, in MiB,
// without its parsers.
func (s *server) peakMB() float64 { return s.status("VmHWM:") }

// residentMB returns its resident memory now, in MiB.
func (s *server) residentMB() float64 { return s.status("VmRSS:") }

// ownMB returns the part of it that is not pages of files, in MiB. How much of a binary is
// resident depends on how the file came into the page cache: directly after the linker has
// written it, it is 30 MB more than of a copy.
func (s *server) ownMB() float64 { return s.status("RssAnon:") }

func (s *server) status(field string) float64 { return processStatus(s.PID(), field) }

// processStatus returns a field of a process's memory in MiB.
func processStatus(pid int, field string) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
