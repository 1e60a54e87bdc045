package archtest_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/cairn-rag/cairn/"

// mayImport names, for each package, the packages of this repository that it may
// import: the vocabulary, then the capabilities, then the adapters and the
// edges, then what wires them. No adapter stands in the row of another package,
// and no test support in the row of one that is linked into the command. A
// package without a row fails the test, so a new package is placed here.
var mayImport = map[string][]string{
	// The vocabulary, and what knows nothing of Cairn.
	"internal/knowledge":      {},
	"internal/config":         {"internal/knowledge"},
	"internal/enrich":         {"internal/knowledge"},
	"internal/phrase":         {},
	"internal/advice":         {"internal/knowledge"},
	"internal/audit":          {"internal/knowledge"},
	"internal/model/protocol": {"internal/sse"},
	"internal/privacy":        {"internal/knowledge"},
	"internal/secret":         {},
	"internal/clamd":          {},
	"internal/envelope":       {"internal/secret"},
	"internal/namespace":      {},
	"internal/process":        {},
	"internal/collector":      {},
	"internal/sse":            {},
	"internal/stream":         {},
	"internal/telemetry":      {},
	"samples":                 {},
	"samples/manual":          {},
	"samples/generate":        {"samples/manual"},

	// Capabilities, with the ports of store, blobs, index and model.
	"internal/access":            {"internal/knowledge", "internal/store"},
	"internal/a2a":               {"internal/citation"},
	"internal/agui":              {"internal/citation"},
	"internal/backup":            {"internal/blob"},
	"internal/blob":              {"internal/envelope", "internal/erase", "internal/knowledge"},
	"internal/erase":             {},
	"internal/forget":            {"internal/blob", "internal/knowledge", "internal/record", "internal/store", "internal/stream"},
	"internal/chunk":             {"internal/knowledge"},
	"internal/citation":          {"internal/knowledge"},
	"internal/confine":           {},
	"internal/credential":        {"internal/knowledge", "internal/store"},
	"internal/evaluate":          {"internal/chunk", "internal/citation", "internal/knowledge", "internal/phrase", "internal/words"},
	"internal/extract":           {"internal/collector", "internal/confine", "internal/knowledge", "internal/process", "internal/sqltable", "internal/extract/"},
	"internal/extract/asciidoc":  {"internal/knowledge", "internal/extract/format", "internal/extract/latex", "internal/extract/script", "internal/extract/table"},
	"internal/extract/latex":     {"internal/knowledge", "internal/extract/format", "internal/extract/script", "internal/extract/table"},
	"internal/extract/audio":     {"internal/knowledge", "internal/extract/format"},
	"internal/extract/charset":   {"internal/knowledge"},
	"internal/extract/format":    {"internal/knowledge", "internal/extract/charset"},
	"internal/extract/html":      {"internal/knowledge", "internal/extract/charset", "internal/extract/hypertext", "internal/extract/markdown"},
	"internal/extract/hypertext": {"internal/knowledge", "internal/extract/script", "internal/extract/table"},
	"internal/extract/mail":      {"internal/knowledge", "internal/extract/charset", "internal/extract/format", "internal/extract/html", "internal/extract/text"},
	"internal/extract/outlook":   {"internal/knowledge", "internal/extract/charset", "internal/extract/format", "internal/extract/mail", "internal/extract/ole"},
	"internal/extract/markdown":  {"internal/knowledge", "internal/extract/hypertext", "internal/extract/table"},
	"internal/extract/container": {"internal/knowledge"},
	"internal/extract/epub": {
		"internal/extract/container", "internal/extract/format", "internal/extract/html", "internal/extract/markup",
		"internal/extract/office", "internal/knowledge",
	},
	"internal/extract/markup": {"internal/knowledge"},
	"internal/extract/odf": {
		"internal/extract/charset", "internal/extract/container", "internal/extract/format", "internal/extract/markup", "internal/extract/office",
		"internal/extract/ole", "internal/extract/script", "internal/extract/table", "internal/knowledge",
	},
	"internal/extract/office": {"internal/extract/charset", "internal/extract/format", "internal/extract/table", "internal/knowledge"},
	"internal/extract/ole":    {"internal/knowledge"},
	"internal/extract/ooxml": {
		"internal/extract/container", "internal/extract/format", "internal/extract/html", "internal/extract/markup", "internal/extract/office",
		"internal/extract/ole", "internal/extract/script", "internal/extract/table", "internal/knowledge",
	},
	"internal/extract/sheet": {
		"internal/extract/container", "internal/extract/format", "internal/extract/markup", "internal/extract/office",
		"internal/extract/ooxml", "internal/extract/script", "internal/extract/table", "internal/knowledge",
	},
	"internal/extract/align":       {"internal/knowledge"},
	"internal/extract/libreoffice": {},
	"internal/extract/image": {
		"internal/extract/charset", "internal/extract/format", "internal/extract/layout", "internal/extract/ocr",
		"internal/extract/picture", "internal/knowledge",
	},
	"internal/extract/layout":  {"internal/extract/table", "internal/knowledge"},
	"internal/extract/legible": {},
	"internal/extract/ocr": {
		"internal/extract/charset", "internal/extract/format", "internal/extract/layout", "internal/extract/legible", "internal/knowledge",
	},
	"internal/extract/pdf": {
		"internal/extract/charset", "internal/extract/format", "internal/extract/layout", "internal/extract/ocr",
		"internal/extract/legible", "internal/extract/picture", "internal/extract/script", "internal/knowledge",
	},
	"internal/extract/picture":  {"internal/extract/format", "internal/knowledge"},
	"internal/extract/script":   {},
	"internal/extract/subtitle": {"internal/knowledge", "internal/transcript"},
	"internal/extract/table":    {"internal/knowledge"},
	"internal/extract/text":     {"internal/knowledge", "internal/extract/charset"},
	"internal/extract/unioffice": { // with its build tag
		"internal/extract/container", "internal/extract/format", "internal/extract/office", "internal/extract/table", "internal/knowledge",
	},
	"internal/extract/xml": {"internal/knowledge", "internal/extract/charset", "internal/extract/html", "internal/extract/table"},
	"internal/index":       {"internal/knowledge"},
	"internal/instance":    {"internal/blob", "internal/store"},
	"internal/idempotency": {"internal/knowledge", "internal/store"},
	"internal/model":       {"internal/knowledge"},
	"internal/prompt":      {"internal/citation", "internal/knowledge"},
	"internal/paged":       {"internal/blob", "internal/chunk", "internal/extract", "internal/extract/align", "internal/knowledge", "internal/parsed"},
	"internal/parsed":      {"internal/blob", "internal/knowledge"},
	"internal/runfile":     {"internal/blob", "internal/knowledge", "internal/store", "internal/tool"},
	"internal/retrieve":    {"internal/citation", "internal/enrich", "internal/index", "internal/knowledge", "internal/privacy", "internal/store"},
	"internal/safedial":    {"internal/knowledge"},
	"internal/scim":        {"internal/knowledge", "internal/store"},
	"internal/sandbox":     {"internal/knowledge", "internal/process"},
	"internal/browser":     {"internal/knowledge", "internal/safedial", "internal/sandbox"},
	"internal/scrape":      {"internal/browser", "internal/extract", "internal/extract/format", "internal/knowledge", "internal/source/web"},
	"internal/selection":   {"internal/knowledge", "internal/source", "internal/store"},
	"internal/source":      {"internal/knowledge"},
	"internal/sqltable":    {"internal/blob", "internal/knowledge"},
	"internal/store":       {"internal/audit", "internal/envelope", "internal/erase", "internal/knowledge", "internal/source"},
	"internal/tool":        {"internal/knowledge", "internal/sandbox"},
	"internal/tool/custom": {"internal/knowledge", "internal/tool"},
	"internal/transcript":  {"internal/knowledge"},
	"internal/view":        {"internal/knowledge"},
	"internal/websearch":   {"internal/knowledge"},
	"internal/webhook":     {"internal/knowledge", "internal/view"},
	"internal/pipeline":    {"internal/knowledge", "internal/sandbox", "internal/webhook"},
	"internal/words":       {"internal/knowledge"},

	// Adapters.
	"internal/dispatch":         {"activities/answering", "activities/delivery", "activities/ingestion", "activities/step", "internal/blob", "internal/knowledge", "internal/record", "internal/store", "internal/stream", "workflows"},
	"internal/embedded":         {"internal/erase", "internal/namespace"},
	"internal/privacy/asked":    {"internal/knowledge", "internal/privacy"},
	"internal/privacy/presidio": {"internal/knowledge", "internal/privacy"},
	"internal/index/embedded":   {"internal/erase", "internal/index", "internal/knowledge", "internal/words"},
	"internal/index/milvus":     {"internal/index", "internal/knowledge", "internal/words"},
	"internal/model/localmodel": {"internal/knowledge", "internal/model/protocol", "internal/phrase"},
	"internal/model/encoder":    {"internal/model/protocol"},
	"internal/model/library":    {"internal/knowledge"},

	"internal/blob/connect":      {"internal/blob", "internal/blob/", "internal/knowledge"},
	"internal/blob/azure":        {"internal/blob"},
	"internal/blob/gcs":          {"internal/blob"},
	"internal/blob/s3":           {"internal/blob"},
	"internal/source/archive":    {"internal/knowledge", "internal/source"},
	"internal/source/azure":      {"internal/knowledge", "internal/source"},
	"internal/source/connect":    {"internal/knowledge", "internal/source", "internal/source/"},
	"internal/source/gcs":        {"internal/knowledge", "internal/source"},
	"internal/source/throttle":   {"internal/source"},
	"internal/source/confluence": {"internal/knowledge", "internal/source"},
	"internal/source/drive":      {"internal/knowledge", "internal/source"},
	"internal/source/git":        {"internal/knowledge", "internal/source"},
	"internal/source/imap":       {"internal/knowledge", "internal/source", "internal/source/throttle"},
	"internal/source/notion":     {"internal/knowledge", "internal/source"},
	"internal/source/sharepoint": {"internal/knowledge", "internal/source"},
	"internal/source/webdav":     {"internal/knowledge", "internal/source"},
	"internal/source/crawl":      {"internal/knowledge", "internal/source", "internal/source/web"},
	"internal/source/s3":         {"internal/knowledge", "internal/source"},
	"internal/source/urllist":    {"internal/knowledge", "internal/source", "internal/source/web"},
	"internal/source/web":        {"internal/knowledge", "internal/source"},

	// The ways in, below every edge: from a checked request to a started run.
	"internal/quota":     {"internal/knowledge", "internal/store"},
	"internal/following": {"internal/knowledge", "internal/selection", "internal/source", "internal/source/throttle", "internal/store"},
	"internal/importing": {"internal/blob", "internal/knowledge", "internal/quota", "internal/record", "internal/selection", "internal/source", "internal/store"},
	"internal/intake":    {"internal/access", "internal/audit", "internal/blob", "internal/extract", "internal/knowledge", "internal/privacy", "internal/quota", "internal/store"},
	"internal/question": {
		"internal/audit", "internal/blob", "internal/citation", "internal/idempotency", "internal/knowledge", "internal/prompt", "internal/quota", "internal/record",
		"internal/store", "internal/stream", "internal/tool", "internal/websearch",
	},

	// Durable processes, and the edges.
	"internal/record": {
		"internal/blob", "internal/citation", "internal/evaluate", "internal/knowledge", "internal/model", "internal/prompt", "internal/retrieve",
		"internal/store", "internal/stream", "internal/webhook", "internal/websearch",
	},
	"activities/step":     {"internal/blob", "internal/knowledge", "internal/model", "internal/pipeline", "internal/privacy", "internal/record", "internal/store", "internal/stream"},
	"activities/delivery": {"activities/step", "internal/knowledge", "internal/store", "internal/webhook"},
	"activities/answering": {
		"activities/step", "internal/blob", "internal/citation", "internal/evaluate", "internal/knowledge", "internal/model", "internal/phrase", "internal/pipeline", "internal/privacy", "internal/prompt", "internal/record",
		"internal/retrieve", "internal/scrape", "internal/sqltable", "internal/store", "internal/stream", "internal/tool", "internal/webhook", "internal/websearch",
	},
	"activities/ingestion": {
		"activities/step", "internal/audit", "internal/blob", "internal/chunk", "internal/clamd", "internal/enrich", "internal/envelope", "internal/extract", "internal/extract/format", "internal/index", "internal/knowledge",
		"internal/model", "internal/parsed", "internal/pipeline", "internal/privacy", "internal/record", "internal/safedial", "internal/scrape", "internal/selection", "internal/source", "internal/sqltable", "internal/sse", "internal/store", "internal/stream", "internal/transcript",
	},
	"workflows":  {"activities/answering", "activities/delivery", "activities/ingestion", "activities/step", "internal/knowledge", "internal/record", "internal/stream", "internal/tool"},
	"worker":     {"activities/answering", "activities/delivery", "activities/ingestion", "activities/step", "internal/blob", "internal/knowledge", "internal/store", "internal/stream", "workflows"},
	"api/edge":   {"internal/access", "internal/audit", "internal/blob", "internal/idempotency", "internal/knowledge", "internal/model", "internal/quota", "internal/store"},
	"api/openai": {"api/edge", "internal/audit", "internal/blob", "internal/citation", "internal/idempotency", "internal/knowledge", "internal/model", "internal/question", "internal/quota", "internal/record", "internal/retrieve", "internal/sse", "internal/store", "internal/stream"},
	"api": {
		"api/edge", "api/openai", "internal/a2a", "internal/access", "internal/advice", "internal/agui", "internal/audit", "internal/blob", "internal/citation", "internal/client", "internal/evaluate", "internal/extract", "internal/extract/format", "internal/following", "internal/forget", "internal/idempotency", "internal/index",
		"internal/importing", "internal/intake", "internal/knowledge", "internal/mcpserver", "internal/model", "internal/paged", "internal/parsed", "internal/phrase", "internal/pipeline", "internal/privacy", "internal/prompt", "internal/question", "internal/quota", "internal/record", "internal/retrieve", "internal/runfile", "internal/scim", "internal/source", "internal/sqltable", "internal/sse",
		"internal/store", "internal/stream", "internal/tool", "internal/view", "internal/webhook", "internal/websearch",
	},
	"internal/client":    {"internal/knowledge", "internal/sse"},
	"internal/mcpserver": {"internal/client", "internal/knowledge"},
	"internal/origin":    {"internal/source"},
	// Of what runs, it knows only the client: the demo, the benchmarks and the
	// tests share it.
	"internal/childserver": {"internal/client", "internal/process"},

	// The wiring, and the command, which knows of the server only this and the client.
	"internal/server": {
		"activities/answering", "activities/delivery", "activities/ingestion", "api", "api/openai", "console", "internal/access", "internal/audit", "internal/backup", "internal/blob", "internal/blob/connect", "internal/browser", "internal/childserver", "internal/clamd", "internal/client", "internal/collector", "internal/config", "internal/confine", "internal/credential", "internal/dispatch", "internal/embedded", "internal/envelope",
		"internal/extract", "internal/extract/format", "internal/following", "internal/forget", "internal/index", "internal/index/embedded", "internal/index/milvus", "internal/instance", "internal/knowledge", "internal/model", "internal/model/encoder", "internal/model/library", "internal/model/localmodel", "internal/namespace", "internal/pipeline", "internal/privacy", "internal/privacy/asked", "internal/privacy/presidio", "internal/process", "internal/question", "internal/quota", "internal/retrieve", "internal/runfile", "internal/safedial", "internal/sandbox",
		"internal/scrape", "internal/secret", "internal/source", "internal/source/connect", "internal/source/web", "internal/store", "internal/stream", "internal/telemetry", "internal/tool", "internal/tool/custom", "internal/webhook", "internal/websearch", "worker", "workflows",
	},
	"console": {"samples"},
	"starter": {
		"internal/advice", "internal/audit", "internal/childserver", "internal/client", "internal/config", "internal/evaluate", "internal/extract", "internal/extract/charset", "internal/knowledge", "internal/mcpserver",
		"internal/model", "internal/model/localmodel", "internal/origin", "internal/server", "internal/source/archive", "internal/telemetry", "samples", "starter/terminal",
	},
	"starter/terminal": {"internal/client"},

	// For tests and measurements only. The stand-in model server answers with
	// the offline model's vectors.
	"bench":             {"internal/childserver", "internal/client", "internal/extract", "internal/index", "internal/index/embedded", "internal/index/milvus", "internal/knowledge", "internal/knowledge/knowledgetest", "internal/model/modeltest", "internal/process", "internal/service", "internal/sse"},
	"e2e":               {},
	"e2e/temporal":      {},
	"internal/archtest": {},
	"activities/activitytest": {
		"activities/answering", "activities/ingestion", "activities/step", "internal/blob", "internal/extract", "internal/extract/format", "internal/extract/subtitle", "internal/index", "internal/index/embedded",
		"internal/knowledge", "internal/knowledge/knowledgetest", "internal/model", "internal/model/modeltest", "internal/record", "internal/retrieve", "internal/safedial", "internal/secret", "internal/store", "internal/stream", "internal/telemetry",
	},
	"internal/extract/container/containertest": {},
	"internal/extract/outlook/outlooktest":     {},
	"internal/extract/extracttest":             {"internal/extract/format"},
	"internal/blob/blobtest":                   {"internal/blob", "internal/knowledge"},
	"internal/clamd/clamdtest":                 {},
	"internal/envelope/envelopetest":           {"internal/envelope", "internal/secret"},
	"internal/index/indextest":                 {"internal/index", "internal/knowledge", "internal/knowledge/knowledgetest"},
	"internal/knowledge/knowledgetest":         {"internal/knowledge"},
	"internal/model/encoder/encodertest":       {},
	"internal/model/modeltest":                 {"internal/model", "internal/model/localmodel", "internal/model/protocol"},
	"internal/retrieve/retrievetest":           {"internal/index", "internal/knowledge", "internal/knowledge/knowledgetest", "internal/retrieve", "internal/store"},
	"internal/service":                         {"internal/childserver"},
	"internal/store/postgrestest":              {"internal/service", "internal/store"},
	"internal/store/storetest":                 {"internal/blob", "internal/envelope", "internal/knowledge", "internal/knowledge/knowledgetest", "internal/source", "internal/store"},

	"internal/origin/origintest": {},
	"internal/standin":           {},
	"internal/source/sourcetest": {"internal/knowledge", "internal/safedial", "internal/source", "internal/source/throttle"},
}

