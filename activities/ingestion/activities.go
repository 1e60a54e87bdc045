package ingestion

import "github.com/cairn-rag/cairn/activities/step"

// Activities are the activities of IngestDocument, RemoveDocument, RemoveProject,
// ApplyRetention, ReindexProject, EraseSubject and ExportSubject. The zero value has their names for workflows.
type Activities struct {
	*Preparing
	*Fetching
	*Extracting
	*ReadingPictures
	*Enriching
	*Embedding
	*Publishing
	*Retiring
	*Ending
	*Removing
	*RemovingProjects
	*Retaining
	*Erasing
	*Reindexing
	*Filling
	*EndingGrants

	steps documentSteps // for NewImporting
}

// New returns the activities of documents.
func New(d Dependencies) *Activities {
	limits, ender := newBounds(d.Config.LargeBytes), step.RunEnder{Blobs: d.Blobs, Runs: d.Runs, Hub: d.Hub}
	logged := stepLog{d.Log}
	measured := steps{logged, d.Versions, d.Metrics}

	cuts, vectors, answers := &cuts{d.Blobs}, &vectors{d.Blobs}, &answers{d.Blobs, d.Versions}
	generations := &generations{d.Versions, d.Embedder, d.EmbedderOf}
	batches := &batches{Blobs: d.Blobs, Versions: d.Versions, Metrics: d.Metrics, Log: d.Log, vectors: vectors, Recognisers: d.Recognisers}
	chats := &chats{Chat: d.Chat, Failover: d.Failover, Recognisers: d.Recognisers, Metrics: d.Metrics, Log: d.Log}
	reading := newReading(d, limits, answers)
	scanning := &scanning{Scanner: d.Scanner, Audit: d.Audit, Blobs: d.Blobs, Log: d.Log}
	cutting := &cutting{
		Blobs: d.Blobs, Versions: d.Versions, Embedder: d.Embedder, SmallTexts: d.SmallTexts, TempDir: d.Config.TempDir,
		cuts: cuts, reading: reading, generations: generations, batches: batches, answers: answers, chats: chats, Recognisers: d.Recognisers,
		custom: &customSteps{step.Pipeline{Blobs: d.Blobs, Runner: d.Steps, Log: d.Log}, d.Reindexes},
	}
	stopping := &stopping{stepLog: logged, Removals: d.Removals, Runs: d.Runs, Workflows: d.Workflows, ender: ender}
	ending := &Ending{
		steps: measured, Blobs: d.Blobs, Runs: d.Runs, Hub: d.Hub, Index: d.Index, Embedder: d.Embedder,
		ender: ender, vectors: vectors, answers: answers,
	}

	removing := &Removing{
		stepLog: logged, Removals: d.Removals, Children: d.Children, Workflows: d.Workflows, Index: d.Index, Blobs: d.Blobs, Metrics: d.Metrics,
		ender: ender, vectors: vectors, stopping: stopping,
	}

	a := &Activities{
		Preparing:  &Preparing{steps: measured, Config: d.Config, Blobs: d.Blobs, Runs: d.Runs, scans: d.Scanner != nil, cutting: cutting, ending: ending},
		Fetching:   &Fetching{steps: measured, Config: d.Config, Blobs: d.Blobs, Dialer: d.Dialer, Browser: d.Browser},
		Extracting: &Extracting{steps: measured, Blobs: d.Blobs, bounds: limits, scanning: scanning, reading: reading, cutting: cutting, speech: reading.speech},
		ReadingPictures: &ReadingPictures{
			steps: measured, Blobs: d.Blobs, Drawer: d.Drawer, TempDir: d.Config.TempDir,
			files: reading.files, reading: reading, chats: chats, answers: answers,
		},
		Enriching: &Enriching{steps: measured, Blobs: d.Blobs, Embedder: d.Embedder, cuts: cuts, chats: chats, answers: answers},
		Embedding: &Embedding{steps: measured, bounds: limits, cuts: cuts, generations: generations, batches: batches},
		Publishing: &Publishing{
			steps: measured, Blobs: d.Blobs, Originals: d.Originals, Index: d.Index, Attributes: d.Attributes, Embedder: d.Embedder,
			cuts: cuts, vectors: vectors, generations: generations, batches: batches, answers: answers, ending: ending,
		},
		Retiring: &Retiring{stepLog: logged, Versions: d.Versions, Children: d.Children, Workflows: d.Workflows, Index: d.Index, vectors: vectors},
		Ending:   ending,
		Removing: removing,
		RemovingProjects: &RemovingProjects{
			Removals: d.Removals, Workflows: d.Workflows, Index: d.Index, Blobs: d.Blobs, Metrics: d.Metrics, Log: d.Log,
			ender: ender, stopping: stopping,
		},
		Retaining: &Retaining{
			Retention: d.Retention, Workflows: d.Workflows, Blobs: d.Blobs, Base: d.Config.Levels.Base(), Metrics: d.Metrics, Log: d.Log, ender: ender,
			removing: removing, Attributes: d.Attributes,
		},
		Erasing: &Erasing{
			Subjects: d.Subjects, Workflows: d.SubjectWorkflows, Quotations: d.Quotations, Blobs: d.Blobs, Metrics: d.Metrics, Log: d.Log, ender: ender, stopping: stopping,
		},
		Reindexing: &Reindexing{
			Blobs: d.Blobs, Reindexes: d.Reindexes, Workflows: d.Workflows, Embedder: d.Embedder, Metrics: d.Metrics, Log: d.Log, ender: ender,
		},
		Filling: &Filling{
			Versions: d.Versions, Reindexes: d.Reindexes, Index: d.Index, Attributes: d.Attributes, Log: d.Log,
			vectors: vectors, generations: generations, batches: batches,
		},
		EndingGrants: &EndingGrants{Grants: d.Grants, Log: d.Log},
	}
	a.steps = documentSteps{
		Config: d.Config, Blobs: d.Blobs, Versions: d.Versions, Runs: d.Runs, Index: d.Index, Attributes: d.Attributes,
		SmallTexts: d.SmallTexts, Embedder: d.Embedder, Metrics: d.Metrics,
		ender: ender, cuts: cuts, vectors: vectors, generations: generations, batches: batches, scanning: scanning, cutting: cutting,
		extracting: a.Extracting, pictures: a.ReadingPictures, enriching: a.Enriching, publishing: a.Publishing, retiring: a.Retiring,
	}
	return a
}

// newReading returns what reads originals.
func newReading(d Dependencies, limits *bounds, answers *answers) *reading {
	files := &files{Blobs: d.Blobs, Secrets: d.Secrets, TempDir: d.Config.TempDir}
	return &reading{
		Blobs: d.Blobs, Versions: d.Versions, Extractor: d.Extractor, SmallTexts: d.SmallTexts, Log: d.Log, files: files,
		attachments: &attachments{Blobs: d.Blobs, Children: d.Children, Runs: d.Runs, Workflows: d.Workflows, Recognisers: d.Recognisers, Log: d.Log, files: files},
		speech: &speech{
			Blobs: d.Blobs, Extractor: d.Extractor, Transcriber: d.Transcriber, Metrics: d.Metrics,
			bounds: limits, files: files, answers: answers,
		},
	}
}

// NewImporting returns the activities of imports, which share the steps and the limits of
// the activities of documents.
func NewImporting(d ImportDependencies, documents *Activities) *Importing {
	return &Importing{ImportDependencies: d, documents: documents.steps}
}
