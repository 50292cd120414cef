SHELL := /bin/bash
BIN := node_modules/.bin

.DEFAULT_GOAL := help
.PHONY: help install build demo test cover e2e journeys clients bundles conformance fidelity fault simulate bench lint format clean etcd kubernetes generate

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

node_modules/.installed: package.json package-lock.json
	@# Not npm ci: it refuses a lockfile that names no hosts (.npmrc) once platform packages are optional.
	npm install --no-save --no-progress --loglevel=error
	@touch $@

install: node_modules/.installed ## install the packages that package-lock.json names

build: node_modules/.installed ## compile to dist/, and to one program in dist/bundle/
	@$(BIN)/tsc -p tsconfig.json
	@node scripts/copy-assets.mjs
	@chmod +x dist/cli/main.js
	@node scripts/bundle.mjs

demo: build ## two simulated clusters, a small app, a server that stays up until Ctrl-C
	@node dist/bundle/main.js demo

test: build ## unit, contract and integration tests: needs only Node; with Go or an etcd the store's contract on etcd too
	@$(BIN)/tsc -p test/tsconfig.json
	@found=0; test/etcd/build || found=$$?; case $$found in \
	0) $(BIN)/vitest run --project unit --project integration --project etcd ;; \
	2) $(BIN)/vitest run --project unit --project integration && \
	  echo "NOT RUN, for want of an etcd: the store's contract on etcd (make etcd says what it needs)" ;; \
	*) exit $$found ;; esac

cover: build ## make test with coverage
	@$(BIN)/vitest run --project unit --project integration --coverage

etcd: ## find or build the etcd that the tests run (2 minutes once; needs Go, or Debian's etcd-server)
	@test/etcd/build

kubernetes: ## build the real Kubernetes that e2e, bundles and bench run beside (7 minutes once; needs Go)
	@test/kubernetes/build

e2e: build kubernetes ## all or, of its long files, E2E_PART=1/4 of them: real kubectl and clients, two real Kubernetes clusters, faults of etcd, killed processes, a real Prometheus, two operators: needs Go, Python, Debian's prometheus
	@case "$${E2E_PART:-1/1}" in 1/1|4/4) \
	  test/operators/build >/dev/null && test/operators/build-argo-rollouts >/dev/null && test/aggregation/build >/dev/null ;; esac
	@$(BIN)/vitest run --project e2e

journeys: build kubernetes ## of e2e, an app that moves under load, with Atoll killed KILLS times, default 20: ten minutes
	@KILLS=$${KILLS:-20} $(BIN)/vitest run --project e2e test/e2e/traffic.test.ts

clients: build kubernetes ## e2e's clients, with every session of every kubectl from 1.20 to 1.36 on Atoll and Kubernetes: ten minutes
	@$(BIN)/vitest run --project clients

bundles: build kubernetes ## apply every bundle below DIR, or BUNDLES_PART=1/4 of them, to Atoll and to Kubernetes, compare what they take
	@node dist/test/bundles/main.js $(DIR)

fidelity: build kubernetes ## the same requests to Atoll and to Kubernetes, FIDELITY_MINUTES of them; fails for a difference without a reason; DIR adds inputs
	@node dist/test/fidelity/main.js $(DIR) --at-least 3000

conformance: build kubernetes ## Kubernetes' own conformance specs that need no kubelet: SECTION=B with a cluster joined, C to F others of the same program; ONLY='name' some; FAILING=1 those too that are known to fail
	@test/conformance/build
	@node dist/test/conformance/main.js

fault: build etcd ## kill, cut the power, fill and damage the store: ten minutes, FAULT_MINUTES for more
	@node dist/test/fault/main.js

simulate: build ## histories of moves and faults by seeds, in virtual time, between simulated clusters: SIMULATE_MINUTES of them, default 3
	@node dist/test/simulate/main.js

bench: build kubernetes ## ratios against a real kube-apiserver and etcd on this machine
	@node dist/test/bench/main.js

lint: build ## types, format, style, ranks, dead code, generated files that are stale
	@$(BIN)/biome check --error-on-warnings .
	@$(BIN)/depcruise --config .dependency-cruiser.cjs kube storage cluster client apiserver controller scheduler splitter syncer sim server cli
	@$(BIN)/knip
	@node scripts/generate/check.mjs

generate: build kubernetes ## write anew what is generated from Kubernetes (scripts/generate/table.mjs lists it): needs Go; ONLY=types a part of it
	@node scripts/generate/main.mjs $(ONLY)

format: node_modules/.installed ## rewrite the sources in the one format
	@$(BIN)/biome check --write .

clean: ## remove what was built
	@rm -rf dist coverage
