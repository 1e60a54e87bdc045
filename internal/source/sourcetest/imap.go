package sourcetest

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// IMAP is a fake of an IMAP server with one mailbox: the files of a world are its messages. As
// messages never change, a file with another name or content is another message. Set its
// fields before it serves.
type IMAP struct {
	World    *World
	Username string
	Password string
	Mailbox  string
	// Sequences reports that the server numbers changes (CONDSTORE).
	Sequences bool

	mu       sync.Mutex
	validity int
	next     int
	changes  int
	messages []imapMessage
	flags    map[int][]string // by the ids of files
	count    int              // commands, since Commands was called
}

// imapMessage is a message of the mailbox.
type imapMessage struct {
	uid     int
	file    int
	version string
	text    string
	flags   []string
	change  int
}

// NewIMAP returns a server of a world.
func NewIMAP(w *World) *IMAP {
	return &IMAP{World: w, Username: "ann", Password: "app-password", Mailbox: "INBOX", Sequences: true, validity: 1, next: 1, flags: map[int][]string{}}
}

// Renumber changes the UIDVALIDITY of the mailbox and the numbers of all messages.
func (m *IMAP) Renumber() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.validity, m.next, m.messages = m.validity+1, 1, nil
}

// Flag sets the flags of the message of a file.
func (m *IMAP) Flag(file int, flags ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flags[file] = flags
}

// Commands returns how many commands the server got since it was asked last.
func (m *IMAP) Commands() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.count
	m.count = 0
	return n
}

// Message returns the message of a file with a name and a content.
func Message(file int, version, name, content string) string {
	return fmt.Sprintf("Message-Id: <%d.%s@example.org>\r\nDate: Mon, 02 Mar 2026 09:00:00 +0000\r\nFrom: ann@example.org\r\nSubject: %s\r\nReferences: <0@example.org> <1@example.org>\r\n\r\n%s",
		file, version, mime.QEncoding.Encode("utf-8", name), content)
}

// sync makes the mailbox what the world and the flags say.
func (m *IMAP) sync() {
	files := m.World.Files()
	m.messages = slices.DeleteFunc(m.messages, func(one imapMessage) bool {
		e, there := files[one.file]
		gone := !there || versionOf(e) != one.version
		if gone {
			m.changes++
		}
		return gone
	})
	there := map[int]bool{}
	for n, one := range m.messages {
		there[one.file] = true
		if !slices.Equal(one.flags, m.flags[one.file]) {
			m.changes++
			m.messages[n].flags, m.messages[n].change = m.flags[one.file], m.changes
		}
	}
	for _, file := range m.World.ids(false) {
		e, visible := files[file]
		if there[file] || !visible {
			continue
		}
		m.changes++
		m.messages = append(m.messages, imapMessage{
			uid: m.next, file: file, version: versionOf(e), text: Message(file, versionOf(e), e.Path, e.Content), flags: m.flags[file], change: m.changes,
		})
		m.next += 1 + file%3
	}
}

// versionOf changes with a file.
func versionOf(e Expected) string {
	return base64.RawURLEncoding.EncodeToString([]byte(e.Path + "." + e.Content))
}

// The faults of a service that does not speak HTTP: the ones of Place.Connect.
const (
	FaultBusy   = 0 // the service cannot do it now
	FaultSlow   = 1 // it asks for fewer requests
	FaultBroken = 2 // the connection breaks before the answer
	FaultHalf   = 3 // it breaks in the answer
)

// Dialer returns a function that connects to the server in this process. fault decides what
// happens to a command, nil = nothing.
func (m *IMAP) Dialer(fault func() int) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		if fault != nil && fault() == FaultBroken {
			return nil, errBroken
		}
		client, server := net.Pipe()
		go m.Serve(server, fault)
		return client, nil
	}
}

// Serve speaks with a client until one of them closes the connection.
func (m *IMAP) Serve(conn net.Conn, fault func() int) {
	defer conn.Close()
	s := &imapSession{IMAP: m, in: bufio.NewReader(conn), out: conn}
	s.say("* OK [CAPABILITY %s] ready\r\n", s.capabilities())
	for !s.ended {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		answer := 100
		if fault != nil {
			answer = fault()
		}
		switch answer {
		case FaultBusy:
			s.say("%s NO [UNAVAILABLE] try again\r\n", tag)
			continue
		case FaultSlow:
			s.say("%s NO [LIMIT] slow down\r\n", tag)
			continue
		case FaultBroken:
			return
		}
		text := s.answer(tag, command)
		if answer == FaultHalf {
			s.say("%s", text[:len(text)/2])
			return
		}
		s.say("%s", text)
	}
}

// imapSession is a conversation with a client.
type imapSession struct {
	*IMAP
	in     *bufio.Reader
	out    io.Writer
	opened int // UIDVALIDITY of the mailbox that is open, 0 = none
	ended  bool
}

// say writes to the client, which may have gone.
func (s *imapSession) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

