package extract

import "errors"

// Input is one file to extract.
type Input struct {
	Name      string `json:"name"`       // the file's name as uploaded; tells kinds of text apart
	MediaType string `json:"media_type"` // as declared or as Sniff returned it, "" = unknown
	Path      string `json:"path"`       // of the file to read
}

func (in Input) validate() error {
	if in.Path == "" {
		return errors.New("extract: Input.Path is empty")
	}
	return nil
}