// notInActivities are the packages of other modules that no activity imports.
var notInActivities = []string{"go.temporal.io/sdk/client", "go.temporal.io/sdk/worker", "go.temporal.io/sdk/workflow", "database/sql", "os/exec"}

// foreign lists packages of other modules that a package may not import; an entry
// stands for itself and all below it.
var foreign = []struct {
	pkg   string
	never []string
	why   string
}{
	{"internal/knowledge", []string{"github.com", "golang.org", "go.temporal.io", "google.golang.org", "net", "os"}, "the vocabulary imports the standard library only, and no world"},
	{"workflows", []string{
		"net", "os", "io", "crypto", "math/rand", "log", "sync", "context", "github.com",
		"go.temporal.io/sdk/client", "go.temporal.io/sdk/worker", "go.temporal.io/sdk/activity",
	}, "workflows are deterministic and reach the world by activities alone"},
	{"activities/answering", notInActivities, "activities see interfaces"},
	{"activities/delivery", notInActivities, "activities see interfaces"},
	{"activities/ingestion", notInActivities, "activities see interfaces"},
	{"activities/step", notInActivities, "activities see interfaces"},
	{"internal/record", []string{"go.temporal.io", "net", "os", "database/sql"}, "what is stored of runs runs nothing"},
	{"api", []string{"go.temporal.io", "database/sql", "os/exec"}, "the HTTP edge reaches Temporal through a narrow interface"},
	{"api/edge", []string{"go.temporal.io", "database/sql", "os/exec"}, "what stands around the routes reaches nothing but access"},
	{"api/openai", []string{"go.temporal.io", "database/sql", "os/exec"}, "the protocol is a view of what the API has"},
	{"internal/following", []string{"go.temporal.io", "net/http", "github.com/danielgtaylor"}, "the edge and the workers follow places by it"},
	{"internal/importing", []string{"go.temporal.io", "net/http", "github.com/danielgtaylor"}, "every door imports by it"},
	{"internal/intake", []string{"go.temporal.io", "net/http", "github.com/danielgtaylor"}, "every door takes documents in by it"},
	{"internal/question", []string{"go.temporal.io", "net/http", "github.com/danielgtaylor"}, "every door asks by it"},
	{"internal/stream", []string{"go.temporal.io/sdk", "go.temporal.io/server"}, "the log is below all that writes and reads it"},
	{"internal/client", []string{"go.temporal.io", "database/sql"}, "the client speaks HTTP only"},
	{"internal/store", []string{"go.temporal.io", "net/http"}, "the store speaks SQL only"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		if !below(strings.TrimPrefix(p.ImportPath, module), "bin") { // what was built, and is not checked in
			packages = append(packages, p)
		}
	}
}

