//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/process"
)

// watchInterval is how often the sandbox looks at the memory and the disk of a job.
const watchInterval = 50 * time.Millisecond

// start runs a job and waits for its end. The caller closes the disk, which it returns with
// an error too.
func start(ctx context.Context, limits Limits, job Job, f folder, user user) (Result, disk, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.Wall)
	defer cancel()
	var stdout, stderr output
	cmd := exec.Command("bwrap", arguments(job.Language, f, limits)...)
	cmd.Env = []string{} // the variables of the worker hold secrets
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: user.credential()}
	cmd.WaitDelay = 5 * time.Second
	files, err := newFiles()
	if err != nil {
		return Result{}, disk{}, fmt.Errorf("prepare a sandbox: %w", err)
	}
	defer files.close()
	cmd.ExtraFiles = files.theirs
	if err := cmd.Start(); err != nil {
		return Result{}, disk{}, fmt.Errorf("start bubblewrap: %w", err)
	}
	files.closeTheirs()
	preferForOOM(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer context.AfterFunc(ctx, func() { _ = files.ready.SetReadDeadline(time.Now()) })()
	d, err := files.admit(cmd.Process.Pid)
	if err != nil {
		return Result{}, d, errors.Join(fmt.Errorf("prepare a sandbox: %w: %s", err, lastLine(stderr.text())), context.Cause(ctx), end(cmd.Process.Pid, ended))
	}
	stopped, err := watch(ctx, limits, cmd.Process.Pid, d, ended, func() bool { return stdout.total.Load()+stderr.total.Load() > flood })
	if stopped == "" && cmd.ProcessState.ExitCode() != 0 && d.isFull(limits) {
		stopped = wroteTooMuch(limits) // the code saw it first
	}
	result := Result{Stdout: stdout.text(), Stderr: stderr.text(), ExitCode: cmd.ProcessState.ExitCode(), Stopped: stopped}
	if cause := context.Cause(ctx); stopped != "" && cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return result, d, cause
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return result, d, fmt.Errorf("run bubblewrap: %w", err)
	}
	return result, d, nil
}

// watch waits for the end of a job, and ends it when it exceeds a limit. It returns
// which one that was, and the error of the process.
func watch(ctx context.Context, limits Limits, pid int, d disk, ended <-chan error, floods func() bool) (stopped string, err error) {
	look := time.NewTicker(watchInterval)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			return "", err
		case <-ctx.Done():
			stopped = fmt.Sprintf("it ran longer than %v", limits.Wall)
		case <-look.C:
			switch {
			case Memory(pid) > limits.Memory:
				stopped = fmt.Sprintf("it used more than %d MB of memory", limits.Memory>>20)
			case d.isFull(limits):
				stopped = wroteTooMuch(limits)
			case floods():
				stopped = "it printed too much"
			default:
				continue
			}
		}
		return stopped, end(pid, ended)
	}
}

func wroteTooMuch(limits Limits) string {
	return fmt.Sprintf("it wrote more than %d MB or %d files", limits.Disk>>20, limits.Entries)
}

// end kills a sandbox and returns when its processes have ended.
func end(pid int, ended <-chan error) error {
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		err = <-ended
	}()
	Kill(pid, over)
	return err
}

// Kill ends a bubblewrap that has a process namespace of its own. It kills the first
// process there, with which the kernel ends all others before bubblewrap learns of it. It
// returns when ended is closed, which the one who waits for bubblewrap does.
func Kill(pid int, ended <-chan struct{}) {
	select {
	case <-ended:
		return // the number may belong to another process now
	default:
	}
	for _, first := range process.Children(pid) {
		_ = syscall.Kill(first, syscall.SIGKILL) // it may have ended
	}
	select {
	case <-ended:
		return
	case <-time.After(2 * time.Second):
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // the others die with it
	<-ended
}

// preferForOOM makes the kernel end the sandbox rather than the worker when the machine
// has no memory left.
func preferForOOM(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0) // it is a preference
}

// Memory returns the memory of the processes that a process started, and that these
// started: private or shared, in bytes, without the pages of files.
func Memory(pid int) (bytes int64) {
	for _, child := range process.Children(pid) {
		own, _ := process.Sum(child, func(pid int) (int64, bool) {
			return process.Memory(pid, process.Private, process.Shared, process.Swapped)
		})
		bytes += own
	}
	return bytes
}
