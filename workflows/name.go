package workflows

import "go.temporal.io/sdk/temporal"

// The task queues: one for each resource that work can wait for, so that slow
// work of one kind delays no other.
const (
	QueueQuery      = "query"      // questions: workflows, searches, model calls, tools
	QueueIngest     = "ingest"     // documents: workflows, and steps on Cairn's own stores
	QueueFetch      = "fetch"      // addresses that originals are downloaded from
	QueueParse      = "parse"      // parsers, with one slot for each
	QueueEmbed      = "embed"      // the embedding model
	QueueTranscribe = "transcribe" // the transcription model
	QueueWrite      = "write"      // the rows and index entries of long documents

	QueueBulk      = "bulk"       // imports: workflows, listings, batches of small objects
	QueueBulkLarge = "bulk-large" // imports: objects that take long, each by itself
	QueueWebhook   = "webhook"    // the webhooks of projects: workflows, and requests
)

// Queues returns the task queues.
func Queues() []string {
	return []string{QueueQuery, QueueIngest, QueueFetch, QueueParse, QueueEmbed, QueueTranscribe, QueueWrite, QueueBulk, QueueBulkLarge, QueueWebhook}
}

// The search attributes with which an operator finds workflows.
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
