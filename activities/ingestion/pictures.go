package ingestion

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
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

// ReadPicturesResult is the result of a step that reads pictures.
type ReadPicturesResult struct {
	More bool `json:"more,omitempty"` // there are pictures behind the step's
}

// ReadingPictures holds the activity that has a model look at pages and figures.
type ReadingPictures struct {
	steps

	Blobs   step.Blobs
	Drawer  Drawer
	TempDir string
	files   *files
	reading *reading
	chats   *chats
	answers *answers
}

// ReadPictures has the chat model look at pictures of a version. Each answer is stored
// before the next request of its slot, so that a retry requests only what is missing.
// A picture that the model refuses has no answer.
func (a *ReadingPictures) ReadPictures(ctx context.Context, in ReadPicturesInput) (ReadPicturesResult, error) {
	defer step.Heartbeat(ctx)()
	var result ReadPicturesResult
	err := a.step(ctx, in.StepInput, knowledge.StageExtract, func(v store.Version) error {
		total, more, err := a.readPictures(ctx, v, in)
		if result.More = more; err != nil || !more {
			return err
		}
		return noteStage(ctx, a.Versions, in.VersionRef, knowledge.StageExtract, float64(in.First+PicturesStep)/float64(total), store.Facts{})
	})
	return result, err
}

// readPictures looks at some pictures of a version. total is how many it has of their
// kind.
func (a *ReadingPictures) readPictures(ctx context.Context, v store.Version, in ReadPicturesInput) (total int, more bool, err error) {
	layout, err := a.reading.layout(ctx, v)
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
		err = a.chats.cannotSee(v)
	}
	return len(pictures), last < len(pictures) && !look.blind(), err
}

// cannotSee is the error of a version whose pages no model reads.
func (a *chats) cannotSee(v store.Version) error {
	return knowledge.Errorf(knowledge.CodeNeedsComponent,
		"the chat model %s does not read pictures; set ai.model of the project, or models.chat of the server, to a model that sees pictures, and reingest the document", a.chatModel(v))
}

// chatModel returns the name of the model that reads the text and the pictures of a
// version.
func (a *chats) chatModel(v store.Version) string {
	return cmp.Or(v.Enrichment.Model, a.Chat.Endpoint().Model)
}

// storeAnswer stores what a model wrote, and its usage.
func (a *answers) storeAnswer(ctx context.Context, v store.Version, key string, value any, used knowledge.Usage) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode an answer of the model: %w", err)
	}
	if err := a.putAnswer(ctx, v, key, data, used); err != nil {
		return fmt.Errorf("store an answer of the model: %w", err)
	}
	return nil
}
