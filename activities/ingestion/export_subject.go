package ingestion

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// ExportName is the name of the file that an export leaves.
const ExportName = "export.zip"

// The sizes of the pages of an export.
const (
	exportedDocuments = 50
	exportedRuns      = 50
	exportedTalks     = 20 // conversations
	exportedEntries   = 500
)

// exports is the part of the store that reads what a person left, page by page.
type exports interface {
	SubjectProfileOf(ctx context.Context, scope store.SubjectScope) (store.SubjectProfile, error)
	SubjectDocuments(ctx context.Context, scope store.SubjectScope, after string, limit int) ([]knowledge.Document, error)
	SubjectVersions(ctx context.Context, workspace, document string) ([]store.Version, error)
	SubjectConversations(ctx context.Context, scope store.SubjectScope, after string, limit int) ([]store.SubjectConversation, error)
	SubjectAudit(ctx context.Context, scope store.SubjectScope, after string, limit int) (entries []json.RawMessage, last string, err error)
	// NoteExported stores what an export has written.
	NoteExported(ctx context.Context, ref knowledge.RunRef, p knowledge.ExportProgress) error
}

// ExportStep names a page of an export: a section, the place in it, and the number of the part
// that the page writes.
type ExportStep struct {
	SubjectStep
	Section  int                      `json:"section"`
	Part     int                      `json:"part"`
	Progress knowledge.ExportProgress `json:"progress"`
}

// ExportResult is the next page of an export. Done says that there is none.
type ExportResult struct {
	ExportStep
	Done bool `json:"done,omitempty"`
}

// exportFile is a file of an export: data, or the blob under a key.
type exportFile struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data,omitempty"`
	Key  string          `json:"key,omitempty"`
}

// exportPage is what a section returns: files, and the place of the last thing, "" = there was
// none.
type exportPage struct {
	files []exportFile
	last  string
	n     int // of the things
}

func (p *exportPage) add(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	p.files = append(p.files, exportFile{Name: name, Data: data})
	return err
}

// ExportPage writes the next part of an export: the files of a page, or where their bytes are.
func (a *Erasing) ExportPage(ctx context.Context, in ExportStep) (ExportResult, error) {
	defer step.Heartbeat(ctx)()
	result, err := a.exportPage(ctx, in)
	return result, a.failSubject(ctx, in.RunRef, err)
}

func (a *Erasing) exportPage(ctx context.Context, in ExportStep) (result ExportResult, err error) {
	scope, err := a.Subjects.SubjectForSystem(ctx, in.RunRef)
	if err != nil {
		return result, err
	}
	sections := a.exportSections()
	page, err := sections[in.Section].read(ctx, scope, in.After)
	if err != nil {
		return result, err
	}
	result.ExportStep = in
	if count := sections[in.Section].count; count != nil {
		*count(&result.Progress) += page.n
	}
	if len(page.files) > 0 {
		if _, err := a.Blobs.PutJSON(ctx, exportPart(in.RunRef, in.Part), page.files); err != nil {
			return result, fmt.Errorf("store a part of the export: %w", err)
		}
		result.Part++
	}
	if result.After = page.last; page.last == "" {
		result.Section++
	}
	result.Done = result.Section == len(sections)
	return result, a.Subjects.NoteExported(ctx, in.RunRef, result.Progress)
}

// exportPart is the blob key of a part of an export, 0 = first.
func exportPart(run knowledge.RunRef, number int) string {
	return run.Prefix() + fmt.Sprintf("export/part-%06d.json", number)
}

// exportSection is a kind of things that are exported.
type exportSection struct {
	read  func(ctx context.Context, scope store.SubjectScope, after string) (exportPage, error)
	count func(*knowledge.ExportProgress) *int // nil = they are not counted
}

func (a *Erasing) exportSections() []exportSection {
	return []exportSection{
		{a.exportProfile, nil},
		{a.exportDocuments, func(p *knowledge.ExportProgress) *int { return &p.Documents }},
		{a.exportConversations, func(p *knowledge.ExportProgress) *int { return &p.Conversations }},
		{a.exportRuns, func(p *knowledge.ExportProgress) *int { return &p.Runs }},
		{a.exportAudit, func(p *knowledge.ExportProgress) *int { return &p.AuditEntries }},
	}
}

func (a *Erasing) exportProfile(ctx context.Context, scope store.SubjectScope, _ string) (page exportPage, err error) {
	profile, err := a.Subjects.SubjectProfileOf(ctx, scope)
	if err != nil {
		return page, err
	}
	return page, page.add("profile.json", profile)
}

func (a *Erasing) exportDocuments(ctx context.Context, scope store.SubjectScope, after string) (page exportPage, err error) {
	documents, err := a.Subjects.SubjectDocuments(ctx, scope, after, exportedDocuments)
	for _, d := range documents {
		if err != nil {
			return page, err
		}
		page.last, page.n = d.ID, page.n+1
		folder := "documents/" + d.ID + "/"
		var versions []store.Version
		if versions, err = a.Subjects.SubjectVersions(ctx, scope.Workspace, d.ID); err != nil {
			return page, err
		}
		if err = page.add(folder+"document.json", d); err != nil {
			return page, err
		}
		for _, v := range versions {
			if v.SourceKey != "" && v.Version >= d.PublishedVersion {
				page.files = append(page.files, exportFile{Name: fmt.Sprintf("%sversion-%d/%s", folder, v.Version, plainName(v.Name)), Key: v.SourceKey})
			}
		}
	}
	return page, err
}

