package workflows

import "go.temporal.io/sdk/temporal"

// The task queues: one for each resource that work can wait for, so that slow
// work of one kind holds up no other.
const (
	QueueQuery  = "query"  // questions: workflows, searches, model calls, tools
	QueueIngest = "ingest" // documents: workflows, and steps on our own stores
	QueueFetch  = "fetch"  // addresses that originals are fetched from
	QueueParse  = "parse"  // parsers; as many slots as there are of these
	QueueEmbed  = "embed"  // the embedding model
)

// The search attributes by which an operator finds workflows.
const (
	AttributeWorkspace = "CairnWorkspace"
	AttributeProject   = "CairnProject"
	AttributeDocument  = "CairnDocument"
	AttributeStage     = "CairnStage"
	AttributeStatus    = "CairnStatus"
)

// The typed keys of the search attributes.
var (
	KeyWorkspace = temporal.NewSearchAttributeKeyKeyword(AttributeWorkspace)
	KeyProject   = temporal.NewSearchAttributeKeyKeyword(AttributeProject)
	KeyDocument  = temporal.NewSearchAttributeKeyKeyword(AttributeDocument)
	KeyStage     = temporal.NewSearchAttributeKeyKeyword(AttributeStage)
	KeyStatus    = temporal.NewSearchAttributeKeyKeyword(AttributeStatus)
	KeyBuilds    = temporal.NewSearchAttributeKeyKeywordList("BuildIds") // Temporal's own: which builds of the workers ran it
)
