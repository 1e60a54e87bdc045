package mail

import (
	"bytes"
	"fmt"
	"net/textproto"
	"path"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/jhillyerd/enmime/v2"
)

// writer collects the result of a file.
type writer struct {
	source format.Source
	result format.Result
	files  int // written to the folder
}

// message adds a message. In a mailbox its subject becomes a heading.
func (w *writer) message(root *enmime.Part, inMailbox bool) error {
	var m message
	m.add(root)
	metadata, lead := headers(root.Header)
	layout := &w.result.Layout
	if inMailbox {
		layout.Blocks = append(layout.Blocks, knowledge.Block{Kind: knowledge.BlockHeading, Level: 1, Text: metadata["subject"]})
	} else {
		layout.Title, layout.Metadata = metadata["subject"], metadata
	}
	layout.Blocks = append(layout.Blocks, lead)
	before := len(layout.Blocks)
	for _, body := range m.bodies {
		layout.Blocks = append(layout.Blocks, blocksOf(body)...)
	}
	if m.isEncrypted && len(layout.Blocks) == before {
		return knowledge.Errorf(knowledge.CodeEncrypted, "the message is encrypted for its recipient; decrypt it in a mail program and send it again")
	}
	for _, p := range m.pictures {
		if err := w.picture(p); err != nil {
			return err
		}
	}
	for _, p := range m.attachments {
		if err := w.attachment(p); err != nil {
			return err
		}
	}
	return nil
}

// smallPicture is the size in bytes up to which a picture is decoration, or counts the
// readers of the message.
const smallPicture = 1 << 10

// picture adds a picture that belongs to the text.
func (w *writer) picture(p *enmime.Part) error {
	if len(p.Content) <= smallPicture {
		return nil
	}
	file, err := w.write(p)
	if err != nil {
		return err
	}
	file.Name = file.File
	w.result.Assets = append(w.result.Assets, file)
	w.result.Layout.Blocks = append(w.result.Layout.Blocks, knowledge.Block{Kind: knowledge.BlockFigure, Figure: file.Name})
	return nil
}

// attachment adds a file that becomes a document of its own.
func (w *writer) attachment(p *enmime.Part) error {
	if len(bytes.TrimSpace(p.Content)) == 0 {
		return nil
	}
	file, err := w.write(p)
	if err != nil {
		return err
	}
	file.Name = attachmentName(p, len(w.result.Children)+1)
	w.result.Children = append(w.result.Children, file)
	return nil
}

// write writes the content of a part to the folder of the result.
func (w *writer) write(p *enmime.Part) (format.File, error) {
	w.files++
	name := fmt.Sprintf("part-%d%s", w.files, extensions[contentType(p)])
	f, err := w.source.Create(name)
	if err != nil {
		return format.File{}, err
	}
	_, err = f.Write(p.Content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return format.File{}, fmt.Errorf("write a part of the message: %w", err)
	}
	return format.File{File: name, MediaType: contentType(p)}, nil
}

// attachmentName returns the name of an attachment without folders. A message inside
// the message is named by its subject.
func attachmentName(p *enmime.Part, number int) string {
	name := path.Base(strings.ReplaceAll(readable([]byte(p.FileName)), `\`, "/"))
	if name != "." && name != "/" {
		return name
	}
	kind := contentType(p)
	if kind == messageType {
		if inner, err := enmime.DecodeHeaders(p.Content); err == nil {
			if subject := header(textproto.MIMEHeader(inner), "Subject"); subject != "" {
				return strings.ReplaceAll(subject, "/", "-") + ".eml"
			}
		}
	}
	return fmt.Sprintf("attachment %d%s", number, extensions[kind])
}

const messageType = "message/rfc822"

// extensions are the extensions of parts that often have no name.
var extensions = map[string]string{
	messageType: ".eml", "text/plain": ".txt", "text/html": ".html", "text/calendar": ".ics", "text/csv": ".csv",
	"application/pdf": ".pdf", "image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif",
}
