package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

// maxOutput bounds what a program may write to its standard output, in bytes.
const maxOutput = 64 << 20

// Run runs one of the Tools in the folder of the source and returns its standard
// output. The program has no environment of the server, and ends with the parser
// child. Its error holds the end of its standard error, which may name what is in the
// file: it is for the log only.
func (s Source) Run(ctx context.Context, program string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir = s.Folder
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.Folder, "TMPDIR=" + s.Folder, "LANG=C.UTF-8",
		"OMP_THREAD_LIMIT=1", // tesseract is slower with two threads than with one
	}
	cmd.SysProcAttr = toolAttributes()
	output, complaint := &limited{room: maxOutput}, &limited{room: 4096}
	cmd.Stdout, cmd.Stderr = output, complaint
	// The kernel ends the program with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run %s: %w: %s", program, errors.Join(err, context.Cause(ctx)), complaint.kept.String())
	}
	if output.room < 0 {
		return nil, fmt.Errorf("run %s: it wrote more than %d bytes", program, maxOutput)
	}
	return output.kept.Bytes(), nil
}

// limited keeps the first bytes that are written to it. room is negative if there
// were more.
type limited struct {
	room int
	kept bytes.Buffer
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	l.kept.Write(p[:min(len(p), max(0, l.room))])
	l.room -= len(p)
	return len(p), nil
}