// below reports whether path is prefix or lies below it.
func below(path, prefix string) bool {
	prefix = strings.TrimSuffix(prefix, "/")
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func TestImports(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if len(packages) < 10 {
		t.Fatalf("go list gave %d packages", len(packages))
	}
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, ok := mayImport[name]
		if !ok {
			t.Errorf("%s has no row: say in the table where it belongs", name)
			continue
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			if ours && !slices.ContainsFunc(allowed, func(a string) bool { return imported == a || strings.HasSuffix(a, "/") && below(imported, a) }) {
				t.Errorf("%s imports %s, which its row does not name", name, imported)
			}
			for _, f := range foreign {
				if name == f.pkg && !ours && slices.ContainsFunc(f.never, func(never string) bool { return below(path, never) }) {
					t.Errorf("%s imports %s: %s", name, path, f.why)
				}
			}
		}
	}
	for name := range mayImport {
		if !slices.ContainsFunc(packages, func(p goPackage) bool { return p.ImportPath == module+name }) {
			t.Errorf("%s has a row and is not there", name)
		}
	}
}

// TestPrincipalsAreMadeByAccess keeps the one way to a Principal: package
// access, from a proved key or token.
func TestPrincipalsAreMadeByAccess(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		if below(path, "internal/access") || below(path, "internal/knowledge") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "NewPrincipal" {
				t.Errorf("%s makes a Principal: only package access does", path)
			}
			return true
		})
	})
}

