package extract

import "errors"

// Input is one file to extract.
type Input struct {
	Name      string `json:"name"`       // the name that the file came with; helps to tell text kinds apart
	MediaType string `json:"media_type"` // as declared or as Sniff said, "" = not known
	Path      string `json:"path"`       // the file with the bytes
}

func (in Input) validate() error {
	if in.Path == "" {
		return errors.New("extract: Input.Path is empty")
	}
	return nil
}
