package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/paged"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// PageDrawer draws the pages of documents.
type PageDrawer interface {
	paged.Converter
	// Draw draws a page of a file as a PNG of the name that it returns, in the folder
	// of the input. It blocks until there is a free process for it. A page that the
	// file does not have is CodeNotFound.
	Draw(ctx context.Context, in extract.Input, d extract.Drawing) (name string, err error)
}

// keptResolutions are those whose pictures are stored. Others are drawn again for
// each request, so that the pictures of a page do not grow without a bound.
var keptResolutions = []int{72, 96, 144, 150, 192, 200, 300}

// pagePath names a page of a document.
type pagePath struct {
	DocumentPath
	File        string   `path:"page" pattern:"^[1-9][0-9]{0,4}\\.png$" maxLength:"9" example:"1.png" doc:"The page number with .png; 1.png is the first page"`
	Resolution  int      `query:"dpi" minimum:"36" maximum:"300" default:"96" doc:"Resolution, in pixels per inch"`
	Boxes       []string `query:"box,explode" maxItems:"50" doc:"A box to mark on the page, x1,y1,x2,y2 in points from the top left as in bbox; may be repeated"`
	IfNoneMatch string   `header:"If-None-Match" doc:"The ETag of the picture that the client already has"`
}

func (p *pagePath) drawing() (extract.Drawing, error) {
	number, _ := strconv.Atoi(strings.TrimSuffix(p.File, ".png")) // it matches the pattern
	d := extract.Drawing{Page: number, Resolution: p.Resolution}
	for i, text := range p.Boxes {
		var box knowledge.Box
		if json.Unmarshal([]byte("["+text+"]"), &box) != nil || strings.Count(text, ",") != 3 {
			return d, knowledge.Invalid(fmt.Sprintf("query.box[%d]", i), "must be x1,y1,x2,y2 in points")
		}
		d.Boxes = append(d.Boxes, box)
	}
	return d, nil
}

// pagePictureRoutes holds the route of the pictures of pages.
type pagePictureRoutes struct {
	originals *originals
	pages     *documentPages
	blobs     Blobs
	drawer    PageDrawer
	tempDir   string
}

func (ppr *pagePictureRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-document-page", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/documents/{id}/pages/{page}",
		Summary: "Render a page of a document as a picture", Tags: []string{"documents"},
		Responses: map[string]*huma.Response{
			"200": {
				Description: "The page as PNG. A very large page is drawn in a lower resolution",
				Content:     map[string]*huma.MediaType{"image/png": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
			},
			"304": {Description: "Not modified: If-None-Match has the ETag of the picture"},
		},
	}}, ppr.pagePicture)
}

// pagePicture serves the picture of a page of the version that the principal may
// read. A version never changes, so its number and the drawing make the ETag.
func (ppr *pagePictureRoutes) pagePicture(ctx context.Context, p knowledge.Principal, in *pagePath) (*huma.StreamResponse, error) {
	v, err := ppr.originals.readableVersion(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	d, err := in.drawing()
	if err != nil {
		return nil, err
	}
	tag := fmt.Sprintf(`"%d-%d-%d%s"`, v.Version, d.Page, d.Resolution, boxesTag(in.Boxes))
	if matches(in.IfNoneMatch, tag) {
		return pageResponse(http.StatusNotModified, tag, nil), nil
	}
	if err := ppr.checkPrivacy(ctx, v, d.Page); err != nil {
		return nil, err
	}
	picture, err := ppr.page(ctx, p, v, d)
	if err != nil {
		return nil, err
	}
	audit.Left(ctx, v.Document)
	return pageResponse(http.StatusOK, tag, picture), nil
}

// checkPrivacy refuses the picture of a page that shows what was redacted. A version that
// has no report yet shows none of its pages.
func (ppr *pagePictureRoutes) checkPrivacy(ctx context.Context, v store.Version, page int) error {
	if !v.Enrichment.Privacy.Redacts() {
		return nil
	}
	var report privacy.Report
	err := ppr.blobs.GetJSON(ctx, parsed.PrivacyKey(v.VersionRef), &report)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("read the personal data of document %s: %w", v.Document, err)
	}
	if err != nil || slices.Contains(report.Pages, page) || slices.Contains(report.Pages, 0) {
		return knowledge.Errorf(knowledge.CodeForbidden, "page %d of document %q shows personal data that was redacted: read documents/{id}/parsed", page, v.Document)
	}
	return nil
}

// boxesTag is the part of an ETag that stands for the boxes on a page, "" without any.
func boxesTag(boxes []string) string {
	if len(boxes) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(boxes, ";")))
	return "-" + hex.EncodeToString(sum[:8])
}

// matches reports whether an If-None-Match names a tag.
func matches(header, tag string) bool {
	for named := range strings.SplitSeq(header, ",") {
		if named = strings.TrimPrefix(strings.TrimSpace(named), "W/"); named == tag || named == "*" {
			return true
		}
	}
	return false
}

