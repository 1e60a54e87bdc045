package git

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The lengths of the packets that have no data.
const (
	flush     = 0 // the end of a message
	delimiter = 1 // the end of a section
)

// maxPacket is the largest packet, with its length.
const maxPacket = 65520

// errProtocol is the cause of the error for an answer that is not Git's.
var errProtocol = errors.New("the answer is not one of Git's protocol")

// errRefused is the error of a server that does not have what it was asked for, or does not
// give it.
var errRefused = errors.New("the server does not have the object")

// packets reads packets: four hexadecimal digits with the length, and the data.
type packets struct {
	in   *bufio.Reader
	data []byte
}

func newPackets(r io.Reader) *packets { return &packets{in: bufio.NewReader(r)} }

// next returns the next packet: its data, which the next call overwrites, or nil and the
// length of a packet without data. A stream that ends is io.ErrUnexpectedEOF, because each
// message ends with a flush.
func (p *packets) next() (data []byte, special int, err error) {
	var head [4]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, 0, err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	switch {
	case err != nil || n > maxPacket || n == 3:
		return nil, 0, errProtocol
	case n < 4:
		return nil, int(n), nil
	}
	if p.data == nil {
		p.data = make([]byte, maxPacket)
	}
	data = p.data[:n-4]
	if _, err := io.ReadFull(p.in, data); err != nil {
		return nil, 0, io.ErrUnexpectedEOF
	}
	if strings.HasPrefix(string(data[:min(len(data), 4)]), "ERR ") {
		return nil, 0, errRefused
	}
	return data, -1, nil
}

// line returns the next packet as a line of text; more is false at the end of a section.
func (p *packets) line() (text string, more bool, err error) {
	data, special, err := p.next()
	return strings.TrimSuffix(string(data), "\n"), special == -1, err
}

// request returns the message of a command of version 2.
func request(command string, arguments ...string) []byte {
	var b strings.Builder
	for _, line := range []string{"command=" + command, "agent=cairn", "object-format=sha1"} {
		fmt.Fprintf(&b, "%04x%s\n", len(line)+5, line)
	}
	b.WriteString("0001")
	for _, line := range arguments {
		fmt.Fprintf(&b, "%04x%s\n", len(line)+5, line)
	}
	b.WriteString("0000")
	return []byte(b.String())
}

// The channels of the packets that carry a pack.
const (
	channelPack  = 1
	channelError = 3
)

// packOf returns the bytes of the pack in the answer to a fetch.
func packOf(r io.Reader) (io.Reader, error) {
	p := newPackets(r)
	for {
		text, more, err := p.line()
		if err != nil {
			return nil, err
		}
		if more && text == "packfile" {
			return &channel{packets: p}, nil
		}
	}
}

// channel reads the data of a channel.
type channel struct {
	*packets
	left []byte
	done bool
}

// Read implements io.Reader.
func (c *channel) Read(into []byte) (int, error) {
	for len(c.left) == 0 {
		if c.done {
			return 0, io.EOF
		}
		data, special, err := c.next()
		switch {
		case err != nil:
			return 0, err
		case special == flush:
			c.done = true
		case len(data) == 0 || data[0] == channelError:
			return 0, errRefused
		case data[0] == channelPack:
			c.left = data[1:]
		}
	}
	n := copy(into, c.left)
	c.left = c.left[n:]
	return n, nil
}
