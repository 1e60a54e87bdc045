package server

import (
	"context"
	"fmt"
	"net"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/delivery"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/console"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/forget"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/namespace"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/webhook"
	"github.com/cairn-rag/cairn/worker"
)

// listen opens the API's listener; requests wait in its queue until startAPI.
func (p *platform) listen(context.Context) (err error) {
	if p.listener, err = net.Listen("tcp", p.cfg.Listen); err != nil {
		return fmt.Errorf("listen on %s: %w; stop what is there, or give another --listen", p.cfg.Listen, err)
	}
	p.onClose(func() error {
		p.listener.Close()
		return nil
	})
	p.ends.API = urlOf(p.listener)
	return nil
}

// urlOf returns the address at which programs of this machine reach a listener: one of
// all interfaces has none of its own.
func urlOf(listener net.Listener) string {
	at := listener.Addr().String()
	if host, port, err := net.SplitHostPort(at); err == nil && net.ParseIP(host).IsUnspecified() {
		at = net.JoinHostPort("localhost", port)
	}
	return "http://" + at
}

// startAPI serves requests, when all other parts run.
func (p *platform) startAPI(ctx context.Context) error {
	authenticator, err := p.access(ctx)
	if err != nil {
		return err
	}
	relay := stream.NewRelayWithoutHub(p.source())
	if p.worker != nil { // cairn up, whose output is read by who started it
		relay = stream.NewRelay(p.source(), p.hub)
		p.signIn = p.ends.API + "/#token=" + authenticator.NewSignInToken(p.instanceKey)
	}
	server, err := api.New(p.apiConfig(), api.Deps{
		Store: p.store, Followed: p.store, Blobs: p.originals,
		Access:    authenticator,
		Retriever: p.retriever(), Recognisers: p.recognisers(), Pages: p.drawers, Texts: p.drawers, Attributes: p.attributes, Dispatch: p.workflow, Secrets: p.secrets, Steps: p.steps(), Answers: p.workflow, Relay: relay, Models: p.openaiModels(), ModelNames: p.chats, Imports: p.sources(), Syncs: p.runner(), Places: p.connector, NamedSecrets: p.credentials(),
		Audit: p.recorder, AuditChain: p.keeper, Quota: p.meter(), Encryption: encryption{p},
		Quotations: p.quotations(),
		Links:      links{p}, Addresses: p.dialer, Log: p.log, Metrics: p.metrics, MetricsPage: p.metrics.Handler(), Ready: p.dependencies(), Details: p.healthDetails(),
	})
	if err != nil {
		return fmt.Errorf("make the API: %w", err)
	}
	p.background(func(ctx context.Context) { authenticator.StoreUses(ctx, p.log) })
	p.background(server.StartLate) // the workflows of documents that it accepts while Temporal is down
	served := server.Handler()
	p.decodes.Store(&served)
	p.serve(p.listener, p.foreground.Handler(console.Handler(p.allowTemporalUI(served), p.framers)), func() {
		server.Stop()
		if p.worker != nil {
			go p.worker.Stop() // its closer waits for it: requests and activities end side by side
		}
	})
	return nil
}

// framers returns the origins of the pages that may show an agent in a frame.
func (p *platform) framers(ctx context.Context, slug string) []string {
	pub, err := p.store.PublicationBySlug(ctx, slug)
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		p.log.ErrorContext(ctx, "read who may show an agent", "agent", slug, "error", err)
	}
	return pub.AllowedOrigins
}

// access returns what makes principals and signs links.
func (p *platform) access(ctx context.Context) (*access.Authenticator, error) {
	secret, err := p.signingSecret(ctx)
	if err != nil {
		return nil, err
	}
	jwt := p.cfg.Auth.JWT
	return access.New(access.Config{
		Issuer: jwt.Issuer, Audience: jwt.Audience, Secret: jwt.Secret, JWKSURL: jwt.JWKSURL, Levels: p.cfg.Classification.Of(), OIDC: p.identityProvider(),
	}, p.store, secret), nil
}

