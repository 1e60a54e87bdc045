# Cairn. "make" says what there is; each target's sentence stands behind its ##.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

# Tools at fixed versions, the same as in .ci/run; they are no part of go.mod.
TOOLS       := $(CURDIR)/bin/tools
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0
WORKFLOWS   := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4
install      = @test -x $(TOOLS)/$(1) || GOBIN=$(TOOLS) GOFLAGS=-mod=mod $(GO) install $(2)

.DEFAULT_GOAL := help
.PHONY: help build demo test race fmt lint replay histories e2e bench bench-compare vuln docs clean

help: ## show this
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/cairn
	@echo "Building bin/cairn. A first build takes some minutes (it holds a whole Temporal server), a later one seconds."
	@$(GO) build -ldflags "-s -w -X main.version=$(VERSION)" -o bin/cairn ./starter

demo: build ## show it all in a minute: ingest, ask, kill the server in mid answer, go on
	@bin/cairn demo

test: build ## run every test, those of the built binary included
	$(GO) test -timeout 30m ./...

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

replay: ## replay the recorded workflow histories against the present code
	$(GO) test -count=1 -run Replay ./workflows/...

histories: build ## record these histories anew, after a change of workflow code that is meant
	CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -count=1 -run '^TestHistories$$' ./e2e -update-histories

e2e: build ## test the built binary from outside, kills included
	CAIRN_TEST_BINARY=$(CURDIR)/bin/cairn $(GO) test -count=1 -v ./e2e/...

bench: build ## run the benchmarks that docs/benchmarks.md reports
	$(GO) run ./bench

bench-compare: build ## measure bin/cairn and the version of BASE in turns; fail if a measure is worse
	@test -n "$(BASE)" || { echo "usage: make bench-compare BASE=<commit> [ROUNDS=5] [THRESHOLD=5] [MEASURES='ingest tail']"; exit 2; }
	$(GO) run ./bench -base "$(BASE)" $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(THRESHOLD),-threshold $(THRESHOLD)) $(MEASURES)

vuln: ## look for known vulnerabilities in what is linked
	$(call install,govulncheck,$(GOVULNCHECK))
	$(TOOLS)/govulncheck ./...

docs: ## write again what is generated: samples, references in docs/
	$(GO) generate ./...
	$(GO) test ./api -run TestOpenAPIFile -update
	$(GO) test ./internal/config -run TestReference -update

clean: ## remove what was built
	rm -rf bin dist
