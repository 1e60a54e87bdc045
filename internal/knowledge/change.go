package knowledge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// With returns the configuration with a change laid over it: JSON with any part
// of a configuration, merged as RFC 7386 says. Fields that it names are set, to zero
// too; null resets a field to its default. A change that is empty or null itself
// changes nothing.
func (c ProjectConfig) With(change json.RawMessage) (ProjectConfig, error) {
	encoded, err := json.Marshal(c)
	if err != nil {
		return c, fmt.Errorf("encode configuration: %w", err)
	}
	base, err := object(encoded)
	if err != nil {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	over, err := object(change)
	if err != nil {
		return c, fmt.Errorf("read change: %w", err)
	}
	merge(base, over)
	if encoded, err = json.Marshal(base); err != nil {
		return c, fmt.Errorf("encode merged configuration: %w", err)
	}
	var merged ProjectConfig
	if err := json.Unmarshal(encoded, &merged); err != nil {
		return c, fmt.Errorf("merge configuration: %w", err)
	}
	return merged, nil
}

// object reads a JSON object, with its numbers as they are written.
func object(data []byte) (map[string]any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var o map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err := decoder.Decode(&o)
	return o, err
}

func merge(base, change map[string]any) {
	for name, value := range change {
		name = nameIn(base, name)
		switch value := value.(type) {
		case nil:
			delete(base, name)
		case map[string]any:
			inner, ok := base[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
			}
			merge(inner, value)
			base[name] = inner
		default:
			base[name] = value
		}
	}
}

// nameIn returns a name as the object writes it: readers of JSON take names in
// upper and lower case, and two of one field would not be merged.
func nameIn(object map[string]any, name string) string {
	for known := range object {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return name
}
