package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// Places opens the places of syncs. Safe for concurrent use.
type Places interface {
	// Allow refuses the run of a sync that was removed, or whose connection was: a
	// *knowledge.Error.
	Allow(ctx context.Context, i store.Import) error
	// Open returns the source that lists what has changed since the cursor of the sync. It
	// keeps its state in the state of the run, and previous is that of the last completed run,
	// nil if there was none.
	Open(ctx context.Context, i store.Import, state, previous source.State) (source.Source, error)
}

// FollowedImports is the part of the store that the runs of syncs change.
type FollowedImports interface {
	// FollowObjects sets the names, labels and rights of documents to those of their objects,
	// and returns the keys of the objects for which nothing else has to be done.
	FollowObjects(ctx context.Context, i store.Import, page int, list []store.FollowedObject) (settled []string, err error)
	// MarkGone stores that objects are gone. A later page may take that back.
	MarkGone(ctx context.Context, i store.Import, page int, keys []string) error
	// GroupsToRead stores the groups that objects name, and returns those of the connection
	// whose members neither this run nor a later one has read. SetGroupMembers stores them.
	GroupsToRead(ctx context.Context, i store.Import, named []string) ([]string, error)
	SetGroupMembers(ctx context.Context, i store.Import, group string, members []string, complete bool) error
	// FailedBefore returns the next objects that a run before could not import, and that
	// this one has not listed.
	FailedBefore(ctx context.Context, i store.Import, after string, limit int) ([]store.ImportFailure, error)
	// SetSyncListing stores what the last page says, and SyncListingOf returns it.
	SetSyncListing(ctx context.Context, i store.Import, l store.SyncListing) error
	SyncListingOf(ctx context.Context, i store.Import) (l store.SyncListing, there bool, err error)
	// MoveCursor moves the cursor of the sync behind a completed run, and ForgetCursor
	// makes the next run list everything.
	MoveCursor(ctx context.Context, i store.Import) error
	ForgetCursor(ctx context.Context, i store.Import) error
}

// tokenFailed begins the tokens of pages with objects that runs before could not import.
// They come behind the pages of the place.
const tokenFailed = "failed-before:"

// addFollowed lists a page of a place that is followed, and stores it. What a page before
// has named too, it imports again: what is named last counts.
func (a *Importing) addFollowed(ctx context.Context, i opened, number int, token string) (store.ImportPage, error) {
	var none store.ImportPage
	listed, err := a.listFollowed(ctx, i, token)
	if err != nil {
		return none, err
	}
	if err := a.readMembers(ctx, i, listed.Objects); err != nil {
		return none, err
	}
	fresh, late, gone, err := a.sortFollowed(ctx, i.Import, number, listed)
	if err != nil {
		return none, err
	}
	if err := a.Imports.MarkGone(ctx, i.Import, number, gone); err != nil {
		return none, err
	}
	all, err := a.describe(ctx, i.Import, append(fresh, late...))
	if err != nil {
		return none, err
	}
	if _, err := a.documents.Blobs.PutJSON(ctx, i.ManifestKey(number), pageManifest{Objects: append(fresh, late...)}); err != nil {
		return none, fmt.Errorf("store the objects of page %d: %w", number, err)
	}
	page := store.ImportPage{Page: number, Next: listed.Next}
	return a.Imports.AddImportPage(ctx, i.Import, page, all[:len(fresh)], all[len(fresh):])
}

// listFollowed lists a page of a place or, behind its last one, what failed before.
func (a *Importing) listFollowed(ctx context.Context, i opened, token string) (source.Page, error) {
	if after, ok := strings.CutPrefix(token, tokenFailed); ok {
		return a.failedPage(ctx, i.Import, after)
	}
	page, err := i.source.List(ctx, token)
	if errors.Is(err, source.ErrExpired) {
		if err := a.Imports.ForgetCursor(ctx, i.Import); err != nil {
			return page, err
		}
		if token != "" {
			return page, knowledge.Errorf(knowledge.CodeGone, "the service has forgotten the changes that this run was listing; the next run lists everything")
		}
		page, err = i.source.List(ctx, source.TokenAll)
	}
	if err != nil || page.Next != "" {
		return page, err
	}
	if err := a.Imports.SetSyncListing(ctx, i.Import, store.SyncListing{Full: page.Full, Cursor: page.Cursor}); err != nil {
		return page, err
	}
	if !page.Full { // a listing of everything has them too
		page.Next = tokenFailed
	}
	return page, nil
}

// readMembers stores who is in the groups that objects name, and in those that other objects of
// the connection have named: once in each run, so that a change of members is followed without a
// change of a file. In a group that the service does not tell is nobody.
func (a *Importing) readMembers(ctx context.Context, i opened, objects []source.Object) error {
	directory, tells := i.source.(source.Directory)
	if !tells || !i.Request.Mirror {
		return nil
	}
	var named []string
	for _, o := range objects {
		if o.Access != nil {
			named = append(named, o.Access.Groups...)
		}
	}
	groups, err := a.Imports.GroupsToRead(ctx, i.Import, source.Distinct(named))
	for n := 0; n < len(groups) && err == nil; n++ {
		members, complete, untold := directory.Members(ctx, groups[n])
		if untold != nil {
			switch knowledge.AsError(untold).Code {
			case knowledge.CodeNotFound, knowledge.CodeForbidden, knowledge.CodeTooLarge, knowledge.CodeInvalid:
			default:
				return fmt.Errorf("read the members of a group: %w", untold)
			}
		}
		err = a.Imports.SetGroupMembers(ctx, i.Import, groups[n], members, complete)
	}
	return err
}

