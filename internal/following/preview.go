package following

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of a preview.
const (
	previewTime     = 20 * time.Second
	previewFiles    = 2000
	previewPage     = 200
	previewExamples = 10
)

// Preview is what the first run of a sync would take in.
type Preview struct {
	Files    int64 // that it would read
	Bytes    int64 // of those whose size the service tells
	Excluded int64 // files that the patterns leave out
	Hidden   int64 // of Files, those that nobody in the workspace would see
	// Complete reports that the whole place was listed. A large or slow place is listed in
	// part.
	Complete       bool
	Examples       []string // paths of the first files
	HiddenExamples []string // of the first that nobody would see
}

// withExample adds the path of an object, unless there are enough.
func withExample(list []string, o source.Object) []string {
	if len(list) >= previewExamples {
		return list
	}
	return append(list, o.Path())
}

// add counts the objects of a page.
func (v *Preview) add(chosen selection.Selection, objects []source.Object) {
	for _, o := range objects {
		if !chosen.Includes(o.Path()) {
			v.Excluded++
			continue
		}
		v.Files++
		v.Bytes += max(o.Bytes, 0)
		v.Examples = withExample(v.Examples, o)
		if o.Hidden() {
			v.Hidden++
			v.HiddenExamples = withExample(v.HiddenExamples, o)
		}
	}
}

// Preview lists the place of a sync that is not stored, and stores and reads nothing. refused
// is what an administrator has to change, nil if nothing. A request that no sync could have is
// CodeInvalid.
func (m *Manager) Preview(ctx context.Context, p knowledge.Principal, y store.Sync) (v Preview, refused *knowledge.Error, err error) {
	if err := m.checkRequest(ctx, p, y); err != nil {
		return v, nil, err
	}
	c, err := m.deps.Store.Connection(ctx, p, y.Connection)
	if err != nil {
		return v, nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	v, err = m.deps.Runner.preview(bounded, c, y.Request)
	if bounded.Err() != nil && ctx.Err() == nil { // the place is large or slow, or asked to wait
		if v.Files+v.Excluded > 0 {
			return v, nil, nil
		}
		err = knowledge.Errorf(knowledge.CodeUnavailable, "the service did not list its first files within %s: name a smaller folder, or try again later", previewTime)
	}
	refused, err = refusal(ctx, err)
	return v, refused, err
}

// preview lists the place of a connection, as far as the bounds allow.
func (r *Runner) preview(ctx context.Context, c store.Connection, request store.SyncRequest) (v Preview, err error) {
	f, err := r.followOf(c)
	if err != nil {
		return v, err
	}
	f.Scope, f.Mirror, f.PageSize = request.Scope, request.Mirror, previewPage
	place, err := r.deps.Places.Follow(f, r.gate(c))
	if err != nil {
		return v, err
	}
	if d, ok := place.(source.TriedDirectory); ok && request.Mirror {
		if err := d.TryDirectory(ctx); err != nil {
			return v, err
		}
	}
	chosen := selection.New(store.ImportRequest{Include: request.Include, Exclude: request.Exclude})
	for token := ""; ; {
		page, err := place.List(ctx, token)
		if err != nil {
			return v, err
		}
		v.add(chosen, page.Objects)
		if token = page.Next; token == "" {
			v.Complete = true
			return v, nil
		}
		if v.Files+v.Excluded >= previewFiles {
			return v, nil
		}
	}
}

// refusal tells what a service, or the answer of none, asks an administrator to change from an
// error of this server.
func refusal(ctx context.Context, err error) (*knowledge.Error, error) {
	if err != nil && ctx.Err() == nil {
		if known := knowledge.AsError(err); known.Code != knowledge.CodeInternal {
			return known, nil
		}
	}
	return nil, err
}