// identityProvider returns with which identity provider browsers sign in.
func (p *platform) identityProvider() access.OIDC {
	c := p.cfg.Auth.OIDC
	return access.OIDC{
		Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: c.Scopes, Claims: access.OIDCClaims(c.Claims),
		Workspace: c.Workspace, Workspaces: c.Workspaces, Others: p.dialer.Client(0).Transport,
	}
}

// source reads the logs of runs.
func (p *platform) source() *dispatch.Source {
	return dispatch.NewSource(p.workflow, p.store, p.blobs, p.hub)
}

func (p *platform) apiConfig() api.Config {
	process := "" // this process alone serves the API
	if !p.cfg.Temporal.Embedded() {
		process = p.identity
	}
	return api.Config{
		Levels:  p.cfg.Classification.Of(),
		Process: process, AuditQuestions: p.cfg.Audit.KeepsText(),
		Version: p.version, PublicURL: p.cfg.PublicURL, TempDir: p.temporary(), Presign: p.cfg.Blob.Presign,
		Currency: p.currency(), Streams: p.cfg.Limits.Streams, InstanceLimits: p.cfg.Limits.Instance(),
		InstanceFeatures: knowledge.InstanceFeatures{
			Reranker: p.cfg.Models.Rerank.Model, ChatModels: p.chatModels(), Offline: p.offlineEmbeddings(), Tools: p.toolNames(), Components: p.missingComponents(),
			WebProvider: knowledge.WebProvider(p.cfg.WebSearch.Provider), Analyzer: p.cfg.Privacy.Analyzer.URL != "",
		},
	}
}

// dependencies returns the services that /readyz pings.
func (p *platform) dependencies() []api.Dependency {
	list := []api.Dependency{
		{Name: "temporal", Ping: func(ctx context.Context) error {
			_, err := p.client.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		}},
		{Name: "database", Ping: p.store.Ping},
		{Name: "index", Ping: p.index.Ping},
		{Name: "blobs", Ping: p.blobs.Ping},
	}
	if scanner := p.scanner(); scanner != nil {
		list = append(list, api.Dependency{Name: scannerName, Ping: scanner.Ping, Optional: true})
	}
	return list
}

// healthDetails returns what /readyz shows beside the dependencies.
func (p *platform) healthDetails() api.HealthDetails {
	return api.HealthDetails{
		Stale: p.store.StaleProjects, Uncompared: p.uncompared,
		IndexIncomplete: func(ctx context.Context) (bool, error) {
			_, missing, err := p.missingInIndex(ctx)
			return missing, err
		},
		DiskProblem: p.diskProblem,
		Disk:        func() *api.DiskSpace { return DiskSpace(p.cfg.Data) },
		Machine: func(ctx context.Context) []api.MachineCheck {
			var list []api.MachineCheck
			for _, f := range CheckMachine(ctx, p.cfg) {
				list = append(list, api.MachineCheck(f))
			}
			return list
		},
		Models: func() []api.ModelCall {
			var list []api.ModelCall
			for _, c := range p.metrics.LastModelCalls() {
				list = append(list, api.ModelCall(c))
			}
			return list
		},
	}
}

// quotations returns what cuts the words of documents out of answers.
func (p *platform) quotations() *forget.Forgetter {
	return &forget.Forgetter{Store: p.store, Blobs: p.blobs, Histories: p.workflow, Log: p.log}
}

// links builds the address of a workflow's page for operators.
type links struct{ p *platform }

// OperatorURL implements api.Links.
func (l links) OperatorURL(workflowID string) string {
	return namespace.RunURL(l.p.ends.UI, l.p.cfg.Temporal.Namespace, workflowID, "")
}

// ExecutionURL implements api.Links.
func (l links) ExecutionURL(workflowID, execution string) string {
	return namespace.RunURL(l.p.ends.UI, l.p.cfg.Temporal.Namespace, workflowID, execution)
}

