package record

import (
	"math"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// ImportProgress is how far an import is: the inline data of an importUpdate event.
type ImportProgress struct {
	knowledge.ImportCounts
	Status             knowledge.ImportStatus `json:"status"`
	Listed             bool                   `json:"listed,omitempty"`
	DocumentsPerSecond float64                `json:"documents_per_second"`
	ETASeconds         *float64               `json:"eta_seconds"`

	Waiting *knowledge.ImportWaiting `json:"waiting,omitempty"` // nil = no document waits for the provider
}

// Same reports whether nothing that a reader cares for has changed.
func (p ImportProgress) Same(other ImportProgress) bool {
	same := p.Waiting == nil && other.Waiting == nil || p.Waiting != nil && other.Waiting != nil && *p.Waiting == *other.Waiting
	return same && p.ImportCounts == other.ImportCounts && p.Status == other.Status && p.Listed == other.Listed
}

// ProgressOf returns how far an import is. While documents wait for the provider, the speed of
// before tells nothing about the time that is left.
func ProgressOf(i store.Import) ImportProgress {
	pace := i.Counts.Pace(i.Active, i.Listed)
	p := ImportProgress{ImportCounts: i.Counts, Status: i.Status, Listed: i.Listed, Waiting: i.Waiting}
	if i.Waiting != nil {
		return p
	}
	p.DocumentsPerSecond = tenths(pace.PerSecond)
	if pace.Left != nil {
		p.ETASeconds = new(tenths(pace.Left.Seconds()))
	}
	return p
}

func tenths(x float64) float64 { return math.Round(x*10) / 10 }

// Progress returns the completed share of a version's work, 0..1. part is the
// completed share of the stage, 0..1. Embedding has parts, and so has extraction by a
// model that looks at pictures.
func Progress(stage knowledge.Stage, part float64) float64 {
	switch stage {
	case knowledge.StageCheck:
		return 0.05
	case knowledge.StageExtract:
		return 0.1 + part*0.2
	case knowledge.StageRedact, knowledge.StageEnrich:
		return 0.3
	case knowledge.StageChunk:
		return 0.35
	case knowledge.StageEmbed:
		return 0.4 + part*0.5
	case knowledge.StagePublish:
		return 0.9
	default:
		return 0
	}
}
