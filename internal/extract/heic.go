package extract

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/image"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// HEIFPackage is the Debian package of the program that decodes HEIC.
const HEIFPackage = "libheif-examples"

func readHEIC(ctx context.Context, p *parser, s format.Source) (format.Result, error) {
	decoded, remove, err := p.decodeHEIC(ctx, s)
	if err != nil {
		return format.Result{}, err
	}
	defer remove()
	r, err := image.Read(ctx, decoded)
	r.Layout.MediaType = TypeHEIC
	return r, err
}

func drawHEIC(ctx context.Context, p *parser, s format.Source, d Drawing) ([]byte, error) {
	decoded, remove, err := p.decodeHEIC(ctx, s)
	if err != nil {
		return nil, err
	}
	defer remove()
	return drawImage(ctx, p, decoded, d)
}

// decodeHEIC returns a HEIC file as a PNG, in a folder that remove removes. ffmpeg is no
// way to do it: the versions that are in use return one tile of a photo as if it were all.
func (p *parser) decodeHEIC(ctx context.Context, s format.Source) (decoded format.Source, remove func(), err error) {
	if s.Tools.HEIF == "" {
		return s, nil, s.Tools.Missing(s.Kind, "heif-convert", HEIFPackage)
	}
	folder, err := p.workFolder()
	if err != nil {
		return s, nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) } // a leftover goes with the child
	original, err := filepath.Abs(s.Path)
	if err != nil {
		remove()
		return s, nil, fmt.Errorf("find the picture: %w", err)
	}
	runner := s
	runner.Folder = folder
	_, err = runner.Run(ctx, s.Tools.HEIF, original, "picture.png")
	made, globErr := filepath.Glob(filepath.Join(folder, "picture*.png")) // numbered if there are several
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("decode the picture: %w", context.Cause(ctx))
	case err != nil || globErr != nil || len(made) == 0:
		err = knowledge.Errorf(knowledge.CodeCorrupt, "the picture is damaged and cannot be decoded; save it as JPEG or PNG and send that").WithCause(err)
	default:
		decoded = s
		decoded.Path, decoded.MediaType = made[0], TypePNG
		decoded.Size, err = sizeOf(made[0])
	}
	if err != nil {
		remove()
		return s, nil, err
	}
	return decoded, remove, nil
}
