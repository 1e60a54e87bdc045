# Cairn. "make" lists the targets; the sentence after ## describes each of them.
GO      ?= go
# Go's vector instructions, with which package encoder is twenty times as fast on amd64.
export GOEXPERIMENT ?= simd
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

# Tools at fixed versions, the same as in .ci/run. They are not part of go.mod.
TOOLS       := $(CURDIR)/bin/tools
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0
WORKFLOWS   := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4
install      = @test -x $(TOOLS)/$(1) || GOBIN=$(TOOLS) GOFLAGS=-mod=mod $(GO) install $(2)

.DEFAULT_GOAL := help
.PHONY: help build build-cluster demo test race fmt lint replay histories e2e console-pictures e2e-cluster check-deploy bench bench-compare vuln docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The system maps a file that the linker has just written in pieces of 2 MB, which holds
# 60 MB more of it in memory. A copy is mapped in small pieces.
copied = cp -p $(1) $(1).copy && mv -f $(1).copy $(1)

# PROGRESS shows that a build is alive: it counts the packages that "go build -v"
# names, on one line of a terminal, else on a line every 30 s. All other output
# passes through, and so does the exit status, which is the last line.
define PROGRESS
function now(  t) { "date +%s" | getline t; close("date +%s"); return t }
function show(what,  t) {
  t = now() - start
  if (tty) printf "\r\033[K  %s, %d s", what, t > "/dev/stderr"
  else if (t >= next_line) { printf "  %s, %d s\n", what, t > "/dev/stderr"; next_line = t + 30 }
  moved = tty
}
BEGIN { start = now(); next_line = 30; status = 1 }
/^exit [0-9]+$$/ { status = $$2; next }
/^go: downloading / { show("downloaded " (++downloads) " modules"); next }
/^[^ :]+$$/ { show("compiled " (++packages) " packages"); next }
{ if (moved) printf "\r\033[K" > "/dev/stderr"; moved = 0; print > "/dev/stderr" }
END { if (moved) printf "\r\033[K" > "/dev/stderr"; exit status }
endef
export PROGRESS
compile = { $(GO) build -v $(1) 2>&1; echo "exit $$?"; } | awk -v tty=$$(test -t 2 && echo 1 || echo 0) "$$PROGRESS"

build: ## build bin/cairn
	@echo "Building bin/cairn. A first build takes some minutes (it compiles a whole Temporal server, about 1,900 packages), a later one seconds."
	@$(call compile,-ldflags "-s -w -X main.version=$(VERSION)" -o bin/cairn ./starter)
	@$(call copied,bin/cairn)

build-cluster: ## build bin/cairn-cluster: without the embedded Temporal server
	@$(call compile,-tags cluster -ldflags "-s -w -X main.version=$(VERSION)" -o bin/cairn-cluster ./starter)
	@$(call copied,bin/cairn-cluster)

demo: build ## ingest documents, ask, kill the server in mid answer and resume, in a minute
	@bin/cairn demo

test: build ## run every test, including those of the built binary
	CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -timeout 60m ./...

race: ## run the tests with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race ./...

fmt: ## format the code
	gofmt -w -s $(shell git ls-files '*.go')

lint: ## check the code: vet, golangci-lint (.golangci.yml), workflowcheck
	$(call install,golangci-lint,$(GOLANGCI))
	$(call install,workflowcheck,$(WORKFLOWS))
	$(GO) vet ./...
	$(TOOLS)/golangci-lint run ./...
	$(TOOLS)/workflowcheck -config .workflowcheck.yaml ./workflows/...

replay: ## replay the recorded workflow histories with the present code
	$(GO) test -count=1 -run Replay ./workflows/...

histories: build ## record these histories again, after an intended change of workflow code
	CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -count=1 -run '^Test((Import|Sweep|Retention|Sync|Pipeline)?Histories|AGrantEndsWhileTheServerIsDead)$$' ./e2e -update-histories

e2e: build ## test the built binary from outside, including kills
	CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -count=1 -timeout 60m -v ./e2e/...

console-pictures: build ## write pictures of every page of the console to dist/console-pictures (needs Chromium)
	CAIRN_CONSOLE_PICTURES=$(CURDIR)/dist/console-pictures CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -count=1 -run '^TestConsolePictures$$' ./e2e
	cp dist/console-pictures/readme.jpg docs/console.jpg

e2e-cluster: build ## test two APIs and two workers on Temporal, PostgreSQL, Milvus and S3, including kills of each
	.ci/stand-ins
	CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -count=1 -timeout 60m -v -run '^TestCluster' ./e2e

check-deploy: build ## check docker-compose.yml, the Dockerfile and the Helm chart
	cd deploy/check && CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -count=1 ./...

bench: build ## run the benchmarks of docs/benchmarks.md
	$(GO) run ./bench

bench-compare: build ## compare bin/cairn with the version of BASE; fail if a measure is worse
	@test -n "$(BASE)" || { echo "usage: make bench-compare BASE=<commit> [ROUNDS=5] [THRESHOLD=5] [MEASURES='ingest tail']"; exit 2; }
	$(GO) run ./bench -base "$(BASE)" $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(THRESHOLD),-threshold $(THRESHOLD)) $(MEASURES)

vuln: ## look for known vulnerabilities in the linked packages
	$(call install,govulncheck,$(GOVULNCHECK))
	$(TOOLS)/govulncheck ./...

docs: ## generate the samples and the references in docs/
	$(GO) generate ./...
	$(GO) test ./api -run TestOpenAPIFile -update
	$(GO) test ./internal/config ./internal/telemetry ./starter -run TestReference -update
	$(GO) test ./internal/archtest -run TestInternalReadme -update

clean: ## remove everything that was built
	rm -rf bin dist
