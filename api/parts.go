package api

import (
	"slices"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/paged"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/scim"
)

// routes adds the routes of one resource.
type routes interface{ mount(e *edge.Edge) }

// parts is what the routes of several resources use.
type parts struct {
	edge      *edge.Edge
	now       func() time.Time
	stopping  <-chan struct{}
	stop      func()
	health    *Health
	late      *intake.Late
	removals  *removalQueue
	intake    *intake.Intake
	imports   *importing.Starter
	syncs     *following.Manager
	questions *question.Starter

	views    *views
	results  *results
	follower *follower
	readers  *runReaders
	streams  *streams
	leases   *leases
	events   *eventRoutes
	forms    *fileForms

	originals        *originals
	pages            *documentPages
	parsed           *parsedRoutes
	documentRemovals *documentRemovals
	projects         *projectRoutes
	projectRemovals  *projectRemovals
	runs             *runRoutes
}

func newParts(cfg Config, deps Deps) *parts {
	now := deps.now
	stopping := make(chan struct{})
	health := NewHealth(deps.Ready, deps.Details, deps.MetricsPage, deps.Log)
	p := &parts{
		now: now, stopping: stopping, stop: sync.OnceFunc(func() { health.Stop(); close(stopping) }), health: health,
		late: intake.NewLate(deps.Dispatch, deps.Log), removals: newRemovalQueue(deps.Dispatch.Remove, deps.Log), streams: newStreams(cfg.Streams, deps.Metrics),
	}
	p.start(cfg, deps)
	p.results = newResults(cfg, deps)
	p.views = p.results.views
	p.follower = &follower{relay: deps.Relay, turns: newTurns(deps.Followed), stopping: stopping}
	p.leases = &leases{ended: deps.Access.Lapsed, left: deps.Access.LeftMembers, now: now, log: deps.Log, open: map[*lease]struct{}{}}
	p.readers = &runReaders{edge: p.edge, store: deps.Store, followed: deps.Followed, blobs: deps.Blobs, access: deps.Access, now: now}
	p.events = &eventRoutes{
		readers: p.readers, follower: p.follower, results: p.results, leases: p.leases, streams: p.streams, log: deps.Log, streamPatience: cfg.StreamPatience,
	}
	p.forms = &fileForms{edge: p.edge, intake: p.intake, imports: p.imports, views: p.views, requestBytes: cfg.RequestBytes, tempDir: cfg.TempDir}
	p.originals = &originals{edge: p.edge, store: deps.Store, blobs: deps.Blobs, access: deps.Access, now: now, presign: cfg.Presign}
	p.pages = &documentPages{originals: p.originals, blobs: deps.Blobs, maker: paged.New(paged.Config{Blobs: deps.Blobs, Converter: deps.Pages, TempDir: cfg.TempDir, Clock: now})}
	p.parsed = &parsedRoutes{originals: p.originals, blobs: deps.Blobs, reader: deps.Texts, tempDir: cfg.TempDir}
	p.documentRemovals = &documentRemovals{store: deps.Store, dispatch: deps.Dispatch, views: p.views, now: now}
	p.projects = &projectRoutes{store: deps.Store, now: now, settings: &projectSettings{
		projects: deps.Store, addresses: deps.Addresses, namedSecrets: deps.NamedSecrets, sealer: deps.Secrets,
		models: deps.ModelNames, has: cfg.InstanceFeatures, levels: cfg.Levels,
	}}
	p.projectRemovals = &projectRemovals{store: deps.Store, dispatch: deps.Dispatch, views: p.views}
	p.runs = &runRoutes{store: deps.Store, dispatch: deps.Dispatch, readers: p.readers, follower: p.follower, results: p.results, views: p.views, now: now}
	return p
}

