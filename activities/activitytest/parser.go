package activitytest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/subtitle"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Parser reads a file as paragraphs, and counts its calls.
type Parser struct {
	mu       sync.Mutex
	Calls    int
	Files    []string
	Last     extract.Input
	Err      error
	Children []string // names of the attachments of every file
	Parts    []string // contents of the parts into which every recording is cut; nil = it cannot be cut

	// Read replaces the reading of files that are not Markdown, if not nil.
	Read func(in extract.Input) (format.Result, error)
}

// Draw writes the bytes of the file, and the number of the page, as a picture.
func (p *Parser) Draw(_ context.Context, in extract.Input, d extract.Drawing) (string, error) {
	data, err := os.ReadFile(in.Path)
	if err != nil {
		return "", err
	}
	picture := fmt.Sprintf("\x89PNG\r\n\x1a\n%s page %d", data, d.Page)
	return "page", os.WriteFile(filepath.Join(in.Folder, "page"), []byte(picture), 0o600)
}

// Extract implements ingestion.Extractor.
func (p *Parser) Extract(_ context.Context, in extract.Input) (format.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Calls++
	p.Files, p.Last = append(p.Files, in.Path), in
	if p.Err != nil {
		return format.Result{}, p.Err
	}
	if extract.IsSpeech(in.MediaType) {
		return p.cut(in)
	}
	if p.Read != nil && in.MediaType != extract.TypeMarkdown {
		return p.Read(in)
	}
	data := in.Data
	if in.Path != "" {
		var err error
		if data, err = os.ReadFile(in.Path); err != nil {
			return format.Result{}, err
		}
	}
	layout := knowledge.Layout{MediaType: in.MediaType}
	if strings.HasPrefix(string(data), "WEBVTT") {
		layout, err := subtitle.Read(string(data))
		return format.Result{Layout: layout}, err
	}
	for text := range strings.SplitSeq(string(data), "\n\n") {
		layout.Blocks = append(layout.Blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: text})
	}
	result := format.Result{Layout: layout}
	for i, name := range p.Children {
		file := fmt.Sprintf("child-%d", i)
		if err := os.WriteFile(filepath.Join(in.Folder, file), []byte("Attachment "+name), 0o600); err != nil {
			return format.Result{}, err
		}
		result.Children = append(result.Children, format.File{Name: name, File: file})
	}
	return result, nil
}

// ExtractAll implements ingestion.TextExtractor.
func (p *Parser) ExtractAll(ctx context.Context, files []extract.Input, done func(int, format.Result, error)) error {
	for i, in := range files {
		result, err := p.Extract(ctx, in)
		done(i, result, err)
	}
	return nil
}

// cut returns the parts of a recording.
func (p *Parser) cut(in extract.Input) (result format.Result, err error) {
	if p.Parts == nil {
		return result, format.Tools{}.Missing("a recording", "ffmpeg", "ffmpeg")
	}
	for i, content := range p.Parts {
		name := fmt.Sprintf("part-%04d.mp3", i)
		if err := os.WriteFile(filepath.Join(in.Folder, name), []byte(content), 0o600); err != nil {
			return result, err
		}
		result.Assets = append(result.Assets, format.File{Name: name, File: name})
	}
	return result, nil
}
