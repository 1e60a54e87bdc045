package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-rag/cairn/internal/sandbox"
)

// TestEscapes tries to leave the sandbox. Each attempt prints what stopped it.
func TestEscapes(t *testing.T) {
	s := open(t, sandbox.Limits{})
	t.Setenv("CAIRN_SECRET_OF_THE_TEST", "s3cr3t-of-the-worker")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	for name, tc := range map[string]struct{ code, printed string }{
		"an_address_of_this_machine": {fmt.Sprintf("import socket\nsocket.create_connection(('127.0.0.1', %d), 2)", port), "Connection refused"},
		"an_address_elsewhere":       {"import socket\nsocket.create_connection(('192.0.2.1', 80), 2)", "Network is unreachable"},
		"a_name":                     {"import socket\nsocket.getaddrinfo('example.com', 80)", "Errno"},
		"the_host_of_this_machine":   {"import socket\nsocket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)", "not supported"},
		"passwords":                  {"open('/etc/shadow').read()", "No such file"},
		"users":                      {"open('/etc/passwd').read()", "No such file"},
		"the_folder_of_root":         {"import os\nos.listdir('/root')", "No such file"},
		"other_jobs":                 {"import os\nprint(sorted(os.listdir('/')), os.listdir('/tmp'))", "['bin', 'dev', 'etc', 'lib', 'lib64', 'proc', 'program', 'sbin', 'tmp', 'usr', 'work'] ['mpl']"},
		"the_program":                {"open('/program/run.py', 'w')", "Read-only file system"},
		"variables":                  {"import os\nprint(sorted(os.environ))", "['HOME', 'LANG', "},
		"variables_of_the_parent":    {"import glob\nfor p in sorted(glob.glob('/proc/[0-9]*')): print(p, open(p + '/environ', 'rb').read())", "/proc/1 b''"},
		"processes":                  {"import glob\nprint(len(glob.glob('/proc/[0-9]*')) <= 3)", "True"},
		"memory_of_the_parent":       {"open('/proc/1/mem', 'rb').read(1)", "Errno"},
		"signals":                    {"import os, signal\nos.kill(-1, signal.SIGTERM)", "No such process"},
		"another_user":               {"import os\nos.setuid(0)", "Invalid argument"},
		"who_it_is":                  {"import os\nprint(os.getuid(), os.getgid(), os.geteuid(), os.getgroups())", "1000 1000 1000 ["},
		"capabilities":               {"print([l for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp:'))])", `['CapEff:\t0000000000000000\n', 'CapBnd:\t0000000000000000\n', 'NoNewPrivs:\t1\n', 'Seccomp:\t2\n']`},
		"a_user_namespace":           {"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.unshare(0x10000000), ctypes.get_errno())", "-1 1"},
		"a_mount":                    {"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None), ctypes.get_errno())", "-1 1"},
		"tracing":                    {"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.ptrace(16, 1, 0, 0), ctypes.get_errno())", "-1 1"},
		"devices":                    {"import os\nprint(sorted(set(os.listdir('/dev')) - {'core', 'fd', 'full', 'null', 'ptmx', 'pts', 'random', 'shm', 'stderr', 'stdin', 'stdout', 'tty', 'urandom', 'zero', 'console'}))", "[]"},
		"higher_limits":              {"import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (10000, 10000))", "not allowed to raise"},
		"a_file_of_the_parent":       {"import os\nprint(sorted(os.listdir('/proc/self/fd')))", "['0', '1', '2', '3']"},
	} {
		t.Run(name, func(t *testing.T) {
			got := python(t, s, tc.code)
			if out := got.Stdout + got.Stderr; !strings.Contains(out, tc.printed) || strings.Contains(out, "s3cr3t") || got.Stopped != "" {
				t.Errorf("%s %s", got.Stopped, out)
			}
		})
	}
}

