package selection

import (
	"encoding/json"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// descriptionSuffix ends the key of an object that describes another one: the
// description of report.pdf is report.pdf.meta.json.
const descriptionSuffix = ".meta.json"

// MaxDescription is the largest description, in bytes.
const MaxDescription = 64 << 10

// Description is what an object says of the object that it stands beside.
type Description struct {
	Name     string         `json:"name"`
	Tags     []string       `json:"tags"`
	Metadata map[string]any `json:"metadata"`
	Subjects []string       `json:"subjects"`
}

// Described returns the key of the object that an object describes; ok is false if the
// object is none that describes another.
func Described(key string) (described string, ok bool) {
	described, ok = strings.CutSuffix(key, descriptionSuffix)
	return described, ok && described != "" && !strings.HasSuffix(described, "/")
}

// ParseDescription reads a description. Fields that it does not know are ignored: other
// programs may have written it.
func ParseDescription(data []byte) (*Description, error) {
	var d Description
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the description beside the object is not a JSON object with name, tags, metadata and subjects; correct it").WithCause(err)
	}
	return &d, nil
}
