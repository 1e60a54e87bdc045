package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// checkTime bounds the check of Available.
const checkTime = 30 * time.Second

// Available reports with an error why no program can be confined on this machine. It runs
// a program that does nothing, which takes some milliseconds.
func Available(ctx context.Context) error {
	if _, err := exec.LookPath(Bubblewrap); err != nil {
		return errors.New("bubblewrap is not installed")
	}
	folder, err := os.MkdirTemp("", "cairn-confine-")
	if err != nil {
		return fmt.Errorf("make a folder to try bubblewrap with: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is empty
	program, err := exec.LookPath("true")
	if err != nil {
		return fmt.Errorf("find a program to try bubblewrap with: %w", err)
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return fmt.Errorf("find a program to try bubblewrap with: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, Bubblewrap, Arguments(View{Program: program, Folder: folder}, nil)...)
	cmd.Env, cmd.Dir = []string{}, "/"
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the system does not let bubblewrap make namespaces (%w: %s)", err, strings.TrimSpace(string(output)))
	}
	return nil
}