func (s *imapSession) capabilities() string {
	if s.Sequences {
		return "IMAP4rev1 SASL-IR AUTH=XOAUTH2 CONDSTORE"
	}
	return "IMAP4rev1 SASL-IR AUTH=XOAUTH2"
}

// answer returns the answer to a command.
func (s *imapSession) answer(tag, command string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.sync()
	name, rest, _ := strings.Cut(command, " ")
	done := tag + " OK done\r\n"
	switch strings.ToUpper(name) {
	case "CAPABILITY":
		return "* CAPABILITY " + s.capabilities() + "\r\n" + done
	case "LOGIN":
		if rest != fmt.Sprintf("%q %q", s.Username, s.Password) {
			return tag + " NO [AUTHENTICATIONFAILED] no\r\n"
		}
	case "AUTHENTICATE":
		want := base64.StdEncoding.EncodeToString([]byte("user=" + s.Username + "\x01auth=Bearer " + s.Password + "\x01\x01"))
		if rest != "XOAUTH2 "+want {
			return tag + " NO [AUTHENTICATIONFAILED] no\r\n"
		}
	case "EXAMINE":
		mailbox := strings.Trim(strings.TrimSuffix(rest, " (CONDSTORE)"), `"`)
		if !strings.EqualFold(mailbox, s.Mailbox) {
			return tag + " NO [NONEXISTENT] no such mailbox\r\n"
		}
		s.opened = s.validity
		return s.mailbox() + tag + " OK [READ-ONLY] done\r\n"
	case "UID":
		if s.opened != s.validity { // as servers do when a mailbox is made anew
			s.ended = true
			return "* BYE the mailbox has changed\r\n"
		}
		action, rest, _ := strings.Cut(rest, " ")
		if strings.EqualFold(action, "SEARCH") {
			return s.search(rest) + done
		}
		return s.fetch(rest) + done
	case "LOGOUT":
		s.ended = true
	}
	return done
}

// mailbox describes the mailbox.
func (s *imapSession) mailbox() string {
	text := fmt.Sprintf("* FLAGS (\\Flagged \\Deleted \\Seen)\r\n* %d EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY %d] .\r\n* OK [UIDNEXT %d] .\r\n", len(s.messages), s.validity, s.next)
	if s.Sequences {
		return text + fmt.Sprintf("* OK [HIGHESTMODSEQ %d] .\r\n", s.changes+1)
	}
	return text + "* OK [NOMODSEQ] .\r\n"
}

// search answers a search by UID, MODSEQ, DELETED and UNDELETED.
func (s *imapSession) search(criteria string) string {
	words := strings.Fields(strings.Trim(criteria, "()"))
	text := "* SEARCH"
	for _, one := range s.messages {
		fits := true
		for n, word := range words {
			deleted := slices.Contains(one.flags, `\Deleted`)
			switch word {
			case "UID":
				fits = fits && s.within(words[n+1], one.uid)
			case "MODSEQ":
				since, _ := strconv.Atoi(words[n+1])
				fits = fits && one.change+1 >= since
			case "DELETED":
				fits = fits && deleted
			case "UNDELETED":
				fits = fits && !deleted
			}
		}
		if fits {
			text += " " + strconv.Itoa(one.uid)
		}
	}
	return text + "\r\n"
}

// within reports whether a set of numbers has one. As the protocol demands, "n:*" has the
// last message always.
func (s *imapSession) within(set string, uid int) bool {
	for part := range strings.SplitSeq(set, ",") {
		first, last, ranged := strings.Cut(part, ":")
		from, _ := strconv.Atoi(first)
		to, err := strconv.Atoi(last)
		if !ranged {
			to = from
		} else if err != nil { // *
			to = s.messages[len(s.messages)-1].uid
			from = min(from, to)
		}
		if uid >= from && uid <= to {
			return true
		}
	}
	return false
}

// fetch answers a fetch of flags, headers or whole messages.
func (s *imapSession) fetch(rest string) string {
	set, items, _ := strings.Cut(rest, " ")
	var text strings.Builder
	for n, one := range s.messages {
		if !s.within(set, one.uid) {
			continue
		}
		fmt.Fprintf(&text, "* %d FETCH (UID %d FLAGS (%s)", n+1, one.uid, strings.Join(one.flags, " "))
		if strings.Contains(items, "RFC822.SIZE") {
			fmt.Fprintf(&text, " INTERNALDATE \"02-Mar-2026 09:00:00 +0000\" RFC822.SIZE %d", len(one.text))
		}
		if _, fields, found := strings.Cut(items, "BODY.PEEK[HEADER.FIELDS "); found {
			fields, _, _ = strings.Cut(fields, "]")
			header, _, _ := strings.Cut(one.text, "\r\n\r\n")
			fmt.Fprintf(&text, " BODY[HEADER.FIELDS %s] {%d}\r\n%s\r\n\r\n", fields, len(header)+4, header)
		} else if strings.Contains(items, "BODY.PEEK[]") {
			fmt.Fprintf(&text, " BODY[] {%d}\r\n%s", len(one.text), one.text)
		}
		text.WriteString(")\r\n")
	}
	return text.String()
}