// OperatorPage implements api.Links.
func (l links) OperatorPage() string { return l.p.ends.UI }

// activities returns the activities with their dependencies.
func (p *platform) activities() worker.Activities {
	documents := ingestion.Dependencies{
		Config: ingestion.Config{InstanceLimits: p.cfg.Limits.Instance(), Levels: p.cfg.Classification.Of(), TempDir: p.temporary()},
		Blobs:  p.originals, Originals: p.originals, Versions: p.store, Removals: p.store, Retention: p.store, Grants: p.store, Subjects: p.store, SubjectWorkflows: p.workflow, Quotations: p.quotations(), Children: p.store, Reindexes: p.store, Runs: p.store, Index: p.index, Attributes: p.attributes, Extractor: p.parsers, SmallTexts: p.textParsers, Drawer: p.parsers,
		Embedder: p.embeddings.prefixed(p.embed, passagePrefix), EmbedderOf: p.embeddings.of, Chat: p.chats.Clients()[0], Workflows: p.workflow, Dialer: p.dialer, Secrets: p.secrets,
		Recognisers: p.recognisers(), Hub: p.hub, Metrics: p.metrics, Log: p.log, Steps: p.steps(),
	}
	if p.browser != nil {
		documents.Browser = p.browser
	}
	if scanner := p.scanner(); scanner != nil {
		documents.Scanner, documents.Audit = scanner, p.store
	}
	if p.transcribe != nil {
		documents.Transcriber = p.transcribe
	}
	questions := answering.Dependencies{
		Blobs: p.originals, Runs: p.store, Days: p.store, Retriever: p.retriever(), Passages: p.store, Conversations: p.store, Library: p.store, Tables: p.queriers, TempDir: p.temporary(), Chat: p.chats.Clients()[0], Workflows: p.workflow,
		Tools: p.tools(), Sources: p.toolSources(), Agents: p.agents(), Recognisers: p.recognisers(), Hub: p.hub, Metrics: p.metrics, Log: p.log, Steps: p.steps(),
	}
	for _, other := range p.chats.Clients()[1:] {
		documents.Failover, questions.Failover = append(documents.Failover, other), append(questions.Failover, other)
	}
	ingesting := ingestion.New(documents)
	sender := webhook.NewSender(p.dialer.Client(webhook.Timeout))
	questions.Webhooks = answering.QueryWebhooks{Hooks: p.store, Secrets: p.secrets, Sender: sender}
	questions.Evaluations, questions.TestSets, questions.Judges = p.store, p.store, answering.JudgeWebhooks{Projects: p.store, Secrets: p.secrets, Sender: sender}
	p.useWeb(&questions)
	delivering := &delivery.Delivering{
		Deliveries: p.store, Secrets: p.secrets, Sender: sender, OperatorURL: links{p}.OperatorURL,
		Metrics: p.metrics, Log: p.log,
	}
	return worker.Activities{Ingestion: ingesting, Answering: answering.New(questions), Importing: p.importing(ingesting), Delivering: delivering, Sweeping: &ingestion.Sweeping{Runs: p.sweep(), Uploads: p.uploads(), Audit: p.auditSweep()}, Resealing: p.resealing()}
}

// retriever returns a retriever that records its durations.
func (p *platform) retriever() measured {
	return measured{retrieve.New(p.index, p.store, queryEmbedder{p.embeddings.prefixed(p.embed, questionPrefix), p.embeddings.outageOf("")}).Using(p.searchModels()).Across(p.store, p.embeddings.forQuestions), p}
}

type measured struct {
	*retrieve.Retriever
	p *platform
}

// Retrieve implements the interfaces of api and activities.
func (m measured) Retrieve(ctx context.Context, r retrieve.Request) (retrieve.Result, error) {
	result, err := m.Retriever.Retrieve(ctx, r)
	if err == nil {
		m.p.metrics.Retrieval(result.Timings)
	}
	return result, err
}
