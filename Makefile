# Builds, checks and installs Loom. A fresh machine needs Go, git and make;
# every target gets or names the rest itself (scripts/setup.sh).

# The toolchain of go.mod: an older Go fetches it once.
export GOTOOLCHAIN := go1.27.3

GO       ?= go
TOOL     := $(GO) tool -modfile=$(CURDIR)/tools/go.mod
FUZZTIME ?= 20s
BENCH    ?= .

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man

# The packages whose every statement a test must run: those that decide, and
# the readers that everything else trusts.
COVERED := ./label ./handle ./retrieval ./result ./store ./store/query ./protocol ./governor ./reference \
	./internal/strictjson ./internal/strictyaml ./internal/document \
	./internal/canonjson ./internal/valueschema ./internal/boundedfile ./internal/printable \
	./internal/config ./effect/command ./run/workingcontext ./run/audit

# The benchmarks against other programs are a module of their own, so that
# what they compare with does not become a dependency of Loom.
MODULES := . $(patsubst %/go.mod,%,$(wildcard bench/go.mod))

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: help build demo test check check-format check-vet check-staticcheck check-tests \
	fuzz bench bench-reads bench-store vuln fmt man install clean setup-go setup-run setup-check

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

build: setup-go ## build bin/loom, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags="-s -w" -o bin/loom ./cmd/loom

demo: build setup-run ## run the demonstration
	scripts/demo.sh

test: setup-run ## run every test
	CGO_ENABLED=0 $(GO) test ./...

check: check-format check-vet check-staticcheck check-tests ## all that a change must pass

check-format: setup-go
	@unformatted=$$($(TOOL) gofumpt -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt does it):"; echo "$$unformatted"; exit 1; fi

check-vet: setup-check
	@set -e; for module in $(MODULES); do echo "go vet $$module"; $(GO) vet -C $$module ./...; done

check-staticcheck: setup-check
	@set -e; for module in $(MODULES); do echo "staticcheck $$module"; (cd $$module && $(TOOL) staticcheck ./...); done

check-tests: setup-check
	@mkdir -p bin
	CGO_ENABLED=1 $(GO) test -race -coverprofile=bin/cover.out ./...
	@$(GO) run ./internal/house/covergate $(COVERED) < bin/cover.out || \
		{ echo "no test runs the statements above, and these packages need all of theirs run"; exit 1; }

fuzz: setup-go ## run each fuzz target for FUZZTIME (20s)
	GO="$(GO)" scripts/fuzz.sh $(FUZZTIME)

bench: setup-go ## run the benchmarks that match BENCH (all)
	@set -e; for module in $(MODULES); do CGO_ENABLED=0 $(GO) test -C $$module -run '^$$' -bench '$(BENCH)' -benchmem ./...; done

bench-reads: setup-go ## measure reads under a ceiling, directly and through a broker
	CGO_ENABLED=0 $(GO) test -C bench -run '^$$' -bench BenchmarkRead -benchtime 3s -count 2 .
	CGO_ENABLED=0 $(GO) test -run '^$$' -bench 'Measure|Call' -benchtime 2s -count 3 ./retrieval

bench-store: build ## measure the store, beside notmuch and mu
	GO="$(GO)" scripts/bench-store.sh

vuln: setup-go ## look for known flaws in what the program calls (VULNDB names another database)
	$(TOOL) govulncheck $(if $(VULNDB),-db $(VULNDB)) ./...

fmt: setup-go ## format the sources
	$(TOOL) gofumpt -w .

man: setup-go ## write the manual pages to man/
	@mkdir -p man
	$(GO) run ./internal/cli/manpages $(CURDIR)/man

# Made when missing only: under sudo there is often no Go, so that
# `make build man` comes first and `sudo make install` copies.
bin/loom:
	@$(MAKE) build
man/loom.1:
	@$(MAKE) man

install: bin/loom man/loom.1 ## install what build and man made (DESTDIR, PREFIX)
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1"
	install -m 755 bin/loom "$(DESTDIR)$(BINDIR)/loom"
	ln -sf loom "$(DESTDIR)$(BINDIR)/b10x-loom"
	install -m 644 man/*.1 "$(DESTDIR)$(MANDIR)/man1/"

clean: ## remove what the targets made
	rm -rf bin man

setup-go:
	@GO="$(GO)" scripts/setup.sh
setup-run:
	@GO="$(GO)" scripts/setup.sh bubblewrap? postgresql?
setup-check:
	@GO="$(GO)" scripts/setup.sh cc bubblewrap? postgresql?
