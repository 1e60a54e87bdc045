package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
)

// File is a file that comes with a question.
type File struct {
	Name string
	Open func() (io.ReadCloser, error) // as Upload.Open
}

// sendForm sends a form: the fields of a JSON object, and files, none of which it holds in
// memory.
func (c *Client) sendForm(ctx context.Context, path string, query url.Values, header http.Header, object []byte, files []File) (*http.Response, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	header.Set("Content-Type", form.FormDataContentType())
	written := make(chan error, 1)
	go func() {
		err := writeFields(form, fields)
		for i := 0; i < len(files) && err == nil; i++ {
			err = files[i].write(form)
		}
		err = errors.Join(err, form.Close())
		writer.CloseWithError(err)
		written <- err
	}()
	res, err := c.send(ctx, http.MethodPost, path, query, header, reader)
	_ = reader.Close() // ends the writer when the server answers early
	if readErr := <-written; readErr != nil && !errors.Is(readErr, io.ErrClosedPipe) {
		if err == nil {
			res.Body.Close()
		}
		return nil, readErr // reading a file failed; the server received a part of the form
	}
	return res, err
}

// writeFields writes text as it is, and everything else as JSON.
func writeFields(form *multipart.Writer, fields map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := string(fields[name])
		var text string
		if json.Unmarshal(fields[name], &text) == nil {
			value = text
		}
		if err := form.WriteField(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (f File) write(form *multipart.Writer) error {
	content, err := f.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	part, err := form.CreateFormFile("files", f.Name)
	if err != nil {
		return err
	}
	_, err = io.Copy(part, content)
	return err
}
