// Package process reads what the kernel says of processes, from /proc. On a system without
// it there are no children, no memory and no times.
package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Children returns the ids of the processes that a process has started and that have not
// ended.
func Children(pid int) (found []int) {
	folder := fmt.Sprintf("/proc/%d/task/", pid)
	for _, thread := range names(folder) {
		list, err := os.ReadFile(folder + thread + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// names returns the names in a folder, none if it cannot be read.
func names(folder string) []string {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	found, _ := f.Readdirnames(-1) // those that were read before an error
	return found
}

// Sum adds what of returns for a process and for all processes that it started, of which some
// may have ended meanwhile. ok is false if of knows nothing of the process itself.
func Sum[N int64 | time.Duration](pid int, of func(pid int) (N, bool)) (sum N, ok bool) {
	sum, ok = of(pid)
	for _, child := range Children(pid) {
		more, _ := Sum(child, of)
		sum += more
	}
	return sum, ok
}

// The kinds of memory of a process, as /proc/PID/status names them.
const (
	Private = "RssAnon"  // of no file
	Shared  = "RssShmem" // of memory that is shared, such as files of a tmpfs that are mapped
	Swapped = "VmSwap"
)

// Memory returns the memory of a process of some kinds together, in bytes. ok is false if it
// cannot be read: the process has ended.
func Memory(pid int, kinds ...string) (size int64, ok bool) {
	return sizes(fmt.Sprintf("/proc/%d/status", pid), kinds)
}

// MachineMemory returns how much memory the machine has, and how much of it programs can have
// now, as the kernel estimates it, in bytes. ok is false if it cannot be read.
func MachineMemory() (all, available int64, ok bool) {
	const file = "/proc/meminfo"
	all, hasAll := sizes(file, []string{"MemTotal"})
	available, hasAvailable := sizes(file, []string{"MemAvailable"})
	return all, available, hasAll && hasAvailable
}

// sizes adds the sizes that a file of /proc has under some names, in bytes. ok is false if it
// has none of them, or cannot be read.
func sizes(file string, names []string) (size int64, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if !slices.Contains(names, name) {
			continue
		}
		kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, false
		}
		size, ok = size+kB<<10, true
	}
	return size, ok
}

// tick is the unit of times in /proc/PID/stat. It is the same on every machine.
const tick = time.Second / 100

// CPU returns the processor time of a process, and of its children that have ended. ok is false
// if it cannot be read: the process has ended.
func CPU(pid int) (own, ended time.Duration, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	// The name of the program, the second field, may have spaces and brackets.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const first, last = 11, 15 // utime, stime, cutime, cstime
	if len(fields) < last {
		return 0, 0, false
	}
	var times [last - first]time.Duration
	for i, field := range fields[first:last] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		times[i] = time.Duration(ticks) * tick
	}
	return times[0] + times[1], times[2] + times[3], true
}

// TreeCPU returns the processor time of a process and of all that it started, whether they have
// ended or not. ok is false if the process has ended.
func TreeCPU(pid int) (used time.Duration, ok bool) {
	return Sum(pid, func(pid int) (time.Duration, bool) {
		own, ended, ok := CPU(pid)
		return own + ended, ok
	})
}
