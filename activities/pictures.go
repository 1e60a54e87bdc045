package activities

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// PicturesStep is how many pictures one ReadPictures looks at, so that no document
	// holds a slot for long.
	PicturesStep = 32
	// picturesInFlight is how many pictures of a step are with the model at the same
	// time.
	picturesInFlight = 4
	// pictureTokens is an estimate of the tokens of a picture, its prompt and the answer.
	pictureTokens = 2500
	// blindAfter is how many pictures a model must refuse, without an answer to any,
	// before no other picture of the version is sent to it.
	blindAfter = 3
)

// PictureKind is what a model looks at.
type PictureKind string

// The kinds of pictures.
const (
	// PagePictures are pages, whose text the model writes down. A version whose pages
	// cannot be read fails.
	PagePictures PictureKind = "pages"
	// FigurePictures are figures, which the model describes. A version is ingested
	// without the descriptions that fail.
	FigurePictures PictureKind = "figures"
)

// Pictures are the kinds of pictures of a version that a model must look at.
type Pictures struct {
	Pages   bool `json:"pages,omitempty"`
	Figures bool `json:"figures,omitempty"`
}

// Kinds returns the kinds in the order in which the model looks at them.
func (p Pictures) Kinds() []PictureKind {
	var kinds []PictureKind
	if p.Pages {
		kinds = append(kinds, PagePictures)
	}
	if p.Figures {
		kinds = append(kinds, FigurePictures)
	}
	return kinds
}

// ReadPicturesInput names the pictures of a version from First on, PicturesStep at most.
type ReadPicturesInput struct {
	StepInput
	Kind  PictureKind `json:"kind"`
	First int         `json:"first"` // 0 = first
	// Now sends the first picture although the provider asked for a pause.
	Now bool `json:"now,omitempty"`
}

// ReadPicturesResult says whether there are pictures behind those of the step.
type ReadPicturesResult struct {
	More bool `json:"more,omitempty"`
}

// ReadPictures has the chat model look at pictures of a version. Each answer is stored
// before the next request of its slot, so that a retry requests only what is missing.
// A picture that the model refuses has no answer.
func (a *Ingestion) ReadPictures(ctx context.Context, in ReadPicturesInput) (ReadPicturesResult, error) {
	defer heartbeat(ctx)()
	var result ReadPicturesResult
	err := a.step(ctx, in.StepInput, knowledge.StageExtract, func(v store.Version) error {
		total, more, err := a.readPictures(ctx, v, in)
		if result.More = more; err != nil || !more {
			return err
		}
		return a.noteStage(ctx, in.VersionRef, knowledge.StageExtract, float64(in.First+PicturesStep)/float64(total), store.Facts{})
	})
	return result, err
}

// readPictures looks at some pictures of a version. total is how many it has of their
// kind.
func (a *Ingestion) readPictures(ctx context.Context, v store.Version, in ReadPicturesInput) (total int, more bool, err error) {
	layout, err := a.layout(ctx, v)
	if err != nil {
		return 0, false, err
	}
	look, err := a.newLook(ctx, v, in)
	if err != nil {
		return 0, false, err
	}
	var pictures []picture
	if in.Kind == PagePictures {
		pages, remove, err := a.pagePictures(ctx, v, layout)
		if err != nil {
			return 0, false, err
		}
		defer remove()
		pictures = pages
	} else {
		pictures = a.figurePictures(v, layout)
	}
	last := min(in.First+PicturesStep, len(pictures))
	err = look.all(ctx, pictures[min(in.First, last):last])
	if err == nil && look.blind() && in.Kind == PagePictures {
		err = a.cannotSee(v)
	}
	return len(pictures), last < len(pictures) && !look.blind(), err
}

// cannotSee is the error of a version whose pages no model reads.
func (a *Ingestion) cannotSee(v store.Version) error {
	return knowledge.Errorf(knowledge.CodeNeedsComponent,
		"the chat model %s does not read pictures; set ai.model of the project, or models.chat of the server, to a model that sees pictures, and reingest the document", a.visionModel(v))
}

// visionModel returns the name of the model that looks at the pictures of a version.
func (a *Ingestion) visionModel(v store.Version) string {
	return cmp.Or(v.Enrichment.Model, a.Chat.Endpoint().Model)
}

// picture is one picture to look at.
type picture struct {
	key  string                                    // of the blob of what was seen
	draw func(ctx context.Context) ([]byte, error) // as PNG or JPEG
}

// seen is what a model wrote about a picture.
type seen struct {
	Hash    string `json:"hash"` // of the model, the prompt and the picture
	Text    string `json:"text,omitempty"`
	Refused bool   `json:"refused,omitempty"` // there is no text
}

// look is one step of looking at the pictures of a version.
type look struct {
	a      *Ingestion
	v      store.Version
	prompt string
	read   func(answer string) string
	once   singleflight.Group // by hash
	now    atomic.Bool        // the next request ends the pause that the provider asked for

	mu      sync.Mutex
	known   map[string]string // texts by hash, of this version and of others
	refused map[string]seen   // by key
}