// start makes what starts runs, and the edge around every handler.
func (p *parts) start(cfg Config, deps Deps) {
	keys := idempotency.New(deps.Store, cfg.Process, deps.Clock)
	p.edge = edge.New(edge.Config{Version: cfg.Version, BodyMemory: cfg.BodyMemory, PublicURL: cfg.PublicURL, AuditQuestions: cfg.AuditQuestions}, edge.Deps{
		Access: deps.Access, Keys: keys, Metrics: deps.Metrics, Audit: deps.Audit, Quota: deps.Quota, Log: deps.Log,
	})
	p.intake = intake.New(intake.Config{InstanceLimits: cfg.InstanceLimits, RequestFiles: cfg.RequestFiles, Levels: cfg.Levels}, intake.Deps{
		Store: deps.Store, Blobs: deps.Blobs, Conversations: deps.Access, Workflows: p.late, Secrets: deps.Secrets, Recognisers: deps.Recognisers, Log: deps.Log, Now: p.now,
	})
	p.imports = importing.New(importing.Deps{
		Store: deps.Store, Blobs: deps.Blobs, Workflows: deps.Dispatch, Sources: deps.Imports, Secrets: deps.NamedSecrets, Log: deps.Log, Now: p.now, Levels: cfg.Levels,
	})
	p.syncs = following.New(following.Deps{
		Store: deps.Store, Sealer: deps.Secrets, Places: deps.Places, Runner: deps.Syncs, Imports: p.imports, Log: deps.Log, Now: p.now,
	})
	p.questions = question.New(question.Config{InstanceLimits: cfg.InstanceLimits, InstanceFeatures: cfg.InstanceFeatures, Shared: cfg.Process != ""}, question.Deps{
		Store: deps.Store, Blobs: deps.Blobs, Keys: keys, Workflows: deps.Answers, Relay: deps.Relay, Log: deps.Log, Now: p.now,
		Attachments: &questionAttachments{store: deps.Store, access: deps.Access, intake: p.intake},
	})
}

// routes returns the routes of all resources.
func (p *parts) routes(cfg Config, deps Deps) []routes {
	return slices.Concat(p.newTenantRoutes(cfg, deps), p.newDocumentRoutes(cfg, deps), p.newRunRoutes(cfg, deps), p.newEvaluationRoutes(cfg, deps), []routes{
		&conversationRoutes{store: deps.Store, edge: p.edge, questions: p.questions, readers: p.readers, results: p.results, now: p.now},
		&forgetRoutes{quotations: deps.Quotations},
		&attachmentRoutes{store: deps.Store, intake: p.intake, readers: p.readers, forms: p.forms, removals: p.documentRemovals, views: p.views},
		&mcpRoutes{edge: p.edge, access: deps.Access, streams: p.streams, leases: p.leases, stopping: p.stopping, version: cfg.Version, log: deps.Log},
		p.health,
		&machineRoutes{checks: deps.Details.Machine},
		&encryptionRoutes{encryption: deps.Encryption},
		&publicationRoutes{store: deps.Store, sealer: deps.Secrets, views: p.views},
		p.newAgentRoutes(cfg, deps),
	})
}

func (p *parts) newTenantRoutes(cfg Config, deps Deps) []routes {
	return []routes{
		&workspaceRoutes{store: deps.Store, now: p.now},
		&limitRoutes{store: deps.Store, meter: deps.Quota},
		&keyRoutes{store: deps.Store, members: deps.Store, rights: deps.Access, levels: cfg.Levels, now: p.now},
		&roleRoutes{store: deps.Store},
		&memberRoutes{store: deps.Store, rights: deps.Access, levels: cfg.Levels, now: p.now},
		&grantRoutes{store: deps.Store, now: p.now},
		&holdRoutes{store: deps.Store, now: p.now},
		&consentRoutes{store: deps.Store, removals: p.removals, now: p.now},
		&subjectRoutes{store: deps.Store, dispatch: deps.Dispatch},
		&retentionRoutes{store: deps.Store, dispatch: deps.Dispatch, base: cfg.Levels.Base()},
		&scimRoutes{edge: p.edge, server: scim.New(scim.Config{Store: deps.Store, Rights: deps.Access, DefaultRole: access.RoleReader})},
		&browserRoutes{store: deps.Store},
		&sessionRoutes{access: deps.Access, methods: deps.Access.SignInMethods(), levels: cfg.Levels, edge: p.edge},
		&providerRoutes{access: deps.Access, edge: p.edge},
		&connectionRoutes{connections: deps.Store, syncs: p.syncs, now: p.now},
		&syncRoutes{store: deps.Store, intake: p.intake, syncs: p.syncs, views: p.views, now: p.now},
		&auditRoutes{store: deps.Store, chain: deps.AuditChain},
		&secretRoutes{store: deps.Store, namedSecrets: deps.NamedSecrets, now: p.now},
		p.projects,
		p.projectRemovals,
		&usageRoutes{store: deps.Store, meter: deps.Quota, currency: cfg.Currency, now: p.now},
		&deliveryRoutes{store: deps.Store},
		&preferenceRoutes{edge: p.edge, store: deps.Store, has: cfg.InstanceFeatures},
	}
}

