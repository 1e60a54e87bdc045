package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// partImage is the type of a part of a chat completion that is a picture.
const partImage = "image_url"

// pictureAddress is the address of a picture: a text, or an object with a url.
type pictureAddress string

// UnmarshalJSON implements json.Unmarshaler.
func (a *pictureAddress) UnmarshalJSON(data []byte) error {
	var object struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(data, &object); err == nil {
		*a = pictureAddress(object.URL)
		return nil
	}
	return json.Unmarshal(data, (*string)(a))
}

// takePictures removes the pictures from the messages of the user and returns them: pictures of
// the question first, and pictures of older messages last, because a model is shown only some.
func (b ChatRequest) takePictures() ([]filePart, error) {
	var pictures []filePart
	question := true
	for i, m := range slices.Backward(b.Messages) {
		if m.Role != "user" {
			continue
		}
		location := fmt.Sprintf("body.messages[%d].content", i)
		var others []filePart
		for _, part := range m.Content.files {
			if part.Type != partImage {
				others = append(others, part)
				continue
			}
			if address := string(part.ImageURL); strings.HasPrefix(address, "data:") && !strings.HasPrefix(address, "data:image/") {
				return nil, knowledge.Invalid(location, "has an image_url whose data: address is no picture; its media type must begin with image/")
			}
			pictures = append(pictures, part)
		}
		if question && len(others) < len(m.Content.files) && strings.TrimSpace(m.Content.text) == "" {
			return nil, knowledge.Invalid(location, "has a picture and no text; add a part of the type text with a question about the picture")
		}
		question, b.Messages[i].Content.files = false, others
	}
	if len(pictures) > knowledge.MaxAttachments {
		return nil, knowledge.Invalid("body.messages", "must have at most %d pictures", knowledge.MaxAttachments)
	}
	return pictures, nil
}
