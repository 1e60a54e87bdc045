package outlook

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/ole"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/richardlehane/mscfb"
)

// The types of properties that are read.
const (
	typeObject  = 0x000d
	typeString8 = 0x001e // in the code page of the message
	typeUnicode = 0x001f // UTF-16
	typeBinary  = 0x0102
)

const propertyStream = "__properties_version1.0"

// store is a compound file.
type store struct {
	streams map[string]*mscfb.File
	folders map[string][]string // names of the storages in a storage
	left    int64               // bytes that may still be read; streams may claim the same ones
}

func open(data []byte) (*store, error) {
	c, err := ole.Open(bytes.NewReader(data))
	if err != nil {
		return nil, damaged(err)
	}
	s := &store{streams: map[string]*mscfb.File{}, folders: map[string][]string{}, left: 2*int64(len(data)) + 1<<20}
	for _, f := range c.File {
		parent := strings.Join(f.Path, "/")
		if f.Size > 0 {
			s.streams[path.Join(parent, f.Name)] = f
		} else if strings.HasPrefix(f.Name, "__") {
			s.folders[parent] = append(s.folders[parent], f.Name)
		}
	}
	return s, nil
}

func damaged(cause error) error {
	return knowledge.Errorf(knowledge.CodeCorrupt, "the message is damaged; open it in Outlook, save it again and send the new file").WithCause(cause)
}

// bytes returns the content of a stream, nil if there is none.
func (s *store) bytes(name string) ([]byte, error) {
	f := s.streams[name]
	if f == nil {
		return nil, nil
	}
	if s.left -= f.Size; s.left < 0 {
		return nil, damaged(fmt.Errorf("stream %s has %d bytes", name, f.Size))
	}
	data := make([]byte, f.Size)
	_, err := f.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(f, data)
	}
	if err != nil {
		return nil, damaged(err)
	}
	return data, nil
}

// object is a message, a recipient or an attachment: a storage with properties.
type object struct {
	store    *store
	at       string            // path of the storage
	fixed    map[uint16]uint64 // properties that are numbers, by their id
	codePage uint32            // of its texts that are not in UTF-16
}

// The bytes before the properties of each kind of object.
const (
	rootHeader     = 32
	embeddedHeader = 24
	otherHeader    = 8
)

// object reads the properties of a storage.
func (s *store) object(at string, header int, codePage uint32) (object, error) {
	o := object{store: s, at: at, fixed: map[uint16]uint64{}, codePage: codePage}
	data, err := s.bytes(path.Join(at, propertyStream))
	if err != nil || len(data) < header {
		return o, err
	}
	const entry = 16 // bytes: type, id, flags, value
	for data = data[header:]; len(data) >= entry; data = data[entry:] {
		o.fixed[binary.LittleEndian.Uint16(data[2:])] = binary.LittleEndian.Uint64(data[8:])
	}
	for _, id := range []uint16{propMessageCodePage, propInternetCodePage} {
		if page := uint32(o.fixed[id]); page != 0 && o.codePage == 0 {
			o.codePage = page
		}
	}
	return o, nil
}

func (o object) stream(id, kind uint16) ([]byte, error) {
	return o.store.bytes(path.Join(o.at, fmt.Sprintf("__substg1.0_%04X%04X", id, kind)))
}

// text returns the first of some properties that has a text.
func (o object) text(ids ...uint16) (string, error) {
	for _, id := range ids {
		data, err := o.stream(id, typeUnicode)
		if err != nil {
			return "", err
		}
		text := utf16Text(data)
		if data == nil {
			if data, err = o.stream(id, typeString8); err != nil {
				return "", err
			}
			text = decode(data, o.codePage)
		}
		if strings.TrimSpace(text) != "" {
			return text, nil
		}
	}
	return "", nil
}

func utf16Text(data []byte) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return strings.TrimRight(string(utf16.Decode(units)), "\x00")
}

// time returns a time, zero if there is none.
func (o object) time(ids ...uint16) time.Time {
	const tick, unix = 100 * time.Nanosecond, 11644473600 // seconds from 1601 to 1970
	for _, id := range ids {
		if ticks := o.fixed[id]; ticks > unix*uint64(time.Second/tick) && ticks < 1<<62 {
			perSecond := uint64(time.Second / tick)
			return time.Unix(int64(ticks/perSecond)-unix, 0).UTC()
		}
	}
	return time.Time{}
}

// decode returns text of a code page. One that is not known, or not stated, is found out.
func decode(data []byte, codePage uint32) string {
	data = bytes.TrimRight(data, "\x00")
	for _, set := range []string{charsetOf(codePage), "", "windows-1252"} {
		if text, err := charset.Decode(data, set); err == nil {
			return text
		}
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

// charsetOf returns the name of a code page, "" if it is not known.
func charsetOf(codePage uint32) string {
	switch {
	case codePage == 874 || codePage >= 1250 && codePage <= 1258:
		return fmt.Sprintf("windows-%d", codePage)
	case codePage >= 28592 && codePage <= 28605:
		return fmt.Sprintf("iso-8859-%d", codePage-28590)
	}
	return map[uint32]string{
		866: "ibm866", 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 10000: "macintosh", 20127: "windows-1252",
		20866: "koi8-r", 20932: "euc-jp", 21866: "koi8-u", 28591: "windows-1252", 50220: "iso-2022-jp", 50221: "iso-2022-jp",
		50222: "iso-2022-jp", 51932: "euc-jp", 51936: "gbk", 51949: "euc-kr", 54936: "gb18030", 65001: "utf-8",
	}[codePage]
}
