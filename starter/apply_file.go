package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// projectFile is a project as a file has it. Settings are nil, and webhooks too, if the file
// does not name them.
type projectFile struct {
	ID        string         `yaml:"id,omitempty" json:"id,omitempty"`
	Name      string         `yaml:"name,omitempty" json:"name,omitempty"`
	AI        map[string]any `yaml:"ai,omitempty" json:"ai,omitempty"`
	Tools     map[string]any `yaml:"tools,omitempty" json:"tools,omitempty"`
	Limits    map[string]any `yaml:"limits,omitempty" json:"limits,omitempty"`
	Privacy   map[string]any `yaml:"privacy,omitempty" json:"privacy,omitempty"`
	Retention map[string]any `yaml:"retention,omitempty" json:"retention,omitempty"`
	Pipeline  []any          `yaml:"pipeline,omitempty" json:"pipeline,omitempty"`
	Webhooks  []fileWebhook  `yaml:"webhooks,omitempty" json:"webhooks,omitempty"`
	TestSets  []fileTestSet  `yaml:"test_sets,omitempty" json:"test_sets,omitempty"`
	Syncs     []fileSync     `yaml:"syncs,omitempty" json:"syncs,omitempty"`
}

// settings are the parts of the configuration that the file names, by their names.
func (p projectFile) settings() map[string]any {
	named := map[string]any{}
	for name, part := range map[string]map[string]any{"ai": p.AI, "tools": p.Tools, "limits": p.Limits, "privacy": p.Privacy, "retention": p.Retention} {
		if part != nil {
			named[name] = part
		}
	}
	if p.Pipeline != nil {
		named["pipeline"] = p.Pipeline
	}
	return named
}

// called is how messages name the project.
func (p projectFile) called() string { return firstOf(p.ID, p.Name) }

// fileWebhook is a webhook. What it does not name stays as it is; its secrets are never in a
// file.
type fileWebhook struct {
	URL      string   `yaml:"url" json:"url"`
	Types    []string `yaml:"types,flow" json:"types"`
	Enabled  *bool    `yaml:"enabled,omitempty" json:"enabled,omitempty"`
	Required *bool    `yaml:"required,omitempty" json:"required,omitempty"`
}

// fileTestSet is a test set, with its questions or the name of a file that has them.
type fileTestSet struct {
	Name  string `yaml:"name" json:"name"`
	File  string `yaml:"file,omitempty" json:"file,omitempty"`
	Items []any  `yaml:"items,omitempty" json:"items,omitempty"`

	read []evaluate.Item
}

// fileSync is a sync. Its connection is there already, because a file has no secrets: it is
// named by its id, or by its type and options.
type fileSync struct {
	Connection     any               `yaml:"connection" json:"connection"`
	Scope          map[string]string `yaml:"scope,omitempty" json:"scope,omitempty"`
	Include        []string          `yaml:"include,omitempty" json:"include,omitempty"`
	Exclude        []string          `yaml:"exclude,omitempty" json:"exclude,omitempty"`
	Tags           []string          `yaml:"tags,omitempty" json:"tags,omitempty"`
	Subjects       []string          `yaml:"subjects,omitempty" json:"subjects,omitempty"`
	Every          string            `yaml:"every,omitempty" json:"every,omitempty"`
	Permissions    string            `yaml:"permissions,omitempty" json:"permissions,omitempty"`
	RemoveVanished *bool             `yaml:"remove_vanished,omitempty" json:"remove_vanished,omitempty"`
}

// readProjectFiles reads the documents of a file. project is the project of documents that
// have tools only, and folder that of the files that they name.
func readProjectFiles(data []byte, project, folder string) ([]projectFile, error) {
	var all []projectFile
	documents := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		if err := documents.Decode(&node); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, wrongUse("%v", err)
		}
		p, err := readProjectFile(&node, project)
		if err != nil {
			return nil, err
		}
		for n := range p.TestSets {
			if err := p.TestSets[n].readItems(folder); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, wrongUse("the file has no project")
	}
	return all, nil
}

func readProjectFile(node *yaml.Node, project string) (p projectFile, err error) {
	if tools := onlyTools(node); tools != nil {
		if project == "" {
			return p, wrongUse("the file has tools only; --project says whose they are")
		}
		return projectFile{ID: project, Tools: map[string]any{"custom": tools}}, nil
	}
	// A node does not refuse fields that are not known, a decoder does.
	encoded, err := yaml.Marshal(node)
	if err != nil {
		return p, err
	}
	strict := yaml.NewDecoder(bytes.NewReader(encoded))
	strict.KnownFields(true)
	if err := strict.Decode(&p); err != nil {
		return p, wrongUse("%v", err)
	}
	if p.ID == "" {
		p.ID = project
	}
	if p.called() == "" {
		return p, wrongUse("a project needs an id or a name")
	}
	return p, nil
}

// onlyTools returns the tools of a document that has nothing else, nil of another one.
func onlyTools(node *yaml.Node) map[string]any {
	var tools map[string]any
	if node.Decode(&tools) != nil || len(tools) == 0 {
		return nil
	}
	for name := range maps.Values(tools) {
		tool, ok := name.(map[string]any)
		if _, typed := tool["type"].(string); !ok || !typed {
			return nil
		}
	}
	return tools
}

// readItems reads the questions of a test set.
func (s *fileTestSet) readItems(folder string) (err error) {
	switch {
	case s.Name == "":
		return wrongUse("a test set needs a name")
	case s.File != "" && len(s.Items) > 0:
		return wrongUse("test set %s has both items and a file", s.Name)
	case s.File != "":
		path := s.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		s.read, err = readQuestions(path)
	default:
		var encoded []byte
		if encoded, err = json.Marshal(s.Items); err == nil {
			s.read, err = evaluate.Read(bytes.NewReader(encoded), evaluate.FormatJSON)
		}
	}
	if err != nil {
		return fmt.Errorf("test set %s: %w", s.Name, err)
	}
	if len(s.read) == 0 {
		return wrongUse("test set %s has no question", s.Name)
	}
	s.read = evaluate.WithIDs(s.read)
	return nil
}
