// Package outlooktest writes compound files and messages of Outlook for tests.
package outlooktest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"
	"unicode/utf16"
)

// Storage is a folder of a compound file. Its values are []byte or Storage.
type Storage map[string]any

const (
	sectorSize = 512
	miniSize   = 64
	miniCutoff = 4096
	noStream   = 0xffffffff
	endOfChain = 0xfffffffe
	fatSector  = 0xfffffffd
)

type entry struct {
	name         string
	kind         byte
	right, child uint32
	start        uint32
	size         int
	content      []byte
}

type file struct {
	entries []entry
	sectors []byte   // all but the header
	fat     []uint32 // of sectors
	mini    []byte
	miniFAT []uint32
}

// Compound returns a compound file of version 3.
func Compound(root Storage) []byte {
	f := &file{entries: []entry{{name: "Root Entry", kind: 5, right: noStream}}}
	f.entries[0].child = f.add(root)
	for i := range f.entries {
		if e := &f.entries[i]; e.kind == 2 && len(e.content) < miniCutoff {
			e.start = chain(&f.miniFAT, pad(e.content, miniSize), miniSize)
			f.mini = append(f.mini, pad(e.content, miniSize)...)
		} else if e.kind == 2 {
			e.start = f.put(e.content)
		}
	}
	f.entries[0].start, f.entries[0].size = f.put(f.mini), len(f.mini)
	miniFAT := f.put(numbers(f.miniFAT))
	directory := f.put(f.directory())
	return f.file(directory, miniFAT)
}

// add adds the entries of a folder, and returns the first one.
func (f *file) add(s Storage) uint32 {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	next := uint32(noStream)
	for _, name := range slices.Backward(names) {
		e := entry{name: name, kind: 1, right: next, child: noStream}
		switch content := s[name].(type) {
		case Storage:
			e.child = f.add(content)
		case []byte:
			e.kind, e.content, e.size = 2, content, len(content)
		}
		f.entries = append(f.entries, e)
		next = uint32(len(f.entries) - 1)
	}
	return next
}

// chain adds the sectors of content to a table, and returns the first one.
func chain(table *[]uint32, content []byte, size int) uint32 {
	first := uint32(len(*table))
	for i := range len(content) / size {
		*table = append(*table, first+uint32(i)+1)
	}
	if len(content) == 0 {
		return endOfChain
	}
	(*table)[len(*table)-1] = endOfChain
	return first
}

func (f *file) put(content []byte) uint32 {
	content = pad(content, sectorSize)
	f.sectors = append(f.sectors, content...)
	return chain(&f.fat, content, sectorSize)
}

func pad(content []byte, size int) []byte {
	return append(slices.Clone(content), make([]byte, (size-len(content)%size)%size)...)
}

func numbers(list []uint32) []byte {
	var out []byte
	for _, n := range list {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	for len(out)%sectorSize != 0 {
		out = append(out, 0xff)
	}
	return out
}

func (f *file) directory() []byte {
	var out []byte
	for _, e := range f.entries {
		raw := make([]byte, 128)
		name := utf16.Encode([]rune(e.name))
		for i, unit := range name {
			binary.LittleEndian.PutUint16(raw[2*i:], unit)
		}
		binary.LittleEndian.PutUint16(raw[64:], uint16(2*len(name)+2))
		raw[66], raw[67] = e.kind, 1
		for i, n := range []uint32{noStream, e.right, e.child} {
			binary.LittleEndian.PutUint32(raw[68+4*i:], n)
		}
		if e.kind == 2 {
			binary.LittleEndian.PutUint32(raw[76:], noStream)
		}
		binary.LittleEndian.PutUint32(raw[116:], e.start)
		binary.LittleEndian.PutUint32(raw[120:], uint32(e.size))
		out = append(out, raw...)
	}
	for len(out)%sectorSize != 0 {
		unused := make([]byte, 128)
		copy(unused[68:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
		out = append(out, unused...)
	}
	return out
}

// file writes the header, which names up to 109 sectors of the table of sectors.
func (f *file) file(directory, miniFAT uint32) []byte {
	const perSector = sectorSize / 4
	tables := 1
	for (len(f.fat)+tables+perSector-1)/perSector > tables {
		tables++
	}
	first := len(f.fat)
	for range tables {
		f.fat = append(f.fat, fatSector)
	}
	header := make([]byte, sectorSize)
	copy(header, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	for at, n := range map[int]uint16{24: 0x3e, 26: 3, 28: 0xfffe, 30: 9, 32: 6} {
		binary.LittleEndian.PutUint16(header[at:], n)
	}
	for at, n := range map[int]uint32{44: uint32(tables), 48: directory, 56: miniCutoff, 60: miniFAT, 64: uint32(len(numbers(f.miniFAT)) / sectorSize), 68: endOfChain} {
		binary.LittleEndian.PutUint32(header[at:], n)
	}
	for i := range 109 {
		n := uint32(noStream)
		if i < tables {
			n = uint32(first + i)
		}
		binary.LittleEndian.PutUint32(header[76+4*i:], n)
	}
	return append(append(header, f.sectors...), numbers(f.fat)...)
}

// The bytes before the properties of each kind of object.
const (
	Root     = 32
	Embedded = 24
	Other    = 8 // recipients and attachments
)

// Object returns an object of a message: text properties are strings, in UTF-16; bytes are
// in the code page if their id has TypeString8, else binary; numbers and times are fixed.
func Object(header int, properties map[uint32]any) Storage {
	s := Storage{}
	fixed := make([]byte, header)
	for id, value := range properties {
		number, kind := uint64(0), uint32(3)
		switch v := value.(type) {
		case string:
			var text []byte
			for _, unit := range utf16.Encode([]rune(v)) {
				text = binary.LittleEndian.AppendUint16(text, unit)
			}
			s[fmt.Sprintf("__substg1.0_%04X001F", id)] = text
			continue
		case []byte:
			kind := uint32(0x0102)
			if id&TypeString8 == TypeString8 {
				kind = 0x1e
			}
			s[fmt.Sprintf("__substg1.0_%04X%04X", id&^TypeString8, kind)] = v
			continue
		case Storage:
			s[fmt.Sprintf("__substg1.0_%04X000D", id)] = v
			continue
		case time.Time:
			number, kind = uint64(v.Unix()+11644473600)*1e7, 0x40
		case int:
			number = uint64(v)
		}
		fixed = binary.LittleEndian.AppendUint32(fixed, id<<16|kind)
		fixed = binary.LittleEndian.AppendUint32(fixed, 6)
		fixed = binary.LittleEndian.AppendUint64(fixed, number)
	}
	s["__properties_version1.0"] = fixed
	return s
}

// TypeString8 marks the id of a text that is in the code page of the message.
const TypeString8 = 0x10000

// With adds storages to an object, numbered under a name: "attach" or "recip".
func (s Storage) With(name string, parts ...Storage) Storage {
	for i, p := range parts {
		s[fmt.Sprintf("__%s_version1.0_#%08X", name, i)] = p
	}
	return s
}