// failedPage returns a page of objects that runs before could not import.
func (a *Importing) failedPage(ctx context.Context, i store.Import, after string) (page source.Page, err error) {
	failed, err := a.Imports.FailedBefore(ctx, i, after, source.MaxPage)
	if err != nil {
		return page, err
	}
	for _, f := range failed {
		if len(failed) == source.MaxPage {
			page.Next = tokenFailed + f.Key
		}
		if !f.Error.MayRetry() {
			continue
		}
		var o source.Object
		if err := json.Unmarshal(f.Object, &o); err != nil {
			return page, fmt.Errorf("read a failed object: %w", err)
		}
		page.Objects = append(page.Objects, o)
	}
	return page, nil
}

// sortFollowed tells the objects of a page that no page before has named from those that
// one has, and returns the keys of the objects that are gone, or excluded by now.
func (a *Importing) sortFollowed(ctx context.Context, i store.Import, number int, page source.Page) (fresh, late []source.Object, gone []string, err error) {
	chosen := selection.New(i.Request)
	gone = page.Removed
	var keys []string
	for _, o := range page.Objects {
		keys = append(keys, o.Key)
	}
	before, err := a.Imports.ImportedObjects(ctx, i, keys)
	if err != nil {
		return nil, nil, nil, err
	}
	seen := map[string]bool{}
	for _, o := range page.Objects {
		row, there := before[o.Key]
		switch {
		case seen[o.Key]:
		case there && !chosen.Includes(o.Path()):
			gone = append(gone, o.Key)
		case there && row.Import == i.Number && (row.Page != number || row.Gone):
			late = append(late, o)
		default:
			fresh = append(fresh, o)
		}
		seen[o.Key] = true
	}
	return fresh, late, gone, nil
}

// listedAll reports whether what a listing does not have is gone.
func (a *Importing) listedAll(ctx context.Context, i store.Import) (bool, error) {
	if i.Request.Sync == "" {
		return true, nil
	}
	l, there, err := a.Imports.SyncListingOf(ctx, i)
	return there && l.Full, err
}

// moveCursor moves the cursor of the sync of a run that is completed.
func (a *Importing) moveCursor(ctx context.Context, ref knowledge.ImportRef) error {
	i, err := a.Imports.ImportForSystem(ctx, ref)
	if err != nil || i.Request.Sync == "" {
		return err
	}
	return a.Imports.MoveCursor(ctx, i)
}

// follow sets the names, labels and rights of the documents of items to those that their objects
// have now, before it reads bytes: rights must change even if the bytes cannot be read. It
// returns the items whose bytes have to be read.
func (b *importBatch) follow(ctx context.Context, items []*importItem) ([]*importItem, error) {
	if b.Request.Sync == "" {
		return items, nil
	}
	var list []store.FollowedObject
	for _, it := range items {
		if !it.existed {
			continue
		}
		it.attributes = b.chosen.AttributesOf(it.object, nil)
		nv, err := b.version(ctx, it)
		if err != nil {
			return nil, err
		}
		o := store.FollowedObject{
			Key: it.object.Key, DocumentID: nv.DocumentID, ETag: it.object.ETag, Fingerprint: it.fingerprint, Only: onlyPipeline(b.Import),
			Name: nv.Name, Access: it.object.Access,
		}
		if it.object.Tags != nil {
			o.Tags = &nv.Tags
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		return items, nil
	}
	settled, err := b.a.Imports.FollowObjects(ctx, b.Import, b.page, list)
	if err != nil {
		return nil, err
	}
	if err := b.a.documents.Attributes.UpdateIndex(ctx, ""); err != nil {
		return nil, fmt.Errorf("update index attributes: %w", err)
	}
	done := map[string]bool{}
	for _, key := range settled {
		done[key] = true
	}
	var left []*importItem
	for _, it := range items {
		if !done[it.object.Key] {
			left = append(left, it)
		}
	}
	return left, nil
}

// accessOf returns who may see the document of an object.
func (b *importBatch) accessOf(o source.Object) *knowledge.Access {
	if b.Request.Mirror && o.Access == nil {
		return &knowledge.Access{} // nobody
	}
	if o.Access != nil {
		return o.Access
	}
	return b.Request.Access
}

// checkListed refuses an object whose rights are carried over, if it has changed since they
// were listed: they may have changed with it. The next run lists it again.
func (b *importBatch) checkListed(it *importItem, now source.Object) error {
	if b.Request.Mirror && it.object.ETag != now.ETag {
		return knowledge.Errorf(knowledge.CodeConflict, "the file changed after its rights were listed; the next run imports it")
	}
	return nil
}

// onlyPipeline returns the first part of the fingerprint of an object of a sync: what makes
// its document beside its bytes, its name, its labels and its rights.
func onlyPipeline(i store.Import) string {
	p := pipelineOf(i)
	p.Access = nil
	return selection.Fingerprint(p, selection.Attributes{Tags: i.Request.Tags, Metadata: i.Request.Metadata, Subjects: i.Request.Subjects}, "") + "."
}

// followedAttributes returns the other part.
func followedAttributes(chosen selection.Selection, o source.Object) string {
	return selection.Fingerprint(selection.Pipeline{Access: o.Access}, chosen.AttributesOf(o, nil), "")
}
