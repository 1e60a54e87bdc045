package outlook

import (
	"net/mail"
	"path"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
	mailfile "github.com/cairn-rag/cairn/internal/extract/mail"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/jhillyerd/enmime/v2"
)

// The properties that are read ([MS-OXPROPS]).
const (
	propClass            = 0x001a
	propSubject          = 0x0037
	propSubmitted        = 0x0039
	propSenderOf         = 0x0042 // the name for which the message was sent
	propSenderOfEmail    = 0x0065
	propHeaders          = 0x007d
	propRecipientType    = 0x0c15
	propSender           = 0x0c1a
	propSenderEmail      = 0x0c1f
	propDisplayCc        = 0x0e03
	propDisplayTo        = 0x0e04
	propDelivered        = 0x0e06
	propBody             = 0x1000
	propRTF              = 0x1009
	propHTML             = 0x1013
	propMessageID        = 0x1035
	propName             = 0x3001
	propEmail            = 0x3003
	propContent          = 0x3701
	propShortFileName    = 0x3704
	propMethod           = 0x3705
	propFileName         = 0x3707
	propMediaType        = 0x370e
	propContentID        = 0x3712
	propFlags            = 0x3714
	propSMTP             = 0x39fe
	propInternetCodePage = 0x3fde
	propMessageCodePage  = 0x3ffd
	propSenderSMTP       = 0x5d01
	propSenderOfSMTP     = 0x5d02
	propHidden           = 0x7ffe
)

// The bounds of a message.
const (
	maxDepth   = 20     // of messages inside messages
	maxObjects = 10_000 // recipients and attachments
)

// reader reads one file.
type reader struct {
	store   *store
	objects int
	left    int // attachments that are not in the file, or of a kind that is not read
}

// Read reads a message. Errors are *knowledge.Error if the file is at fault.
func Read(s format.Source) (format.Result, error) {
	data, err := s.Bytes()
	if err != nil {
		return format.Result{}, err
	}
	st, err := open(data)
	if err != nil {
		return format.Result{}, err
	}
	r := &reader{store: st}
	root, err := r.message("", rootHeader, 0)
	if err != nil {
		return format.Result{}, err
	}
	result, err := mailfile.ReadParts(s, root)
	if err == nil && r.left > 0 {
		result.Layout.Warn(knowledge.WarnAttachments, nil, "%d attachments were not read: they are links or embedded objects; save them as files and send those", r.left)
	}
	return result, err
}

// message returns a message as the parts of a mail.
func (r *reader) message(at string, header, depth int) (*enmime.Part, error) {
	if depth > maxDepth {
		return nil, knowledge.Errorf(knowledge.CodeParseLimit, "messages are nested more than %d levels deep; send the inner ones as files", maxDepth)
	}
	o, err := r.store.object(at, header, 0)
	if err != nil {
		return nil, err
	}
	if len(o.fixed) == 0 && r.store.streams[path.Join(at, propertyStream)] == nil {
		return nil, damaged(nil)
	}
	root := enmime.NewPart("multipart/mixed")
	if root.Boundary, err = r.headers(o, root.Header.Set); err != nil {
		return nil, err
	}
	bodies, err := bodiesOf(o)
	if err != nil {
		return nil, err
	}
	addBodies(root, bodies)
	for _, name := range r.store.folders[at] {
		if !strings.HasPrefix(name, "__attach") {
			continue
		}
		if r.objects++; r.objects > maxObjects {
			return nil, tooMany()
		}
		part, err := r.attachment(path.Join(at, name), o.codePage, depth)
		if err != nil {
			return nil, err
		}
		if part != nil {
			root.AddChild(part)
		}
	}
	return root, nil
}

func tooMany() error {
	return knowledge.Errorf(knowledge.CodeParseLimit, "the message has more than %d recipients and attachments; split it", maxObjects)
}

// addBodies adds the forms of the text to a message.
func addBodies(root *enmime.Part, bodies []*enmime.Part) {
	parent := root
	if len(bodies) > 1 {
		parent = enmime.NewPart("multipart/alternative")
		parent.Boundary = root.Boundary + "-text"
		root.AddChild(parent)
	}
	for _, body := range bodies {
		parent.AddChild(body)
	}
}

