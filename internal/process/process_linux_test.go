package process_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/process"
)

func TestChildren(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "cat")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	child := command.Process.Pid
	if found := process.Children(os.Getpid()); !slices.Contains(found, child) {
		t.Errorf("the children %v, want %d among them", found, child)
	}
	own, ok := process.Memory(os.Getpid(), process.Private, process.Swapped)
	if !ok || own < 64<<10 {
		t.Errorf("this process has %d bytes, %v", own, ok)
	}
	if used, ok := process.TreeCPU(child); !ok || used > time.Second {
		t.Errorf("a process that waits has worked for %s, %v", used, ok)
	}
	in.Close()
	_ = command.Wait() // the end of its input ends it
	if found := process.Children(os.Getpid()); slices.Contains(found, child) {
		t.Errorf("the children %v, %d among them, which has ended", found, child)
	}
	if bytes, ok := process.Memory(child, process.Private); ok || bytes != 0 {
		t.Errorf("a process that has ended has %d bytes, %v", bytes, ok)
	}
	if used, ok := process.TreeCPU(child); ok || used != 0 {
		t.Errorf("a process that has ended has worked for %s, %v", used, ok)
	}
}

func TestCPU(t *testing.T) {
	t.Parallel()
	before, _, _ := process.CPU(os.Getpid())
	for used := before; used < before+50*time.Millisecond; {
		var ok bool
		if used, _, ok = process.CPU(os.Getpid()); !ok {
			t.Fatal("the time of this process cannot be read")
		}
	}
}

func TestMachineMemory(t *testing.T) {
	t.Parallel()
	all, available, ok := process.MachineMemory()
	if !ok || available <= 0 || available >= all {
		t.Errorf("%d of %d bytes are available, %v", available, all, ok)
	}
}
