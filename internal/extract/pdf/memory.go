package pdf

import (
	"golang.org/x/sys/unix"

	"github.com/tetratelabs/wazero/experimental"
)

// allocateMemory reserves the address space for the memory of one instance of
// pdfium. The kernel provides a page when it is first used, so memory grows
// without a copy, and closing the instance returns all of it at once.
func allocateMemory(_, most uint64) experimental.LinearMemory {
	space, err := unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return &linearMemory{} // instantiating the module fails
	}
	return &linearMemory{space: space}
}

// linearMemory implements experimental.LinearMemory.
type linearMemory struct{ space []byte }

// Reallocate returns the first size bytes, or nil if there are not so many.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.space)) {
		return nil
	}
	return m.space[:size]
}

// Free returns the memory to the kernel. Nothing may use it afterwards.
func (m *linearMemory) Free() {
	if m.space != nil {
		_ = unix.Munmap(m.space) // it fails only for memory that is not mapped
		m.space = nil
	}
}
