package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// checkAddresses refuses a request for a model of the instance whose messages have an address
// that users may not reach, such as the address of a picture: many endpoints fetch it themselves,
// from inside the network.
func (s *Server) checkAddresses(ctx context.Context, body []byte) error {
	var request struct {
		Messages []struct {
			Content any `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return fmt.Errorf("decode the request: %w", err)
	}
	distinct := map[string]bool{}
	for i, m := range request.Messages {
		for _, address := range addresses(m.Content, "") {
			if distinct[address] {
				continue
			}
			distinct[address] = true
			if len(distinct) > maxAddresses {
				return knowledge.Invalid("body.messages", "must have at most %d addresses", maxAddresses)
			}
			if err := s.deps.Addresses.CheckResolved(ctx, address); err != nil {
				return knowledge.Invalid(fmt.Sprintf("body.messages[%d].content", i), "%s", knowledge.AsError(err).Message)
			}
		}
	}
	return nil
}

// maxAddresses bounds the addresses of a request, whose names are resolved.
const maxAddresses = 100

// addresses returns the addresses in the parts of a message, without data: addresses. name is
// the key of part, "" = none.
func addresses(part any, name string) []string {
	var list []string
	switch part := part.(type) {
	case []any:
		for _, inner := range part {
			list = append(list, addresses(inner, name)...)
		}
	case map[string]any:
		for key, inner := range part {
			list = append(list, addresses(inner, strings.ToLower(key))...)
		}
	case string:
		if holdsAddress(name, part) && !strings.HasPrefix(part, "data:") {
			list = append(list, part)
		}
	}
	return list
}

// holdsAddress reports whether a string at a key is an address: {"image_url": {"url": …}} is
// what all endpoints know, and some know video_url, or an address as an image.
func holdsAddress(name, value string) bool {
	switch name {
	case "url":
		return true
	case "image", "video", "audio", "file":
		return strings.Contains(value, "://")
	}
	return strings.HasSuffix(name, "_url")
}