// plainName returns the last part of a name, without what a path of a zip must not have.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`\/:*?"<>|`, r) {
			return '_'
		}
		return r
	}, path.Base(strings.ReplaceAll(name, `\`, "/")))
	if name == "." || name == ".." || name == "_" || name == "" {
		return "original"
	}
	return name
}

func (a *Erasing) exportConversations(ctx context.Context, scope store.SubjectScope, after string) (page exportPage, err error) {
	list, err := a.Subjects.SubjectConversations(ctx, scope, after, exportedTalks)
	for _, c := range list {
		if err == nil {
			page.last, page.n = c.ID, page.n+1
			err = page.add("conversations/"+plainName(c.ID)+".json", c)
		}
	}
	return page, err
}

func (a *Erasing) exportRuns(ctx context.Context, scope store.SubjectScope, after string) (page exportPage, err error) {
	runs, err := a.Subjects.SubjectRuns(ctx, scope, false, after, exportedRuns)
	for _, run := range runs {
		if err != nil {
			return page, err
		}
		page.last, page.n = run.ID, page.n+1
		if run.Kind == knowledge.KindExport {
			continue
		}
		of := knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}
		folder := "runs/" + run.ID + "/"
		if err = page.add(folder+"run.json", run); err != nil {
			return page, err
		}
		page.files = append(page.files, exportFile{Name: folder + "request.json", Key: of.RequestKey()})
		if run.ResultKey != "" {
			page.files = append(page.files, exportFile{Name: folder + "answer.json", Key: run.ResultKey})
		}
	}
	return page, err
}

func (a *Erasing) exportAudit(ctx context.Context, scope store.SubjectScope, after string) (page exportPage, err error) {
	entries, last, err := a.Subjects.SubjectAudit(ctx, scope, after, exportedEntries)
	if err != nil || len(entries) == 0 {
		return page, err
	}
	page.last, page.n = last, len(entries)
	return page, page.add("audit/until-"+last+".json", entries)
}

// BuildExport makes one zip of the parts of an export, which is a file of the run, and deletes the
// parts.
func (a *Erasing) BuildExport(ctx context.Context, in ExportStep) error {
	defer step.Heartbeat(ctx)()
	return a.failSubject(ctx, in.RunRef, a.buildExport(ctx, in))
}

func (a *Erasing) buildExport(ctx context.Context, in ExportStep) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(a.writeExport(ctx, in, w)) }()
	file := knowledge.RunFile{Name: ExportName, MediaType: "application/zip", Key: in.FileKey("export")}
	ref, err := a.Blobs.PutReader(ctx, file.Key, r)
	_ = r.CloseWithError(err) // ends the writer, if the blob was not stored
	if err != nil {
		return fmt.Errorf("store the export: %w", err)
	}
	file.Bytes = ref.Bytes
	if _, err := a.Blobs.PutJSON(ctx, in.FileNameKey(ExportName), file); err != nil {
		return fmt.Errorf("store the name of the export: %w", err)
	}
	if _, err := a.Blobs.DeletePrefix(ctx, in.Prefix()+"export/", nil); err != nil {
		return fmt.Errorf("delete the parts of the export: %w", err)
	}
	return nil
}

// writeExport writes the zip.
func (a *Erasing) writeExport(ctx context.Context, in ExportStep, w io.Writer) error {
	out := zip.NewWriter(w)
	for part := range in.Part {
		var files []exportFile
		if err := a.Blobs.GetJSON(ctx, exportPart(in.RunRef, part), &files); err != nil {
			return fmt.Errorf("read part %d of the export: %w", part, err)
		}
		for _, f := range files {
			if err := a.writeExported(ctx, out, f); err != nil {
				return fmt.Errorf("write %s: %w", f.Name, err)
			}
		}
	}
	return out.Close()
}

// writeExported writes a file. A blob that went since its page was read is left out.
func (a *Erasing) writeExported(ctx context.Context, out *zip.Writer, f exportFile) error {
	content := io.NopCloser(strings.NewReader(string(f.Data)))
	if f.Key != "" {
		opened, _, err := a.Blobs.Open(ctx, f.Key)
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		content = opened
	}
	defer content.Close()
	to, err := out.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: time.Now().UTC()})
	if err == nil {
		_, err = io.Copy(to, content)
	}
	return err
}

// DropExport deletes what an export has stored, when its time is over.
func (a *Erasing) DropExport(ctx context.Context, in ExportStep) error {
	defer step.Heartbeat(ctx)()
	_, err := a.Blobs.DeletePrefix(ctx, in.Prefix(), func(key string, _ time.Time) bool { return key == in.LogKey() })
	if err != nil {
		err = fmt.Errorf("delete the export: %w", err)
	}
	return a.failSubject(ctx, in.RunRef, err)
}