func pageResponse(status int, tag string, picture []byte) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("ETag", tag)
		out.SetHeader("Cache-Control", "private, no-cache") // the client asks again, so that a permission that ends is felt
		if status == http.StatusOK {
			out.SetHeader("Content-Type", "image/png")
			out.SetHeader("Content-Length", strconv.Itoa(len(picture)))
		}
		out.SetStatus(status)
		_, _ = out.BodyWriter().Write(picture) // the client may be gone
	}}
}

// page returns the stored picture of a page, or draws and stores it. One with boxes is
// drawn each time.
func (ppr *pagePictureRoutes) page(ctx context.Context, p knowledge.Principal, v store.Version, d extract.Drawing) ([]byte, error) {
	if len(d.Boxes) > 0 {
		return ppr.drawPage(ctx, p, v, d)
	}
	key := blob.StepKey(v.VersionRef, fmt.Sprintf("pages/%d-%d.png", d.Page, d.Resolution))
	stored, _, err := ppr.blobs.Open(ctx, key)
	if err == nil {
		defer stored.Close()
		return io.ReadAll(stored)
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("open the picture of a page: %w", err)
	}
	picture, err := ppr.drawPage(ctx, p, v, d)
	if err != nil || !slices.Contains(keptResolutions, d.Resolution) {
		return picture, err
	}
	if _, err := ppr.blobs.PutReader(ctx, key, bytes.NewReader(picture)); err != nil {
		return nil, fmt.Errorf("store the picture of a page: %w", err)
	}
	// A removal may have deleted the other bytes of the version meanwhile.
	if now, err := ppr.originals.readableVersion(ctx, p, v.Document); err != nil || now.Version != v.Version {
		return picture, ppr.blobs.Delete(context.WithoutCancel(ctx), key)
	}
	return picture, nil
}

// openPages opens the file whose pages a document has: its original, or the PDF that
// LibreOffice makes of an office document. in names its kind.
func (ppr *pagePictureRoutes) openPages(ctx context.Context, p knowledge.Principal, v store.Version) (pages io.ReadCloser, in extract.Input, err error) {
	f, _ := extract.FormatOf(v.MediaType)
	if f.IsDrawn() {
		original, err := ppr.originals.open(ctx, v)
		return original, extract.Input{Name: v.Name, MediaType: v.MediaType}, err
	}
	if !extract.MakesPages(v.MediaType) {
		return nil, in, noPictures(v, "PDF files, pictures and office documents have")
	}
	in = extract.Input{Name: extract.PagesAsset, MediaType: extract.TypePDF}
	pages, _, err = ppr.blobs.Open(ctx, paged.PDFKey(v.VersionRef))
	if !errors.Is(err, blob.ErrNotFound) {
		return pages, in, err
	}
	if _, err := ppr.pages.made(ctx, p, v); err != nil {
		if reason := unavailable(err); reason != nil {
			return nil, in, noPictures(v, reason.Message).WithCause(err)
		}
		return nil, in, err
	}
	pages, _, err = ppr.blobs.Open(ctx, paged.PDFKey(v.VersionRef))
	return pages, in, err
}

// noPictures returns the error of a document without pictures of its pages.
func noPictures(v store.Version, why string) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeNotFound, "document %q has no pictures of its pages: %s", v.Document, why)
}

// drawPage draws a page of a document.
func (ppr *pagePictureRoutes) drawPage(ctx context.Context, p knowledge.Principal, v store.Version, d extract.Drawing) ([]byte, error) {
	original, in, err := ppr.openPages(ctx, p, v)
	if err != nil {
		return nil, err
	}
	defer original.Close()
	in, remove, err := localInput(in, ppr.tempDir, v.Document, original)
	if err != nil {
		return nil, err
	}
	defer remove()
	name, err := ppr.drawer.Draw(ctx, in, d)
	if knowledge.IsCode(err, knowledge.CodeEncrypted) {
		return nil, knowledge.Errorf(knowledge.CodeEncrypted, "%s", encryptedPages).WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("draw page %d of document %s: %w", d.Page, v.Document, err)
	}
	return os.ReadFile(filepath.Join(in.Folder, filepath.Base(name)))
}

// localInput copies a file of a document into a new folder below tempDir, which remove
// removes, and returns the input of a parser with both.
func localInput(in extract.Input, tempDir, document string, from io.Reader) (local extract.Input, remove func(), err error) {
	folder, err := os.MkdirTemp(tempDir, "cairn-file-*")
	if err != nil {
		return in, nil, fmt.Errorf("make a folder for document %s: %w", document, err)
	}
	remove = func() { _ = os.RemoveAll(folder) } // a leftover in the temporary folder harms nobody
	in.Path, in.Folder = filepath.Join(folder, "original"), folder
	if err := writeFile(in.Path, from); err != nil {
		remove()
		return in, nil, fmt.Errorf("make a local copy of document %s: %w", document, err)
	}
	return in, remove, nil
}

func writeFile(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