func (p *parts) newDocumentRoutes(cfg Config, deps Deps) []routes {
	reindexes := &reindexRoutes{store: deps.Store, dispatch: deps.Dispatch, views: p.views, log: deps.Log}
	// A file in base64 is a third longer; the rest of the body is small.
	limit := min(max(cfg.FileBytes/3*4, cfg.TextBytes*2)+edge.SmallBody, cfg.RequestBytes)
	return []routes{
		&documentSummaryRoutes{store: deps.Store, now: p.now},
		&accessRoutes{explainer: deps.Access.Explainer(deps.Store, p.now)},
		&documentRoutes{store: deps.Store, attributes: deps.Attributes, removals: p.documentRemovals, views: p.views, levels: cfg.Levels, log: deps.Log},
		&documentActionRoutes{store: deps.Store, intake: p.intake, imports: p.imports, removals: p.removals, reindexes: reindexes, now: p.now},
		&documentPartRoutes{store: deps.Store, intake: p.intake, views: p.views},
		p.originals,
		p.pages,
		&pagePictureRoutes{originals: p.originals, pages: p.pages, blobs: deps.Blobs, drawer: deps.Pages, tempDir: cfg.TempDir},
		&personalDataRoutes{store: deps.Store, originals: p.originals, blobs: deps.Blobs},
		p.parsed,
		&pipelineRoutes{store: deps.Store, parsed: p.parsed, retriever: deps.Retriever, questions: p.questions, addresses: deps.Addresses, steps: deps.Steps},
		&uploadRoutes{edge: p.edge, store: deps.Store, intake: p.intake, follower: p.follower, results: p.results, views: p.views, limit: limit},
		&fileRoutes{store: deps.Store, forms: p.forms},
		&chunkRoutes{store: deps.Store, pages: p.pages},
		&importRoutes{store: deps.Store, intake: p.intake, imports: p.imports, results: p.results, views: p.views},
		reindexes,
		&retrieveRoutes{edge: p.edge, store: deps.Store, retriever: deps.Retriever, questions: p.questions},
	}
}

func (p *parts) newRunRoutes(cfg Config, deps Deps) []routes {
	return []routes{
		p.runs,
		&runFileRoutes{readers: p.readers, blobs: deps.Blobs},
		&runControlRoutes{store: deps.Store, blobs: deps.Blobs, dispatch: deps.Dispatch, imports: p.imports, views: p.views},
		p.events,
		&questionRoutes{
			edge: p.edge, questions: p.questions, events: p.events, readers: p.readers, views: p.views, forms: p.forms,
			addresses: deps.Addresses, sealer: deps.Secrets, tools: cfg.Tools, fileBytes: cfg.FileBytes,
		},
	}
}

func (p *parts) newEvaluationRoutes(cfg Config, deps Deps) []routes {
	return []routes{
		&testSetRoutes{
			edge: p.edge, store: deps.Store, blobs: deps.Blobs, readers: p.readers, now: p.now,
			questions: p.questions, dispatch: deps.Dispatch, views: p.views, log: deps.Log,
		},
		&evaluationRoutes{
			edge: p.edge, store: deps.Store, blobs: deps.Blobs, questions: p.questions, dispatch: deps.Dispatch, addresses: deps.Addresses, runs: p.runs,
			results: p.results, views: p.views, log: deps.Log, now: p.now,
		},
		&insightRoutes{store: deps.Store, blobs: deps.Blobs, passages: p.results, embedding: deps.Models.Embedding, currency: cfg.Currency, log: deps.Log, now: p.now},
	}
}

// mountOpenAI adds the routes of the OpenAI protocol.
func (p *parts) mountOpenAI(cfg Config, deps Deps) error {
	return openai.Register(openai.Deps{
		Edge: p.edge, Store: deps.Store, Questions: p.questions, Models: deps.Models, FileBytes: cfg.FileBytes,
		Runs: &openaiRuns{store: deps.Store, blobs: deps.Blobs, events: p.events, runs: p.runs},
		Blobs: &openaiLibrary{
			Blobs: deps.Blobs, store: deps.Store, intake: p.intake, attributes: deps.Attributes, questions: p.questions, retriever: deps.Retriever,
			originals: p.originals, documentRemovals: p.documentRemovals, projects: p.projects, projectRemovals: p.projectRemovals,
		},
		Addresses: deps.Addresses, WriteAllowance: writeAllowance, Address: p.views.address,
	})
}
