package server

import (
	"debug/elf"
	"os"

	"golang.org/x/sys/unix"
)

// programPages are the parts of the program's file in memory that are never written to: its
// machine code and its constants.
type programPages []span

// span is a part of the address space. It begins with a page.
type span struct{ start, bytes uintptr }

// findProgramPages returns nothing if the file cannot be read, and for a program whose place in
// memory is chosen at its start. Its pages then stay until the system needs the memory.
func findProgramPages() (pages programPages) {
	file, err := elf.Open("/proc/self/exe")
	if err != nil || file.Type != elf.ET_EXEC {
		return nil
	}
	defer func() { _ = file.Close() }()
	for _, s := range file.Progs {
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_W == 0 {
			start := s.Vaddr &^ uint64(os.Getpagesize()-1)
			pages = append(pages, span{uintptr(start), uintptr(s.Vaddr + s.Memsz - start)})
		}
	}
	return pages
}

// release takes the pages out of the process's memory. The system keeps them in its cache of the
// file, and maps those that are used again without reading the file: 64 KB at a time, or as much
// as its cache keeps in one piece, up to 2 MB if the file was just written.
func (p programPages) release() {
	for _, s := range p {
		for _, advice := range []uintptr{unix.MADV_NOHUGEPAGE, unix.MADV_DONTNEED} {
			// A system that refuses keeps the pages mapped.
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, s.start, s.bytes, advice)
		}
	}
}
