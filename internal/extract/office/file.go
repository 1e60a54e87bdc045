package office

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // sizes of pictures
	_ "image/jpeg" // sizes of pictures
	_ "image/png"  // sizes of pictures
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxFigures  = 1000
	maxChildren = 1000
	// smallest is the width and height in pixels below which a picture is an icon,
	// a bullet or a line.
	smallest = 32
)

// fileName matches alternative texts that programs make of the name of a file.
var fileName = regexp.MustCompile(`(?i)^\S+\.(png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)$`)

// Opener opens a file inside a document.
type Opener func() (io.ReadCloser, error)

// Figure adds a picture of the document with its alternative text. path identifies
// the picture in the document: one that is used again is stored once, and its
// second block is left out unless it has another text. Pictures of kinds that browsers do not
// show, and very small ones, are not stored: their text is a block all the same.
func (d *Document) Figure(path, alt string, open Opener) error {
	asset, known := d.figures[path]
	if !known {
		var err error
		if asset, err = d.store(open); err != nil {
			return err
		}
		d.figures[path] = asset
	}
	if alt = Tidy(alt); fileName.MatchString(alt) {
		alt = ""
	}
	block := knowledge.Block{Kind: knowledge.BlockFigure, Text: alt, Figure: asset}
	if key := "figure\n" + path + "\n" + block.Text; (block.Text != "" || block.Figure != "") && !d.furniture[key] {
		d.furniture[key] = true
		d.append(block)
	}
	return nil
}

// store writes a picture to the folder of the result. It returns the name of the
// asset, "" if the picture is not kept.
func (d *Document) store(open Opener) (asset string, err error) {
	if d.source.Folder == "" || len(d.Result.Assets) >= maxFigures {
		return "", nil
	}
	r, err := open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, err := buffered.Peek(64 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	mediaType, extension := pictureType(head)
	if extension == "" {
		return "", nil
	}
	if size, _, err := image.DecodeConfig(bytes.NewReader(head)); err == nil && (size.Width < smallest || size.Height < smallest) {
		return "", nil
	}
	asset = fmt.Sprintf("figure-%d.%s", len(d.Result.Assets)+1, extension)
	if err := d.write(asset, buffered); err != nil {
		return "", err
	}
	d.Result.Assets = append(d.Result.Assets, format.File{Name: asset, MediaType: mediaType, File: asset})
	return asset, nil
}

// pictureType returns the media type and the extension of a picture that is kept.
func pictureType(head []byte) (mediaType, extension string) {
	if bytes.HasPrefix(head, []byte("II*\x00")) || bytes.HasPrefix(head, []byte("MM\x00*")) {
		return "image/tiff", "tiff"
	}
	switch mediaType = http.DetectContentType(head); mediaType {
	case "image/png":
		return mediaType, "png"
	case "image/jpeg":
		return mediaType, "jpg"
	case "image/gif":
		return mediaType, "gif"
	case "image/webp":
		return mediaType, "webp"
	}
	return "", ""
}

// Attach adds a document that is embedded in this one, with the name that this one
// gives it.
func (d *Document) Attach(name string, open Opener) error {
	if d.source.Folder == "" {
		return nil
	}
	if len(d.Result.Children) >= maxChildren {
		return knowledge.Errorf(knowledge.CodeParseLimit, "more than %d documents are embedded in the document; split it", maxChildren)
	}
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	file := fmt.Sprintf("child-%d", len(d.Result.Children)+1)
	if err := d.write(file, r); err != nil {
		return err
	}
	name = filepath.Base(strings.ReplaceAll(name, `\`, "/"))
	d.Result.Children = append(d.Result.Children, format.File{Name: name, File: file})
	return nil
}

// write writes a file of the result.
func (d *Document) write(name string, r io.Reader) error {
	f, err := d.source.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the folder goes with the result anyway
		return fmt.Errorf("write a file of the result: %w", err)
	}
	return nil
}