func TestProducedFiles(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Limits{})
	got := python(t, s, `
import os, socket
os.symlink('/etc/passwd', 'link.txt')
os.symlink('/', 'root')
os.symlink('../../../../etc', 'up')
os.mkfifo('fifo')
socket.socket(socket.AF_UNIX).bind('socket')
os.mkdir('closed'); open('closed/a.txt', 'w').write('a'); os.chmod('closed', 0)
open('unreadable.txt', 'w').write('b'); os.chmod('unreadable.txt', 0)
open('big.bin', 'wb').truncate(20 << 20)
open('bigger.bin', 'wb').truncate((20 << 20) + 1)
open('ok.txt', 'w').write('fine')
`)
	if string(got.Files["ok.txt"]) != "fine" || got.ExitCode != 0 {
		t.Errorf("%d %s", got.ExitCode, got.Stderr)
	}
	for _, name := range []string{"link.txt", "root", "up", "fifo", "socket", "bigger.bin"} {
		if content, ok := got.Files[name]; ok {
			t.Errorf("%s is kept: %q", name, content)
		}
		if !strings.Contains(strings.Join(got.LeftOut, "\n"), `"`+name+`"`) {
			t.Errorf("nobody is told of %s: %v", name, got.LeftOut)
		}
	}
	if hostname, err := os.ReadFile("/etc/passwd"); err == nil {
		for name, content := range got.Files {
			if string(content) == string(hostname) {
				t.Errorf("%s is a file of this machine", name)
			}
		}
	}
}

// TestDisk writes more than the disk of a job holds in ways that leave no file to count.
func TestDisk(t *testing.T) {
	s := open(t, sandbox.Limits{Disk: 16 << 20})
	const written = "\nprint('written', n >> 20)"
	for name, code := range map[string]string{
		"a_deleted_file":        "import os\nf = open('a', 'wb', 0)\nos.remove('a')\nn = 0\nwhile n < 200 << 20: n += f.write(b'x' * 65536)" + written,
		"many_deleted_files":    "import os\nn, files = 0, []\nfor i in range(200):\n    f = open('a', 'wb', 0); os.remove('a'); files.append(f)\n    for _ in range(16): n += f.write(b'x' * 65536)" + written,
		"a_deleted_file_in_tmp": "import os\nf = open('/tmp/a', 'wb', 0)\nos.remove('/tmp/a')\nn = 0\nwhile n < 200 << 20: n += f.write(b'x' * 65536)" + written,
		"reserved_space":        "import os\nf = open('a', 'wb')\nos.remove('a')\nn = 200 << 20\nfor i in range(200): os.posix_fallocate(f.fileno(), i << 20, 1 << 20)" + written,
		"a_deleted_mapping":     "import mmap, os\nf = open('a', 'w+b')\nos.remove('a')\nn = 200 << 20\nfor i in range(20):\n    f.truncate((i + 1) * 10 << 20)\n    m = mmap.mmap(f.fileno(), 10 << 20, offset=i * 10 << 20)\n    m.write(b'x' * (10 << 20))" + written,
		"shared_memory":         "n = 200 << 20\nopen('/dev/shm/a', 'wb').write(b'x' * n)" + written,
	} {
		t.Run(name, func(t *testing.T) {
			got := python(t, s, code)
			if got.ExitCode == 0 || strings.Contains(got.Stdout, "written") {
				t.Errorf("it wrote 200 MB: %s %s", got.Stdout, got.Stderr)
			}
			isTold := strings.Contains(got.Stderr, "No space left") || strings.Contains(got.Stderr, "Read-only file system") || strings.Contains(got.Stopped, "wrote more than 16 MB") || got.ExitCode == 128+int(syscall.SIGBUS)
			if !isTold {
				t.Errorf("nobody is told why: exit code %d, %q, %s", got.ExitCode, got.Stopped, got.Stderr)
			}
		})
	}
	t.Run("files_that_do_not_fit", func(t *testing.T) {
		_, err := s.Run(t.Context(), sandbox.Job{Language: sandbox.Python, Code: "1", Files: map[string][]byte{"a": make([]byte, 17<<20)}})
		if err == nil || !strings.Contains(err.Error(), "do not fit") {
			t.Errorf("error %v", err)
		}
	})
}
