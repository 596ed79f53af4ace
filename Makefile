.DEFAULT_GOAL := help

.PHONY: help
help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/vigil
	go build -trimpath -o bin/vigil ./cmd/vigil

.PHONY: demo
demo: ## Run everything on a temporary folder, with simulated clouds
	scripts/demo

.PHONY: test
test: ## Pass every test, on SQLite and on PostgreSQL
	scripts/test

.PHONY: test-e2e
test-e2e: ## Test the desktop server against a real directory, database and session host
	scripts/test-e2e

.PHONY: torture
torture: ## The long versions of the crash and malformed-request tests
	VIGIL_TORTURE=1 scripts/test -run 'Torture|Crash|Malformed' -timeout 90m