// systemReads are the store's reads for the pipeline, for authentication and for
// repairs, where nobody asks.
func systemReads() []string {
	return []string{
		"Setting", "WorkspaceExists", "KeyByHash", "KeyByID", "KeyBySession", "TakeSignIn", "PublicationBySlug", "RolesOf", "MemberOf", "MemberBySubject", "EndedMembers", "EndedKeys", "EndedSessions", "SecretOf", "HasInstanceKey", "Version", "PrepareVersion", "PendingVersions", "RunningVersions", "ChildRemovals", "PendingRemovals",
		"SourceKeys", "RetiredSources", "ReplacedVersions", "NamedSources", "RunForSystem", "RunningBefore", "RunningRuns", "PendingCounts", "StaleInIndex", "LeaseStale", "InIndex", "TakeTokens", "TakeLostUploads", "DailyTurn", "Ping", "RoomForSystem",
		"ImportForSystem", "HeldForSystem", "PreviousImport", "ImportPage", "ImportedObjects", "ImportSidecars", "HasClaim", "HasRoom", "RecordImported", "CountVanished",
		"FailedObjects", "SettleRetried", "WebhookOf", "DueDeliveries", "RestWebhook", "PendingQueues",
		"ArchiveImports", "ImportContains", "ImportLost", "OutdatedDocuments", "ReindexVersion", "ReindexProgress", "ProjectForSystem", "ProjectGenerations", "BeginFilling", "SwitchGeneration", "PublishedVersions", "ChunksForSystem", "WantedGeneration",
		"ConnectionForSystem", "SyncForSystem", "UnscheduledSyncs", "StartSyncRun", "SyncListingOf", "FollowObjects", "FailedBefore", "GroupsToRead", "ConnectionGroups", "EndsOfSecrets",
		"StaleProjects", "AnyPublished", "ProjectRuns", "ProjectRemovals", "ProjectImports", "DropProject",
		"EmbeddingAddress", "MoveEmbeddings", "WantedGenerations", "PublishedIn", "EndedAnswers", "AnswerMessages",
		"EvaluationForSystem", "NoteEvaluation", "ItemsAfter", "ItemForSystem", "ItemsForSystem",
		"CheckConsents", "CheckSubjects", "RemoveWithdrawn", "SubjectForSystem", "SubjectDocuments", "SubjectVersions", "EraseDocuments", "EraseConversations", "ErasedDocuments", "QuotedDocuments", "DocumentRuns", "SubjectRuns", "ItemRuns", "SubjectProfileOf", "SubjectConversations", "SubjectAudit",
		"RetainDocuments", "RetainConversations", "DueRuns", "RetentionDue", "StartRetention", "RetentionWorkspaces", "EndGrants", "EndingGrants",
		"AuditPosition", "ExtendAudit", "AuditHeads", "AuditLinks", "AuditCheckpoints", "CutAudit",
		"TakeRequests", "WorkspaceLimits", "ProjectAccount", "RunDayLeft",
		"DataKeys", "ReplaceDataKeys", "Reseal", "OriginalKey", "OriginalsWithKeys",
	}
}

// TestReadsTakeAPrincipal holds the store's reads for clients to their
// signature: the method's second parameter is the Principal.
func TestReadsTakeAPrincipal(t *testing.T) {
	t.Parallel()
	of := storeTypes(t)
	reads := 0
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		if filepath.Dir(path) != filepath.Join("internal", "store") {
			return
		}
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() || !returnsData(f) || slices.Contains(systemReads(), f.Name.Name) || !slices.Contains(of, receiver(f)) {
				continue
			}
			reads++
			if !takesPrincipal(f) {
				t.Errorf("%s: %s returns data and takes no Principal", path, f.Name.Name)
			}
		}
	})
	if reads == 0 {
		t.Error("no read was found: the test looks in the wrong place")
	}
}

// returnsData reports whether a method returns more than an error, and is not a
// write that returns what it wrote.
func returnsData(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) < 2 {
		return false
	}
	for _, verb := range []string{"Add", "Begin", "Prepare", "Publish", "Claim", "Mark"} {
		if strings.HasPrefix(f.Name.Name, verb) {
			return false
		}
	}
	return true
}

func takesPrincipal(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Principal" {
			return true
		}
	}
	return false
}
