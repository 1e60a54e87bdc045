package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// ListInput names a page to list, 0 = the first.
type ListInput struct {
	knowledge.ImportRef
	Page int `json:"page"`
}

// ListResult is what the page holds.
type ListResult struct {
	Objects int  `json:"objects,omitempty"` // to be imported
	Last    bool `json:"last,omitempty"`    // no page comes after it
}

// pageManifest is the blob with the objects of a page.
type pageManifest struct {
	Objects []source.Object `json:"objects"`
	Todo    []int           `json:"todo"` // places in Objects; a batch names a range of Todo
}

// ListImportPage lists a page of the source, stores its objects, and finds out which of
// them are to be imported. It may take hours for a site that is crawled.
func (a *Importing) ListImportPage(ctx context.Context, in ListInput) (ListResult, error) {
	defer step.Heartbeat(ctx)()
	result, err := a.listPage(ctx, in)
	if err != nil {
		return result, a.fail(ctx, in.ImportRef, step.AtStage(knowledge.StageFetch, err))
	}
	return result, nil
}

func (a *Importing) listPage(ctx context.Context, in ListInput) (ListResult, error) {
	i, err := a.open(ctx, in.ImportRef)
	if err != nil {
		return ListResult{}, err
	}
	defer i.release()
	page, stored, err := a.Imports.ImportPage(ctx, i.Import, in.Page)
	if err == nil && !stored {
		page, err = a.addPage(ctx, i, in.Page)
	}
	if err != nil {
		return ListResult{}, err
	}
	todo, err := a.findTodo(ctx, i.Import, page)
	if err != nil {
		return ListResult{}, err
	}
	return ListResult{Objects: todo, Last: page.Next == ""}, nil
}

// addPage lists a page and stores it: first its manifest, and then its rows.
func (a *Importing) addPage(ctx context.Context, i opened, number int) (store.ImportPage, error) {
	var none store.ImportPage
	token := ""
	if number > 0 {
		before, there, err := a.Imports.ImportPage(ctx, i.Import, number-1)
		if err != nil || !there {
			return none, errors.Join(err, fmt.Errorf("page %d is listed before page %d", number, number-1))
		}
		token = before.Next
	}
	if i.Request.Sync != "" {
		return a.addFollowed(ctx, i, number, token)
	}
	listed, err := i.source.List(ctx, token)
	if err != nil {
		return none, err
	}
	objects, sidecars, err := sortOut(listed.Objects)
	if err != nil {
		return none, err
	}
	if !i.Request.DryRun {
		if err := a.Imports.PutSidecars(ctx, i.Import, sidecars); err != nil {
			return none, err
		}
	}
	objects = withTranscripts(objects)
	late, err := a.lateObjects(ctx, i.Import, objects, sidecars)
	if err != nil {
		return none, err
	}
	all, err := a.describe(ctx, i.Import, append(objects, late...))
	if err != nil {
		return none, err
	}
	manifest := pageManifest{Objects: append(objects, late...)}
	if _, err := a.documents.Blobs.PutJSON(ctx, i.ManifestKey(number), manifest); err != nil {
		return none, fmt.Errorf("store the objects of page %d: %w", number, err)
	}
	page := store.ImportPage{Page: number, Next: listed.Next}
	return a.Imports.AddImportPage(ctx, i.Import, page, all[:len(objects)], all[len(objects):])
}

// sortOut tells objects from descriptions of objects. Of objects with the same key, the
// first one counts.
func sortOut(list []source.Object) (objects []source.Object, sidecars []store.Sidecar, err error) {
	seen := map[string]bool{}
	for _, o := range list {
		if seen[o.Key] {
			continue
		}
		seen[o.Key] = true
		described, ok := selection.Described(o.Key)
		if !ok {
			objects = append(objects, o)
			continue
		}
		encoded, err := json.Marshal(o)
		if err != nil {
			return nil, nil, fmt.Errorf("encode object: %w", err)
		}
		sidecars = append(sidecars, store.Sidecar{Key: described, ETag: o.ETag, Object: encoded})
	}
	return objects, sidecars, nil
}

