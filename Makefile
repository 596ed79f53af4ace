.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the console and bin/vigil
	bash -c '. scripts/web.sh && build_web'
	go build -trimpath -o bin/vigil ./cmd/vigil
	scripts/check-size bin/vigil

.PHONY: demo
demo: ## Run everything on a temporary folder, with simulated clouds
	scripts/demo

.PHONY: test
test: ## Run every test, on SQLite and on PostgreSQL
	scripts/test

.PHONY: test-web
test-web: ## Test the console: types, unit tests, build, and scenarios in a real browser
	scripts/test-web

.PHONY: pictures
pictures: ## Take pictures of every screen of the console, light and dark, into web/pictures
	CONSOLE_PICTURES=1 scripts/test-web pictures

.PHONY: bench-console
bench-console: ## Measure the console's first load and scrolling; READY=FILE is the ready file of a running demo
	node bench/console/measure.mjs $(READY)

.PHONY: test-e2e
test-e2e: ## Test the desktop server against a real directory, database and session host
	scripts/test-e2e

.PHONY: package
package: ## Build a Debian package into dist/
	scripts/package debian

.PHONY: test-package
test-package: ## Build the Debian package, install it into a folder and run the installed program
	scripts/test-package

.PHONY: clients
clients: ## Generate clients of both servers in Go, Python and TypeScript into clients/
	scripts/clients

.PHONY: test-clients
test-clients: ## Generate the clients and test them against the demo
	scripts/test-clients

.PHONY: test-terraform
test-terraform: ## Test the Terraform provider against the demo; builds OpenTofu if neither it nor Terraform is installed
	scripts/test-terraform

.PHONY: bench-entities
bench-entities: ## Compare the entity storage with hand-written SQL; SIZES=100000,1000000 DATABASE=postgres://...
	go run ./bench/entities -entities $(or $(SIZES),100000) $(if $(DATABASE),-database "$(DATABASE)")

.PHONY: generate
generate: ## Generate the documents, policies and roles from the declarations
	go generate ./internal/posture/app

.PHONY: generate-aws
generate-aws: ## Generate the models of AWS's read operations from botocore; a minute of processor time
	scripts/generate-aws

.PHONY: generate-secret-rules
generate-secret-rules: ## Generate the rules that find credentials from those of gitleaks
	scripts/generate-secret-rules

.PHONY: test-peers
test-peers: ## Test the AWS collectors, verdicts on awkward policies and scripts against moto and the real AWS command line
	scripts/test-peers

.PHONY: torture
torture: ## Run the long versions of the tests of crashes, malformed requests, collections from faulty clouds and lost notifications
	VIGIL_TEST_BROWSER=0 VIGIL_TORTURE=1 scripts/test -run 'Torture|Crash|Malformed|UnderFaults|DecodeEveryOperation|AnySequence|LostOrDuplicated' -timeout 90m

.PHONY: mutate
mutate: ## Change the code of the predicates in one place at a time and check that their corpora notice each change
	go run ./internal/posture/predicate/mutate

.PHONY: fault-plans
fault-plans: ## Evaluate the rules on simulated accounts under 10,000 random plans of denied, throttled and incomplete calls: verdicts become unknown, never wrong; PLANS=
	VIGIL_FAULT_PLANS=$(or $(PLANS),10000) go test ./internal/posture/scan -run TestVerdictsUnderFaultPlans -count 1 -v -timeout 3h
	VIGIL_FAULT_PLANS=1 go test ./internal/posture/catalog -run TestRefusedCallNeverDecides -count 1 -timeout 1h

.PHONY: lint
lint: ## Run staticcheck and the architecture tests
	scripts/lint

.PHONY: race
race: ## Run every test with the race detector
	VIGIL_TEST_BROWSER=0 scripts/test -race '-gcflags=modernc.org/...=-race=false'

.PHONY: crash
crash: ## Kill the server 1,000 times on SQLite and 200 on PostgreSQL, stop PostgreSQL 60 times, and compare changes with audit records; SQLITE=, POSTGRES=, STOPS=
	scripts/crash $(or $(SQLITE),1000) $(or $(POSTGRES),200) $(or $(STOPS),60)

.PHONY: crash-processes
crash-processes: ## Kill one of three processes on one PostgreSQL every two seconds under load, DURATION=10m; then restart two in turn
	DURATION=$(or $(DURATION),10m) scripts/crash

.PHONY: hostile-client
hostile-client: ## Run one hostile client against the real server for ten minutes on each database; check the latency of others, memory and disk
	scripts/hostile-client

.PHONY: query-limits
query-limits: ## Check that hostile queries stay within their limits of time and memory, without the race detector
	go test ./gremlin -run HostileQueries -count 1 -v
	VIGIL_HOSTILE_QUERIES=all go test ./cmd/vigil -run HostileQueries -count 1 -v

