//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The programs of the languages. A Python beside the system's would not have its
// packages.
const (
	pythonProgram = "/usr/bin/python3"
	nodeProgram   = "/usr/bin/node"
)

// installed reports with an error which program of a language is not installed.
func installed(l Language) error {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return knowledge.Errorf(knowledge.CodeNeedsComponent, "bubblewrap is not installed: %s", Install)
	}
	program, install := pythonProgram, Install
	if l == JavaScript {
		program, install = nodeProgram, "apt-get install nodejs"
	}
	if _, err := os.Stat(program); err != nil {
		return knowledge.Errorf(knowledge.CodeNeedsComponent, "%s is not installed: %s", filepath.Base(program), install)
	}
	return nil
}

// Has reports whether the programs of a language are installed.
func Has(l Language) bool { return installed(l) == nil }

// user is the user of the system as which a job runs. Only root can choose one;
// otherwise it is the worker's own, in a user namespace in which it owns nothing but
// the folder.
type user int

// firstUser is the first of the users that jobs have if the worker is root. No account
// has their numbers.
const firstUser = 61184

func userOf(slot int) user {
	if os.Geteuid() == 0 {
		return user(firstUser + slot)
	}
	return user(os.Geteuid())
}

func (u user) credential() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: uint32(u), Gid: uint32(u)} //nolint:gosec // a small number
}

// prepare is the first program of a job. It copies what the job was given to its disk,
// waits until the worker has opened that, and becomes the program of its arguments.
const prepare = `cp -R /program/given/work/. /work && cp -R /program/given/tmp/. /tmp && echo >&4 && read -r _ <&5 && exec 4>&- 5<&- && exec "$@"`

// arguments returns the arguments of bubblewrap.
func arguments(l Language, f folder, limits Limits) []string {
	args := []string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--seccomp", "3", "--ro-bind", "/usr", "/usr",
	}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if target, err := os.Readlink(name); err == nil {
			args = append(args, "--symlink", target, name)
		} else {
			args = append(args, "--ro-bind-try", name, name)
		}
	}
	for _, name := range []string{"/etc/alternatives", "/etc/ld.so.cache", "/etc/fonts", "/etc/matplotlibrc", "/etc/localtime"} {
		args = append(args, "--ro-bind-try", name, name)
	}
	size := strconv.FormatInt(limits.Disk, 10)
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--ro-bind", f.sub("program"), "/program",
		"--size", size, "--tmpfs", "/work", "--size", size, "--tmpfs", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/work", "--clearenv")
	for _, variable := range [][2]string{
		{"PATH", "/usr/bin:/bin"}, {"HOME", "/tmp"}, {"USER", "sandbox"}, {"LANG", "C.UTF-8"}, {"TMPDIR", "/tmp"},
		{"MPLCONFIGDIR", "/tmp/mpl"}, {"MPLBACKEND", "module://cairn_figures"}, {"OPENBLAS_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"},
		{"PYTHONDONTWRITEBYTECODE", "1"}, {"PYTHONPATH", "/program"},
	} {
		args = append(args, "--setenv", variable[0], variable[1])
	}
	memory := strconv.FormatInt(limits.Memory, 10)
	args = append(args, "--", "/bin/sh", "-c", prepare, "sh", "nice", "-n", "10", "prlimit", "--data="+memory, fmt.Sprintf("--nproc=%d", limits.Processes),
		fmt.Sprintf("--fsize=%d", maxFile+1), "--nofile=256", "--core=0", fmt.Sprintf("--cpu=%d", int(limits.Wall.Seconds())+1), "--")
	if l == JavaScript {
		name := "/program/code.cjs"
		if _, err := os.Stat(f.sub("program/code.mjs")); err == nil {
			name = "/program/code.mjs"
		}
		return append(args, nodeProgram, fmt.Sprintf("--max-old-space-size=%d", limits.Memory>>21), name)
	}
	return append(args, pythonProgram, "-B", "/program/run.py")
}
