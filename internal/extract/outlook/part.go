package outlook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	mailfile "github.com/cairn-rag/cairn/internal/extract/mail"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/jhillyerd/enmime/v2"
)

// bodiesOf returns the forms of the text of a message: as text, and as HTML.
func bodiesOf(o object) ([]*enmime.Part, error) {
	plain, err := o.text(propBody)
	if err != nil {
		return nil, err
	}
	hypertext, err := o.text(propHTML)
	if err != nil {
		return nil, err
	}
	if hypertext == "" {
		data, err := o.stream(propHTML, typeBinary)
		if err != nil {
			return nil, err
		}
		page := uint32(o.fixed[propInternetCodePage])
		if page == 0 {
			page = o.codePage
		}
		hypertext = decode(data, page)
	}
	if hypertext == "" {
		if plain, hypertext, err = rtfBody(o, plain); err != nil {
			return nil, err
		}
	}
	var bodies []*enmime.Part
	for _, b := range []struct{ kind, text string }{{"text/plain", plain}, {"text/html", hypertext}} {
		if strings.TrimSpace(b.text) == "" {
			continue
		}
		part := enmime.NewPart(b.kind)
		part.Charset, part.Content = "utf-8", []byte(b.text)
		part.Header.Set("Content-Type", b.kind+"; charset=utf-8")
		bodies = append(bodies, part)
	}
	return bodies, nil
}

// rtfBody returns the text of a message that is stored as RTF, unless it is known already.
func rtfBody(o object, plain string) (text, hypertext string, err error) {
	packed, err := o.stream(propRTF, typeBinary)
	if err != nil || packed == nil {
		return plain, "", err
	}
	unpacked, err := decompress(packed)
	if err != nil {
		if plain != "" {
			return plain, "", nil // it says the same
		}
		return "", "", damaged(err)
	}
	content, isHTML := readRTF(unpacked)
	switch {
	case isHTML:
		return plain, content, nil
	case plain != "":
		return plain, "", nil
	}
	return content, "", nil
}

// The ways in which an attachment is stored ([MS-OXCMSG], PidTagAttachMethod).
const (
	methodByValue  = 1
	methodEmbedded = 5
)

// attachment returns an attachment, nil for one that is not read.
func (r *reader) attachment(at string, codePage uint32, depth int) (*enmime.Part, error) {
	o, err := r.store.object(at, otherHeader, codePage)
	if err != nil {
		return nil, err
	}
	inside := path.Join(at, fmt.Sprintf("__substg1.0_%04X%04X", propContent, typeObject))
	if o.fixed[propMethod]&0xff == methodEmbedded || r.store.streams[path.Join(inside, propertyStream)] != nil {
		return r.embedded(inside, depth)
	}
	content, err := o.stream(propContent, typeBinary)
	if err != nil {
		return nil, err
	}
	if content == nil {
		if method := o.fixed[propMethod] & 0xff; method != methodByValue || o.store.folders[at] != nil {
			r.left++
		}
		return nil, nil
	}
	var texts [3]string
	for i, ids := range [][]uint16{{propFileName, propShortFileName, propName}, {propMediaType}, {propContentID}} {
		if texts[i], err = o.text(ids...); err != nil {
			return nil, err
		}
	}
	return filePart(texts[0], strings.ToLower(texts[1]), content, o.isInText(texts[2]))
}

// isInText reports whether the text of the message shows an attachment.
func (o object) isInText(contentID string) bool {
	const shownInHTML = 4
	return contentID != "" && (o.fixed[propFlags]&shownInHTML != 0 || o.fixed[propHidden]&1 != 0)
}

// filePart returns an attachment that is a file. A signed message is in a file as mail.
func filePart(name, mediaType string, content []byte, isInText bool) (*enmime.Part, error) {
	kind, _, _ := strings.Cut(mediaType, ";")
	switch kind = strings.TrimSpace(kind); {
	case kind == "multipart/signed":
		return mailfile.Parse(content)
	case strings.HasSuffix(strings.ToLower(name), ".rpmsg"):
		return nil, knowledge.Errorf(knowledge.CodeEncrypted, "the message is protected for its recipients; save it without protection and send it again")
	case kind == "" || !strings.Contains(kind, "/"):
		kind = "application/octet-stream"
		mediaType = kind
	}
	part := enmime.NewPart(kind)
	part.FileName, part.Content, part.Disposition = name, content, "attachment"
	part.Header.Set("Content-Type", mediaType)
	if isInText {
		part.Disposition = "inline"
	}
	if strings.HasSuffix(kind, "pkcs7-mime") {
		part.Disposition = "" // it is the message itself
	}
	return part, nil
}

// embedded returns a message inside the message as a mail.
func (r *reader) embedded(at string, depth int) (*enmime.Part, error) {
	root, err := r.message(at, embeddedHeader, depth+1)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := root.Encode(&b); err != nil {
		return nil, damaged(err)
	}
	const kind = "message/rfc822"
	part := enmime.NewPart(kind)
	part.Content, part.Disposition = b.Bytes(), "attachment"
	part.Header.Set("Content-Type", kind)
	return part, nil
}

// boundaryOf returns a boundary that is the same each time the message is read.
func boundaryOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return "part-" + hex.EncodeToString(sum[:16])
}
