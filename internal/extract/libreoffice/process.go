package libreoffice

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

const (
	// idle is the number of seconds after which LibreOffice ends if it has nothing
	// to convert.
	idle = 60
	// again is the exit code with which LibreOffice asks to be started again, as it
	// does once in a new profile.
	again = 81
)

// process is a running LibreOffice.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it is gone
	isTidy bool          // its sockets have no files
}

// startProcess starts LibreOffice with the macro Serve on a folder, which holds its
// profile too.
func (o *Office) startProcess() (*process, error) {
	if o.isConfined {
		return launch(o.program, o.folder, plainAttributes())
	}
	p, err := launch(o.program, o.folder, processAttributes())
	if errors.Is(err, os.ErrPermission) { // no namespaces for this user
		return launch(o.program, o.folder, plainAttributes())
	}
	return p, err
}

func launch(program, folder string, attributes *attributes) (*process, error) {
	program = binary(program)
	cmd := exec.Command(program,
		"--headless", "--norestore", "--nologo", "--nodefault", "--nolockcheck",
		"-env:UserInstallation="+fileURL(folder),
		"macro:///Standard.Cairn.Serve("+strconv.Quote(folder)+","+strconv.Itoa(idle)+")")
	cmd.Dir = folder
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + folder, "TMPDIR=" + folder, "OSL_SOCKET_PATH=" + folder, "LANG=C.UTF-8",
		"LD_LIBRARY_PATH=" + filepath.Dir(program), // it would find its libraries with /proc
	}
	cmd.SysProcAttr = attributes
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the program with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is read from ProcessState
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start LibreOffice: %w", err)
	}
	limitFiles(cmd.Process.Pid)
	return p, nil
}

// binary returns the program that soffice, which is a script on some systems, starts
// in the end, so that it can be ended.
func binary(program string) string {
	resolved, err := filepath.EvalSymlinks(program)
	if err != nil {
		return program
	}
	direct := filepath.Join(filepath.Dir(resolved), "soffice.bin")
	if _, err := os.Stat(direct); err != nil {
		return program
	}
	return direct
}

// tidy removes the files of the sockets of the process as soon as it has made them,
// so that a kill leaves none.
func (p *process) tidy() {
	if !p.isTidy {
		p.isTidy = removeSockets(p.cmd.Process.Pid)
	}
}

// kill ends the process and waits until it is gone.
func (p *process) kill() {
	p.tidy()
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
}

// wantsRestart reports whether a process that has exited asks to be started again.
func (p *process) wantsRestart() bool { return p.cmd.ProcessState.ExitCode() == again }

// succeeded reports whether a process that has exited ended by itself, without a fault.
func (p *process) succeeded() bool { return p.cmd.ProcessState.Success() }

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}