// newLook returns a step that knows what was seen before in the versions of the
// document.
func (a *Ingestion) newLook(ctx context.Context, v store.Version, in ReadPicturesInput) (*look, error) {
	l := &look{a: a, v: v, known: map[string]string{}, refused: map[string]seen{}}
	l.now.Store(in.Now)
	folder := ""
	l.prompt, l.read, folder = in.Kind.task()
	prefix := blob.DocumentPrefix(v.Workspace, v.Project, v.Document)
	if v.Version == 1 { // most documents have no other version
		prefix = blob.VersionPrefix(v.VersionRef)
	}
	for object, err := range a.Blobs.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list what was seen in document %s: %w", v.Document, err)
		}
		if !strings.Contains(object.Key, "/"+folder) {
			continue
		}
		var s seen
		err := a.Blobs.GetJSON(ctx, object.Key, &s)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return nil, fmt.Errorf("read what was seen: %w", err)
		}
		if err == nil && !s.Refused {
			l.known[s.Hash] = s.Text
		}
	}
	return l, nil
}

// all looks at pictures. After a failure it starts no other, and those that are with
// the model are stored all the same.
func (l *look) all(ctx context.Context, pictures []picture) error {
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(picturesInFlight)
	for _, p := range pictures {
		group.Go(func() error {
			if failed.Err() != nil {
				return failed.Err()
			}
			return l.one(ctx, p)
		})
	}
	if err := group.Wait(); err != nil || l.blind() {
		return err
	}
	for key, s := range l.refused { // the model sees others: it will refuse these again
		if _, err := l.a.Blobs.PutJSON(ctx, key, s); err != nil {
			return fmt.Errorf("note a picture that was refused: %w", err)
		}
	}
	return nil
}

// blind reports whether the model answers no picture.
func (l *look) blind() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known) == 0 && len(l.refused) > 0
}

// givenUp reports whether the model has refused so many pictures that no other is sent.
func (l *look) givenUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known) == 0 && len(l.refused) >= blindAfter
}

// one looks at a picture, unless what was seen in it is stored.
func (l *look) one(ctx context.Context, p picture) error {
	if there, err := l.a.Blobs.Exists(ctx, p.key); there || err != nil || l.givenUp() {
		return err
	}
	data, err := p.draw(ctx)
	if e, ok := errors.AsType[*knowledge.Error](err); ok && !e.Retryable && e.Code != knowledge.CodeInternal {
		return l.a.storeAnswer(ctx, l.v.VersionRef, p.key, seen{Refused: true}) // the picture is damaged
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(l.a.visionModel(l.v) + "\x00" + l.prompt + "\x00" + string(data)))
	hash := hex.EncodeToString(sum[:16])
	text, err, _ := l.once.Do(hash, func() (any, error) { return l.text(ctx, hash, data) })
	if isRefusal(err) {
		l.mu.Lock()
		l.refused[p.key] = seen{Hash: hash, Refused: true}
		l.mu.Unlock()
		return nil
	}
	if err != nil {
		return err
	}
	return l.a.storeAnswer(ctx, l.v.VersionRef, p.key, seen{Hash: hash, Text: text.(string)})
}

// text returns what the model writes about a picture.
func (l *look) text(ctx context.Context, hash string, data []byte) (string, error) {
	l.mu.Lock()
	text, known := l.known[hash]
	l.mu.Unlock()
	if known {
		return text, nil
	}
	answer, err := l.see(ctx, data)
	if err != nil {
		return "", err
	}
	text = l.read(answer)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[hash] = text
	return text, nil
}

// see sends a picture to the model when it is its turn.
func (l *look) see(ctx context.Context, data []byte) (answer string, err error) {
	a := l.a
	// The step is not told whether it was held before, so it counts as if it was.
	turn := model.Turn{Patience: turnPatience, Waited: true, Now: l.now.Swap(false)}
	if err := a.Chat.TakeTurn(ctx, pictureTokens, turn); err != nil {
		return "", err
	}
	start, zero := time.Now(), 0.0
	var text strings.Builder
	var done model.Completion
	request := model.ChatRequest{Model: l.v.Enrichment.Model, Temperature: &zero, Messages: []model.Message{
		{Role: model.RoleSystem, Content: l.prompt},
		{Role: model.RoleUser, Pictures: []model.Picture{{MediaType: http.DetectContentType(data), Data: data}}},
	}}
	for delta, failed := range a.Chat.Chat(ctx, request) {
		err = failed
		text.WriteString(delta.Text)
		if delta.Done != nil {
			done = *delta.Done
		}
	}
	a.Metrics.ModelCall(a.Chat.Endpoint().Provider, "chat", outcome(err), time.Since(start).Seconds(), done.Usage.PromptTokens, done.Usage.CompletionTokens)
	return text.String(), err
}

// isRefusal reports whether the model refused a picture, as it would again.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && !e.Retryable && e.Code != model.CodeUnauthorized
}

// storeAnswer stores what a model wrote. The provider has charged for it, so a cancel does not
// discard it.
func (a *Ingestion) storeAnswer(ctx context.Context, ref knowledge.VersionRef, key string, value any) error {
	kept := context.WithoutCancel(ctx)
	if _, err := a.Blobs.PutJSON(kept, key, value); err != nil {
		return fmt.Errorf("store an answer of the model: %w", err)
	}
	if ctx.Err() != nil && a.removing(kept, ref) { // a removal may have deleted the others by now
		return errors.Join(ctx.Err(), a.Blobs.Delete(kept, key))
	}
	return nil
}
