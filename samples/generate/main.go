// Command generate writes the sample manual as a PDF. go generate runs it.
package main

import (
	"fmt"
	"os"

	"github.com/cairn-rag/cairn/samples/manual"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE.pdf")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], manual.PDF(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
