package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns a pseudo-terminal of so many columns, and a function that ends it and
// returns all that was written to it.
func openTerminal(t *testing.T, width int) (terminal *os.File, end func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(width)})
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the terminal is closed
		written <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	return terminal, func() string {
		terminal.Close()
		defer master.Close()
		return <-written
	}
}
