package knowledge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// Override is what one document changes of its project's configuration, for its
// ingestion. The versions of the document keep it: a reingest applies it to the
// project's configuration of then.
type Override struct {
	Splitter  json.RawMessage `json:"textSplitter,omitempty"` // any part of a Splitter
	Parser    Parser          `json:"parser,omitempty"`
	Languages []string        `json:"ocrLanguages,omitempty"` // of the text in pictures, three letters each; empty = English
}

// Parser selects how the text of a document is found.
type Parser string

// The parsers. The empty one is ParserCrawler.
const (
	ParserCrawler Parser = "crawler" // the text that is in the file
	ParserModel   Parser = "model"   // a model looks at pictures of the pages
)

// IsZero reports whether the document changes nothing.
func (o Override) IsZero() bool {
	return len(o.Splitter) == 0 && o.Parser == "" && len(o.Languages) == 0
}

// ApplyTo returns the splitter of a document in a project. Its error is CodeInvalid if
// the override has a field that the configuration does not allow.
func (o Override) ApplyTo(config ProjectConfig) (Splitter, error) {
	if len(o.Splitter) > 0 {
		change, err := json.Marshal(map[string]any{"ai": map[string]any{"textSplitter": o.Splitter}})
		if err == nil {
			config, err = config.With(change)
		}
		if err != nil {
			return Splitter{}, fmt.Errorf("override the splitter: %w", err)
		}
	}
	splitter := config.WithDefaults().AI.Splitter
	return splitter, InvalidFields(splitter.Fields("body.override.textSplitter"))
}

// EnrichmentIn returns the enrichment of a document in a project.
func (o Override) EnrichmentIn(config ProjectConfig) VersionEnrichment {
	e := VersionEnrichment{Enrichment: config.AI.Enrichment, Pictures: config.AI.Multimodal && !config.Privacy.RedactsForProviders(), Tables: config.AI.Tables, Privacy: config.Privacy.OfVersion(), Steps: config.Pipeline.OfVersion()}
	if e.Pictures || e.ReadsText() || o.Parser == ParserModel {
		e.Model = config.AI.Model
	}
	return e
}

// maxLanguages bounds the languages of the text in pictures: each slows down its
// recognition.
const maxLanguages = 8

// languageCode is a code as tesseract names its languages: "deu", "chi_sim".
var languageCode = regexp.MustCompile(`^[a-z]{3}(_[a-z]{2,8})?$`)

// Fields returns what is wrong with the override, beside its splitter.
func (o Override) Fields(location string) []Field {
	var wrong []Field
	if !slices.Contains([]Parser{"", ParserCrawler, ParserModel}, o.Parser) {
		wrong = append(wrong, Field{"body.parser", "must be crawler or model"})
	}
	if len(o.Languages) > maxLanguages || slices.ContainsFunc(o.Languages, func(l string) bool { return !languageCode.MatchString(l) }) {
		wrong = append(wrong, Field{location + ".ocrLanguages", fmt.Sprintf("must be at most %d codes of three letters, as eng or deu", maxLanguages)})
	}
	return wrong
}

// PipelineVersion changes when an unchanged file would become another document: then the
// next upload or import of it makes a new version.
const PipelineVersion = 1
