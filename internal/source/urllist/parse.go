package urllist

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Limits of a list.
const (
	maxList      = 64 << 20 // bytes
	maxAddresses = 500_000
	maxAddress   = 4096 // bytes
)

// parse returns the addresses of a list without repetitions: a text with one a
// line, where lines that begin with "#" are comments, or JSON with an array of
// strings or of objects with "url". Whether each is an address is decided when
// it is opened.
func parse(data []byte) ([]string, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if !utf8.Valid(data) {
		return nil, notAList("it is not UTF-8 text")
	}
	lines := strings.Split(string(data), "\n")
	switch {
	case bytes.HasPrefix(data, []byte("[")):
		var err error
		if lines, err = parseJSON(data); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(data, []byte("<")):
		return nil, notAList("it is a page or XML; a site is imported with the type crawl")
	}
	seen := make(map[string]bool, len(lines))
	addresses := make([]string, 0, len(lines))
	for _, line := range lines {
		address := strings.TrimSpace(line)
		if address == "" || strings.HasPrefix(address, "#") || seen[address] {
			continue
		}
		if len(address) > maxAddress {
			return nil, notAList("a line of it is longer than an address")
		}
		seen[address] = true
		addresses = append(addresses, address)
	}
	switch {
	case len(addresses) == 0:
		return nil, notAList("it is empty")
	case len(addresses) > maxAddresses:
		return nil, knowledge.Errorf(knowledge.CodeTooLarge, "the list has more than %d URLs; split it", maxAddresses)
	}
	return addresses, nil
}

func parseJSON(data []byte) ([]string, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, notAList("its JSON is broken")
	}
	addresses := make([]string, 0, len(entries))
	for _, entry := range entries {
		var text string
		var object struct {
			URL string `json:"url"`
		}
		switch {
		case json.Unmarshal(entry, &text) == nil && text != "":
			addresses = append(addresses, text)
		case json.Unmarshal(entry, &object) == nil && object.URL != "":
			addresses = append(addresses, object.URL)
		default:
			return nil, notAList(`an element of its array is neither a string nor an object with "url"`)
		}
	}
	return addresses, nil
}

func notAList(why string) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "source.uri is not a list of URLs: %s; write one URL a line, or a JSON array", why)
}
