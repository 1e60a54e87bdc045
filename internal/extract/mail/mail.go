package mail

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/jhillyerd/enmime/v2"
)

// maxMessages is the most messages of a mailbox (mbox) that are read.
const maxMessages = 10_000

// Read reads a message, or a mailbox of several. Errors are *knowledge.Error if the
// file is at fault.
func Read(s format.Source) (format.Result, error) {
	data, err := s.Bytes()
	if err != nil {
		return format.Result{}, err
	}
	messages := split(inUTF8(data))
	if len(messages) > maxMessages {
		return format.Result{}, knowledge.Errorf(knowledge.CodeTooLarge, "the mailbox has more than %d messages; split it", maxMessages)
	}
	w := writer{source: s}
	for _, message := range messages {
		root, err := parse(message)
		if err != nil {
			return format.Result{}, err
		}
		if err := w.message(root, len(messages) > 1); err != nil {
			return format.Result{}, err
		}
	}
	return w.result, nil
}

var statesUTF16 = regexp.MustCompile(`(?i)(charset\s*=\s*"?)utf-16(?:le|be)?`)

// inUTF8 returns a message that a program stored in UTF-16 as UTF-8, and others as they
// are, without a byte order mark.
func inUTF8(data []byte) []byte {
	isMarked := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
	if !isMarked && !charset.IsUnmarkedUTF16(data[:min(len(data), 1<<10)]) {
		return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	}
	text, err := charset.Decode(data, "")
	if err != nil {
		return data
	}
	return statesUTF16.ReplaceAll([]byte(text), []byte("${1}utf-8"))
}

// fromLine begins a message in a mailbox: "From ann@example.com Tue Mar  4 06:00:00 2025".
var fromLine = regexp.MustCompile(`(?m)(?:\A|\n\r?\n)From \S+ .*\d{4}.*\r?\n[A-Za-z][A-Za-z0-9-]*:`)

// split returns the messages of a mailbox, or the one message that a file is.
func split(data []byte) [][]byte {
	if !bytes.HasPrefix(data, []byte("From ")) {
		return [][]byte{data}
	}
	var messages [][]byte
	starts := fromLine.FindAllIndex(data, -1)
	for i, at := range starts {
		end := len(data)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		message := bytes.TrimLeft(data[at[0]:end], "\r\n")
		if _, rest, ok := bytes.Cut(message, []byte("\n")); ok { // without its From line
			messages = append(messages, rest)
		}
	}
	if len(messages) == 0 {
		_, rest, _ := bytes.Cut(data, []byte("\n"))
		return [][]byte{rest}
	}
	return messages
}

// withReadableHeaders returns a message whose headers are UTF-8, also if a program wrote them in
// another character set as they are.
func withReadableHeaders(data []byte) []byte {
	end := len(data)
	for _, blank := range []string{"\n\n", "\n\r\n"} {
		if at := bytes.Index(data, []byte(blank)); at >= 0 {
			end = min(end, at)
		}
	}
	if utf8.Valid(data[:end]) {
		return data
	}
	return append([]byte(readable(data[:end])), data[end:]...)
}

// parse returns the parts of a message. Text parts are UTF-8 if their character set is
// stated correctly or can be told.
func parse(data []byte) (*enmime.Part, error) {
	if err := checkParts(data); err != nil {
		return nil, err
	}
	parser := enmime.NewParser(
		enmime.SkipMalformedParts(true),
		enmime.MultipartWOBoundaryAsSinglePart(true),
		enmime.DisableCharacterDetection(true),
		enmime.SetReadPartErrorPolicy(func(*enmime.Part, error) bool { return true }), // keeps what came before the error
		enmime.MaxStoredPartErrors(1),
	)
	root, err := parser.ReadParts(bytes.NewReader(withReadableHeaders(data)))
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeCorrupt, "the message cannot be read; send it as a mail program exports it").WithCause(err)
	}
	return root, nil
}
