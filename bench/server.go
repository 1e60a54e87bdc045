package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

// server is cairn up as a child process on a folder of its own.
type server struct {
	binary string
	folder string
	env    []string
	child  *exec.Cmd
	spent  float64 // processor seconds of children that were killed
	ends   endpoints
	key    string
}

// endpoints is what a running server tells about itself.
type endpoints struct {
	API      string `json:"api"`
	Temporal string `json:"temporal"`
	KeyFile  string `json:"key_file"`
}

// serve starts a server on a new folder; took is how long that was. The caller
// stops it.
func (b *bench) serve(ctx context.Context, env ...string) (s *server, took time.Duration, err error) {
	folder, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return nil, 0, err
	}
	s = &server{binary: b.binary, folder: folder, env: env}
	if took, err = s.start(ctx); err != nil {
		s.stop()
		return nil, 0, err
	}
	return s, took, nil
}

// start starts the child and returns when it is ready; took is how long that
// was.
func (s *server) start(ctx context.Context) (took time.Duration, err error) {
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	s.child = exec.Command(s.binary, "up", "--data", filepath.Join(s.folder, "data"),
		"--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0")
	s.child.Env = append(os.Environ(), append(s.env, "CAIRN_LOG__LEVEL=warn")...)
	s.child.Stdout, s.child.Stderr = log, log
	_ = os.Remove(filepath.Join(s.folder, "data", "endpoints.json")) // of the process before
	begin := time.Now()
	if err := s.child.Start(); err != nil {
		return 0, err
	}
	for time.Since(begin) < time.Minute && ctx.Err() == nil {
		if s.ready(ctx) {
			return time.Since(begin), nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	words, _ := os.ReadFile(log.Name())
	return 0, errors.Join(ctx.Err(), fmt.Errorf("the server did not get ready; its log:\n%s", words))
}

func (s *server) ready(ctx context.Context) bool {
	data, err := os.ReadFile(filepath.Join(s.folder, "data", "endpoints.json"))
	if err != nil || json.Unmarshal(data, &s.ends) != nil {
		return false
	}
	key, err := os.ReadFile(s.ends.KeyFile)
	if err != nil {
		return false
	}
	s.key = strings.TrimSpace(string(key))
	c, err := s.client()
	return err == nil && c.Ready(ctx) == nil
}

func (s *server) client() (*client.Client, error) {
	return client.New(client.Config{URL: s.ends.API, Key: s.key})
}

// kill ends the whole child with SIGKILL.
func (s *server) kill() error {
	s.spent = s.cpu()
	err := s.child.Process.Kill()
	_ = s.child.Wait() // it was killed
	return err
}

// stop ends the child and removes its folder.
func (s *server) stop() {
	if s.child != nil && s.child.Process != nil {
		_ = s.child.Process.Signal(syscall.SIGTERM)
		_ = s.child.Wait()
	}
	_ = os.RemoveAll(s.folder)
}

// cpu gives the processor seconds of the child and its parsers so far, of those
// that have ended too.
func (s *server) cpu() float64 {
	total := s.spent
	for _, pid := range s.processes() {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // a parser that has ended: the server's own line has it
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		for _, i := range []int{11, 12, 13, 14} { // utime, stime, and those of children that ended
			ticks, _ := strconv.ParseFloat(fields[i], 64)
			total += ticks / 100
		}
	}
	return total
}

// processes are the child and its own children.
func (s *server) processes() []int {
	pids := []int{s.child.Process.Pid}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[0])) // the pattern is right
	for _, children := range threads {
		data, err := os.ReadFile(children)
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// peakMB is the highest resident memory of the child, without its parsers.
func (s *server) peakMB() float64 { return s.status("VmHWM:") }

// residentMB is its resident memory now.
func (s *server) residentMB() float64 { return s.status("VmRSS:") }

func (s *server) status(field string) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.child.Process.Pid))
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
