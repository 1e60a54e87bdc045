package milvus

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/cairn-rag/cairn/internal/index"
)

// maxMetadata is the number of bytes of a JSON field in Milvus.
const maxMetadata = 65536

// The kinds of facts. A fact is a hash of its kind, a key of the metadata and,
// where equality is asked, a value.
const (
	factTagged  = "tagged"  // there is a tag; without a key
	factText    = "text"    // the value is a text
	factExists  = "exists"  // the key has a value that is not null
	factEquals  = "equals"  // the value
	factElement = "element" // an element of the value, which is a list
)

// factsOf returns what equality can be asked of the metadata, and the texts and
// numbers for all other comparisons.
func factsOf(metadata map[string]any) (facts []string, comparable map[string]any, err error) {
	data, err := json.Marshal(metadata)
	if err != nil {
		return nil, nil, fmt.Errorf("metadata: %w", err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(data, &decoded); err != nil {
		return nil, nil, fmt.Errorf("metadata: %w", err)
	}
	comparable = map[string]any{}
	for key, value := range decoded {
		if value == nil {
			continue
		}
		facts = append(facts, hash(factExists, key))
		switch v := value.(type) {
		case string:
			facts = append(facts, hash(factText, key))
			comparable[textKey(key)] = letters(v)
		case float64:
			comparable[numberKey(key)] = v
		case []any:
			for _, element := range v {
				if fact := factOf(factElement, key, element); fact != "" {
					facts = append(facts, fact)
				}
			}
		}
		if fact := factOf(factEquals, key, value); fact != "" {
			facts = append(facts, fact)
		}
	}
	return facts, comparable, nil
}

// factOf returns the fact that a value of the metadata is v, "" for values that
// equal nothing.
func factOf(kind, key string, v any) string {
	switch v := v.(type) {
	case string:
		return hash(kind, key, "text", v)
	case float64:
		return hash(kind, key, "number", strconv.FormatFloat(v, 'g', -1, 64))
	case bool:
		return hash(kind, key, "truth", strconv.FormatBool(v))
	}
	return ""
}

func textKey(key string) string   { return "t" + hash(key)[:16] }
func numberKey(key string) string { return "n" + hash(key)[:16] }

// metadataJSON returns the JSON field of an entry: the comparable metadata, and
// the letters of the texts of which a part can be asked.
func metadataJSON(e index.Entry, language string, comparable map[string]any) ([]byte, error) {
	fields := map[string]any{
		fieldDocument: letters(e.DocumentID), fieldName: letters(e.Name),
		fieldLanguage: letters(language), fieldClassification: letters(e.Classification),
	}
	for key, value := range comparable {
		fields[key] = value
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if len(data) > maxMetadata {
		return nil, invalid("the metadata of document %s takes %d bytes in Milvus, which stores %d; shorten it", e.DocumentID, len(data), maxMetadata)
	}
	return data, nil
}
