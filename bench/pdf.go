package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// pdf runs the extractor's own benchmark: pages with line boxes, and how many
// lines have the right box.
func pdf(ctx context.Context, _ *bench) error {
	for _, args := range [][]string{
		{"test", "-run", "^$", "-bench", ".", "-benchtime", "3x", "./internal/extract/..."},
		{"test", "-count=1", "-v", "-run", "Boxes", "./internal/extract/pdf/..."},
	} {
		cmd := exec.CommandContext(ctx, "go", args...)
		fmt.Println("```")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err := cmd.Run()
		fmt.Println("```")
		if err != nil {
			return err
		}
	}
	return nil
}