.PHONY: conformance
conformance: ## Run the scenarios that Apache TinkerPop publishes against the query engine
	go run ./gremlin/conformance

.PHONY: fuzz
fuzz: ## Fuzz the query language: its parser ten million times, then its printer and its engine
	go test ./gremlin/syntax/fuzz -run '^$$' -fuzz FuzzParse -fuzztime 10000000x -fuzzminimizetime 200x
	go test ./gremlin/syntax -run '^$$' -fuzz FuzzPrint -fuzztime 5m -fuzzminimizetime 200x
	go test ./gremlin -run '^$$' -fuzz FuzzEngineMatchesReference -fuzztime 10m -fuzzminimizetime 200x
	go test ./gremlin -run '^$$' -fuzz FuzzRun -fuzztime 10m -fuzzminimizetime 200x

.PHONY: oracle
oracle: ## Compare our AWS requests and answers with the SDK's generated modules; compiling them takes minutes the first time
	cd oracle/aws && go vet . && go test -count=1 .

.PHONY: oracle-gcp
oracle-gcp: ## Check the declarations of Google Cloud against Google's discovery documents
	cd oracle/gcp && go vet . && go test -count=1 .

.PHONY: oracle-dex
oracle-dex: ## Log in by single sign-on at dex, an identity provider; compiling it takes a minute the first time
	cd oracle/dex && go vet . && go test -count=1 .

.PHONY: oracle-azure
oracle-azure: ## Check the declarations of Azure against the models of Microsoft's typed modules
	cd oracle/azure && go vet . && go test -count=1 .

.PHONY: bench-awsapi
bench-awsapi: ## Compare the cost of AWS calls with the SDK's generated modules
	cd oracle/aws && RATIO=1 go test -count=1 -run TestCostComparedWithSDK -v .

.PHONY: fuzz-awsapi
fuzz-awsapi: ## Compare our decoders of AWS answers with those of smithy-go: ten million damaged answers, then random bytes
	AWSAPI_EXECUTIONS=10000000 go test ./internal/posture/collect/awsapi/wire -count 1 -timeout 5h -run TestDamaged -v
	go test ./internal/posture/collect/awsapi/wire -run '^$$' -fuzz FuzzXML -fuzztime 2m -fuzzminimizetime 200x
	go test ./internal/posture/collect/awsapi/wire -run '^$$' -fuzz FuzzQuery -fuzztime 2m -fuzzminimizetime 200x
	go test ./internal/posture/collect/awsapi/wire -run '^$$' -fuzz FuzzJSON -fuzztime 2m -fuzzminimizetime 200x
	go test ./internal/posture/collect/awsapi/wire -run '^$$' -fuzz FuzzDamaged -fuzztime 2m -fuzzminimizetime 200x

.PHONY: bench-gremlin
bench-gremlin: ## Compare the query engine with TinkerGraph; needs java and mvn
	go run ./bench/gremlin

.PHONY: bench-stream
bench-stream: ## Measure the time from a change in a cloud to its finding, stage by stage; DATABASE=postgres://...
	go run ./bench/stream $(if $(DATABASE),-database "$(DATABASE)")

.PHONY: bench-scan
bench-scan: ## Compare "vigil scan aws" with Prowler on the same moto account: time, processor time, memory
	scripts/bench-scan

.PHONY: bench-fairness
bench-fairness: ## Measure how much an organisation at ten times its quota delays another; DATABASE=postgres://...
	go run ./bench/fairness $(if $(DATABASE),-database "$(DATABASE)")

.PHONY: bench-scale
bench-scale: ## Measure collections per minute of 1, 2 and 4 processes on one PostgreSQL; DATABASE=postgres://...
	go run ./bench/scale -database "$(DATABASE)"

.PHONY: bench-collect
bench-collect: ## Compare the cost of collecting with the bare SDK
	cd bench/collect && go run .

.PHONY: bench-evaluate
bench-evaluate: ## Compare the evaluation of all rules with checks written by hand
	go run ./bench/evaluate

.PHONY: bench-findings
bench-findings: ## Compare queries for findings with 10,000 and 1,000,000 findings; DATABASE=postgres://...
	go run ./bench/findings $(if $(DATABASE),-database "$(DATABASE)")

.PHONY: test-tutorial
test-tutorial: ## Run the shell blocks of the tutorial against the demo
	scripts/test-tutorial

.PHONY: bench-export
bench-export: build ## Export a million findings in every format, measure the memory of the server, and read the files back; 20,000 also with the usual readers; FINDINGS=
	scripts/bench-export