// lateObjects returns the objects of earlier pages that are described on this one.
func (a *Importing) lateObjects(ctx context.Context, i store.Import, objects []source.Object, sidecars []store.Sidecar) ([]source.Object, error) {
	here := map[string]bool{}
	for _, o := range objects {
		here[o.Key] = true
	}
	var keys []string
	for _, c := range sidecars {
		if !here[c.Key] {
			keys = append(keys, c.Key)
		}
	}
	before, err := a.Imports.ImportedObjects(ctx, i, keys)
	if err != nil {
		return nil, err
	}
	var late []source.Object
	for _, key := range keys {
		if before[key].Import != i.Number {
			continue // it comes on a later page, or never
		}
		manifest, err := a.manifest(ctx, i, before[key].Page)
		if err != nil {
			return nil, err
		}
		for _, o := range manifest.Objects {
			if o.Key == key {
				late = append(late, o)
			}
		}
	}
	return late, nil
}

// manifest reads the objects of a page.
func (a *Importing) manifest(ctx context.Context, i store.Import, page int) (m pageManifest, err error) {
	err = a.documents.Blobs.GetJSON(ctx, i.ManifestKey(page), &m)
	if errors.Is(err, blob.ErrNotFound) {
		return m, knowledge.Errorf(knowledge.CodeInternal, "the objects of the page are no longer stored").WithCause(err)
	}
	if err != nil {
		return m, fmt.Errorf("read the objects of page %d: %w", page, err)
	}
	return m, nil
}

// describe returns objects as they are stored.
func (a *Importing) describe(ctx context.Context, i store.Import, objects []source.Object) ([]store.ListedObject, error) {
	keys := make([]string, 0, len(objects))
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	sidecars, err := a.Imports.ImportSidecars(ctx, i, keys)
	if err != nil {
		return nil, err
	}
	chosen := selection.New(i.Request)
	list := make([]store.ListedObject, 0, len(objects))
	for _, o := range objects {
		list = append(list, store.ListedObject{
			Key: o.Key, ETag: o.ETag, Bytes: o.Bytes, Excluded: !chosen.Includes(o.Path()), DocumentID: documentOf(i, o),
			Fingerprint: fingerprint(i, chosen, o, sidecars[o.Key].ETag), Hidden: o.Hidden(),
		})
	}
	return list, nil
}

// documentOf returns the id of the document of an object.
func documentOf(i store.Import, o source.Object) string {
	return knowledge.DocumentID(i.Workspace, i.Project, selection.ExternalID(i.Request.Source, o))
}

// fingerprint returns the fingerprint of an object, with the etags of its description and
// of its transcript.
func fingerprint(i store.Import, chosen selection.Selection, o source.Object, description string) string {
	if o.Transcript != nil {
		description += "\n" + o.Transcript.ETag
	}
	if i.Request.Sync != "" {
		return onlyPipeline(i) + followedAttributes(chosen, o)
	}
	return selection.Fingerprint(pipelineOf(i), chosen.Attributes(o.Key, nil), description)
}

// pipelineOf returns what makes the documents of an import beside bytes and attributes.
func pipelineOf(i store.Import) selection.Pipeline {
	enrichment := i.Request.Enrichment
	enrichment.Model = "" // another model does not make a document outdated
	p := selection.Pipeline{Version: knowledge.PipelineVersion, Splitter: i.Splitter, Enrichment: enrichment, Access: i.Request.Access}
	if i.Request.Parser == knowledge.ParserModel {
		p.Parser = i.Request.Parser
	}
	return p
}

// findTodo stores in the manifest of a page which of its objects are to be imported, and
// returns their number.
func (a *Importing) findTodo(ctx context.Context, i store.Import, page store.ImportPage) (int, error) {
	if page.Todo == 0 || i.Request.DryRun {
		return 0, nil
	}
	manifest, err := a.manifest(ctx, i, page.Page)
	if err != nil {
		return 0, err
	}
	keys := make([]string, 0, len(manifest.Objects))
	for _, o := range manifest.Objects {
		keys = append(keys, o.Key)
	}
	rows, err := a.Imports.ImportedObjects(ctx, i, keys)
	if err != nil {
		return 0, err
	}
	manifest.Todo = nil
	for place, key := range keys {
		if row := rows[key]; row.Import == i.Number && row.Page == page.Page && row.Pending {
			manifest.Todo = append(manifest.Todo, place)
		}
	}
	if _, err := a.documents.Blobs.PutJSON(ctx, i.ManifestKey(page.Page), manifest); err != nil {
		return 0, fmt.Errorf("store the objects of page %d: %w", page.Page, err)
	}
	return len(manifest.Todo), nil
}