// headers sets the headers of a message, and returns a boundary for its parts, which
// depends on the message alone.
func (r *reader) headers(o object, set func(name, value string)) (boundary string, err error) {
	lines := map[string]string{}
	for name, id := range map[string]uint16{"Subject": propSubject, "Message-Id": propMessageID, "Class": propClass, "Headers": propHeaders} {
		if lines[name], err = o.text(id); err != nil {
			return "", err
		}
	}
	from, err := o.sender()
	if err != nil {
		return "", err
	}
	lists, err := r.recipients(o)
	if err != nil {
		return "", err
	}
	subject := withoutPrefixMark(lines["Subject"])
	for _, h := range [][2]string{{"From", from}, {"To", lists[0]}, {"Cc", lists[1]}, {"Date", o.date(lines["Headers"])}, {"Subject", subject}, {"Message-Id", lines["Message-Id"]}} {
		if value := strings.Join(strings.Fields(h[1]), " "); value != "" {
			set(h[0], value)
		}
	}
	return boundaryOf(o.at, from, subject), nil
}

// withoutPrefixMark returns a subject without the mark that states how long its prefix
// ("Re: ") is.
func withoutPrefixMark(subject string) string {
	if runes := []rune(subject); len(runes) > 2 && runes[0] == 1 {
		return string(runes[2:])
	}
	return subject
}

// date returns the date of a message as its headers state it, else in UTC.
func (o object) date(headers string) string {
	if m, err := mail.ReadMessage(strings.NewReader(strings.TrimLeft(headers, "\r\n") + "\r\n\r\n")); err == nil {
		if date, err := m.Header.Date(); err == nil {
			return date.Format(time.RFC1123Z)
		}
	}
	if at := o.time(propSubmitted, propDelivered); !at.IsZero() {
		return at.Format(time.RFC1123Z)
	}
	return ""
}

// sender returns the address of the sender.
func (o object) sender() (string, error) {
	name, err := o.text(propSenderOf, propSender)
	if err != nil {
		return "", err
	}
	email, err := o.email(propSenderOfSMTP, propSenderSMTP, propSenderOfEmail, propSenderEmail)
	return address(name, email), err
}

// email returns the first property that is an address of the internet: Exchange has
// addresses of its own.
func (o object) email(ids ...uint16) (string, error) {
	for _, id := range ids {
		text, err := o.text(id)
		if err != nil || strings.Contains(text, "@") && !strings.ContainsAny(text, " /<>") {
			return text, err
		}
	}
	return "", nil
}

// address writes an address as mail has it.
func address(name, email string) string {
	switch name = strings.Trim(strings.TrimSpace(name), `'"`); {
	case email == "":
		return name
	case name == "" || name == email:
		return email
	}
	return (&mail.Address{Name: name, Address: email}).String()
}

// recipients returns the addresses in To and in Cc.
func (r *reader) recipients(o object) (lists [2]string, err error) {
	found := [2][]string{}
	for _, name := range r.store.folders[o.at] {
		if !strings.HasPrefix(name, "__recip") {
			continue
		}
		if r.objects++; r.objects > maxObjects {
			return lists, tooMany()
		}
		recipient, err := r.store.object(path.Join(o.at, name), otherHeader, o.codePage)
		if err != nil {
			return lists, err
		}
		shown, err := recipient.text(propName)
		if err != nil {
			return lists, err
		}
		email, err := recipient.email(propSMTP, propEmail)
		if err != nil {
			return lists, err
		}
		if kind := recipient.fixed[propRecipientType] & 0xf; kind == 1 || kind == 2 { // To, Cc; Bcc is not shown
			found[kind-1] = append(found[kind-1], address(shown, email))
		}
	}
	for i, id := range []uint16{propDisplayTo, propDisplayCc} {
		if lists[i] = strings.Join(found[i], ", "); lists[i] != "" {
			continue
		}
		if lists[i], err = o.text(id); err != nil {
			return lists, err
		}
	}
	return lists, nil
}
