package knowledge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Splitter says how text is cut into chunks. Sizes are Unicode code points. A
// field that is not set means the default; WithDefaults fills it in.
type Splitter struct {
	Strategy     string `json:"strategy,omitempty" enum:"structure,fixed,sliding,semantic,hierarchical,dynamic" doc:"structure: at headings, then between blocks, rows and sentences. fixed: pieces of equal size. sliding: windows of whole sentences. semantic: where the embeddings of neighbouring sentences differ most. hierarchical: small chunks are found and cited, and the model reads the larger ones around them. dynamic: structure or sliding, as the layout of each section suggests. Default: structure"`
	ChunkSize    int    `json:"chunkSize,omitempty" minimum:"100" maximum:"8000" doc:"The size of a chunk in characters; with hierarchical, of the parent chunk. A chunk is smaller if it would exceed models.embedding.max_tokens. Default: 1000"`
	ChunkOverlap *int   `json:"chunkOverlap,omitempty" minimum:"0" doc:"The overlap in characters, less than half of chunkSize. semantic and hierarchical chunks do not overlap. Default: 100, or less if chunkSize is small"`
	// Separators are texts after which a passage that is longer than a chunk is cut,
	// the most important first. None means after a sentence.
	Separators []string `json:"separators,omitempty" maxItems:"20" doc:"Texts after which a passage longer than a chunk may be cut, most important first, each of 1 to 100 characters. Rows of tables and lines of code are not cut. Default: the ends of sentences"`
}

// The strategies of a Splitter.
const (
	SplitStructure    = "structure"    // at headings, then between blocks, rows and sentences
	SplitFixed        = "fixed"        // pieces of equal size
	SplitSliding      = "sliding"      // windows of sentences that overlap
	SplitSemantic     = "semantic"     // where the meaning of neighbouring sentences differs most
	SplitHierarchical = "hierarchical" // small chunks that are found, within larger ones that are read
	SplitDynamic      = "dynamic"      // structure or sliding, as the layout of each section suggests
)

// splitStrategies are all strategies, the default first.
var splitStrategies = []string{SplitStructure, SplitFixed, SplitSliding, SplitSemantic, SplitHierarchical, SplitDynamic}

// The limits of a splitter, in code points.
const (
	DefaultChunkSize    = 1000
	DefaultChunkOverlap = 100
	MinChunkSize        = 100
	MaxChunkSize        = 8000
	maxSeparators       = 20
	maxSeparatorLength  = 100
)

// WithDefaults returns the splitter with its defaults filled in.
func (s Splitter) WithDefaults() Splitter {
	s.Strategy = cmp.Or(s.Strategy, splitStrategies[0])
	s.ChunkSize = cmp.Or(s.ChunkSize, DefaultChunkSize)
	if s.ChunkOverlap == nil {
		s.ChunkOverlap = new(min(DefaultChunkOverlap, mostOverlap(s.ChunkSize)))
	}
	return s
}

// mostOverlap is the largest overlap below half of a chunk.
func mostOverlap(chunkSize int) int { return (chunkSize - 1) / 2 }

// Fields returns what is wrong with the splitter, as found at location.
func (s Splitter) Fields(location string) []Field {
	var f []Field
	s = s.WithDefaults()
	if !slices.Contains(splitStrategies, s.Strategy) {
		f = append(f, Field{location + ".strategy", "must be one of " + strings.Join(splitStrategies, ", ")})
	}
	if s.ChunkSize < MinChunkSize || s.ChunkSize > MaxChunkSize {
		f = append(f, Field{location + ".chunkSize", fmt.Sprintf("must be between %d and %d", MinChunkSize, MaxChunkSize)})
	}
	if *s.ChunkOverlap < 0 || *s.ChunkOverlap > mostOverlap(s.ChunkSize) {
		f = append(f, Field{location + ".chunkOverlap", "must be below half of chunkSize"})
	}
	if len(s.Separators) > maxSeparators {
		f = append(f, Field{location + ".separators", fmt.Sprintf("must have at most %d texts", maxSeparators)})
	} else if slices.ContainsFunc(s.Separators, func(text string) bool { return text == "" || utf8.RuneCountInString(text) > maxSeparatorLength }) {
		f = append(f, Field{location + ".separators", fmt.Sprintf("must have texts of 1 to %d characters", maxSeparatorLength)})
	}
	return f
}
