//go:build linux && (amd64 || arm64)

package browser

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// The files that the launcher inherits. Chromium reads commands from the first and writes
// answers to the second; the launcher sends listeners over the third. The fourth is its
// program, which the user of Chromium may have no path to.
const (
	_ = 3 + iota // --remote-debugging-pipe
	_
	listenersFile
	launcherFile
)

// environment is the environment of Chromium.
var environment = []string{"HOME=/tmp", "TMPDIR=/tmp", "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}

const launcherPath = "/proc/self/fd/6"

// Launch is the first program in the network of Chromium. It listens at loopback
// addresses there, passes the listeners to the worker outside, and becomes the program
// that its arguments name: the number of listeners, the program, and its arguments. It
// returns only if that fails.
func Launch(args []string) error {
	if len(args) < 2 {
		return errors.New("the server starts this command")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	var files []int
	var addresses []string
	for range n {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		file, err := listener.(*net.TCPListener).File()
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		defer file.Close() // it stays open until this program is another
		files = append(files, int(file.Fd()))
		addresses = append(addresses, listener.Addr().String())
	}
	if err := syscall.Sendmsg(listenersFile, []byte(strings.Join(addresses, " ")), syscall.UnixRights(files...), nil, 0); err != nil {
		return fmt.Errorf("pass the listeners: %w", err)
	}
	syscall.CloseOnExec(listenersFile)
	syscall.CloseOnExec(launcherFile)
	return fmt.Errorf("start %s: %w", args[1], syscall.Exec(args[1], args[1:], environment))
}

// listener is one that Launch passed.
type listener struct {
	net.Listener
	address string // in the network of Chromium
}

// receiveListeners receives what Launch sends.
func receiveListeners(from *net.UnixConn, n int) ([]listener, error) {
	data, rights := make([]byte, 64*n), make([]byte, syscall.CmsgSpace(4*n))
	read, readRights, _, _, err := from.ReadMsgUnix(data, rights)
	if err != nil {
		return nil, fmt.Errorf("receive the listeners: %w", err)
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:readRights])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("receive the listeners: there are none")
	}
	files, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, fmt.Errorf("receive the listeners: %w", err)
	}
	addresses := strings.Fields(string(data[:read]))
	if len(files) != n || len(addresses) != n {
		return nil, fmt.Errorf("received %d listeners at %d addresses instead of %d", len(files), len(addresses), n)
	}
	var list []listener
	for i, file := range files {
		f := os.NewFile(uintptr(file), "listener")
		l, err := net.FileListener(f)
		_ = f.Close() // the listener has a copy
		if err != nil {
			return list, fmt.Errorf("receive the listeners: %w", err)
		}
		list = append(list, listener{l, addresses[i]})
	}
	return list, nil
}
