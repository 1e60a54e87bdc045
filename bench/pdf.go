package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// pdf prints the extractor's own benchmark: pages a second with line boxes, and
// how many lines have the right box.
func pdf(ctx context.Context, b *bench) ([]figure, error) {
	for _, args := range [][]string{
		{"test", "-run", "^$", "-bench", ".", "-benchtime", "3x", "./internal/extract/..."},
		{"test", "-count=1", "-v", "-run", "Boxes", "./internal/extract/pdf/..."},
	} {
		cmd := exec.CommandContext(ctx, "go", args...)
		fmt.Fprintln(b.out, "```")
		cmd.Stdout, cmd.Stderr = b.out, os.Stderr
		err := cmd.Run()
		fmt.Fprintln(b.out, "```")
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}
