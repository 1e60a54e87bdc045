package standin

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// startTimeout bounds the start of a program.
const startTimeout = 60 * time.Second

// Program is a stand-in for a service. .ci/run installs it below bin/tools.
type Program struct {
	Path    string   // of the executable, below bin/tools
	Install string   // the command that installs it
	Env     []string // added to the environment
}

// Start starts the program with arguments and returns the address that it
// prints, as the first group of listening. The test is skipped if the program is
// not installed, but fails in CI.
func (p Program) Start(t *testing.T, listening *regexp.Regexp, args ...string) string {
	t.Helper()
	command := exec.Command(p.path(t), args...)
	command.Dir, command.Env = t.TempDir(), append(os.Environ(), p.Env...)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = command.Stdout
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if match := listening.FindStringSubmatch(lines.Text()); match != nil {
				select {
				case found <- match[1]:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		<-ended
		_ = command.Wait()
	})
	select {
	case address := <-found:
		return address
	case <-ended:
		t.Fatalf("%s ended at its start", p.Path)
	case <-time.After(startTimeout):
		t.Fatalf("%s did not start in %s", p.Path, startTimeout)
	}
	return ""
}

// Installed returns the path of the program. The test is skipped if it is not installed,
// but fails in CI.
func (p Program) Installed(t *testing.T) string {
	t.Helper()
	return p.path(t)
}

// path returns the path of the program.
func (p Program) path(t *testing.T) string {
	t.Helper()
	path := filepath.Join(root(t), "bin", "tools", filepath.FromSlash(p.Path))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	reason := "this test needs " + p.Path + "; install it with: " + p.Install
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
	return ""
}

// root returns the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		if folder == filepath.Dir(folder) {
			t.Fatal(errors.New("no go.mod above the test"))
		}
		folder = filepath.Dir(folder)
	}
}

// StartAt starts the program, which cannot choose a free port on its own, and
// returns the address at which it answers. arguments receives the port.
func (p Program) StartAt(t *testing.T, arguments func(port string) []string) string {
	t.Helper()
	path := p.path(t)
	for range 5 { // another program may take the port first
		port := freePort(t)
		command := exec.Command(path, arguments(port)...)
		command.Dir = t.TempDir()
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = command.Wait() // it is killed in the end
		}()
		t.Cleanup(func() {
			_ = command.Process.Kill() // it may have ended
			<-ended
		})
		if address := "http://127.0.0.1:" + port; answers(address, ended) {
			return address
		}
	}
	t.Fatalf("%s does not answer", p.Path)
	return ""
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// answers reports whether an address answers before the program ends.
func answers(address string, ended <-chan struct{}) bool {
	for until := time.Now().Add(startTimeout); time.Now().Before(until); {
		if r, err := http.Get(address); err == nil {
			_ = r.Body.Close() // only the answer counts
			select {
			case <-ended:
				return false // another program answered
			default:
				return true
			}
		}
		select {
		case <-ended:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}
