package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// pageResolution is fine enough to read small print, in pixels of an inch.
const pageResolution = 144

// marked returns the page on which the quotation stands, or else the passage begins, and
// the boxes there. The page is 0 in a format without pages.
func (p passage) marked() (page int, boxes []knowledge.Box) {
	all := p.quotation.Boxes
	if len(all) == 0 {
		all = p.chunk.Boxes
	}
	for _, b := range all {
		if page == 0 {
			page = b.Page
		}
		if b.Page == page {
			boxes = append(boxes, b.Box)
		}
	}
	return page, boxes
}

// savePage writes the picture of the passage's page, with the passage marked, to a new
// file, and returns its path. The server draws it.
func (p passage) savePage(ctx context.Context, c *client.Client) (string, error) {
	page, boxes := p.marked()
	if page == 0 {
		return "", errors.New("the passage is on no page: PDF files and pictures have pages, and texts and slides of office programs where LibreOffice is installed on the server")
	}
	picture, err := c.Page(ctx, p.chunk.DocumentID, page, pageResolution, boxes)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", fmt.Sprintf("cairn-page-%d-*.png", page))
	if err != nil {
		return "", fmt.Errorf("make a file for the page: %w", err)
	}
	_, err = file.Write(picture)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write the page to %s: %w", file.Name(), err)
	}
	return file.Name(), nil
}

// viewFile shows a file in the program that this machine has for it, if it has one and a
// screen.
func viewFile(ctx context.Context, path string) {
	viewer := "xdg-open"
	switch runtime.GOOS {
	case "darwin":
		viewer = "open"
	case "windows":
		viewer = "explorer"
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), viewer, path) // it stays when the command ends
	if command.Start() == nil {
		_ = command.Process.Release() // nobody waits for it
	}
}
