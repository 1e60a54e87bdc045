package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build returns the binary of the base commit. It is built in a temporary
// worktree, and kept under the commit's hash so that the next run need not.
func (c comparison) build(ctx context.Context) (binary string, err error) {
	commit, err := output(ctx, "git", "rev-parse", "--verify", c.base+"^{commit}")
	if err != nil {
		return "", err
	}
	folder, err := filepath.Abs(c.versions)
	if err != nil {
		return "", err
	}
	binary = filepath.Join(folder, commit)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	fmt.Fprintf(os.Stderr, "building %s; a first build takes minutes\n", commit)
	parent, err := os.MkdirTemp("", "cairn-base-")
	if err != nil {
		return "", err
	}
	tree := filepath.Join(parent, "tree")
	if _, err := output(ctx, "git", "worktree", "add", "--detach", tree, commit); err != nil {
		return "", errors.Join(err, os.RemoveAll(parent))
	}
	defer func() {
		// Also after Ctrl-C, which ends ctx.
		_, removed := output(context.WithoutCancel(ctx), "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, removed, os.RemoveAll(parent))
	}()
	// Under another name first: a build that was interrupted must not be kept.
	compile := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w -X main.version="+commit, "-o", binary+".linked", "./starter")
	compile.Dir, compile.Stderr = tree, os.Stderr
	if err := compile.Run(); err != nil {
		return "", fmt.Errorf("build %s: %w", commit, err)
	}
	// A copy, as "make build" makes it: its pages are mapped as those of the other version.
	if _, err := output(ctx, "cp", binary+".linked", binary+".new"); err != nil {
		return "", err
	}
	return binary, errors.Join(os.Rename(binary+".new", binary), os.Remove(binary+".linked"))
}

// output runs a command and returns what it printed.
func output(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
