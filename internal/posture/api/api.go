// Package api implements the HTTP API of the posture server. Each file has the wire
// types of one kind of record, then its handlers.
//
// [API], [Streams] and [Scripts] are structs of the stores and services that their
// handlers call. Their Routes methods return the route tables, which package app serves
// with httpapi. [Document] is the OpenAPI document; tests compare the routes with it.
package api

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"time"

	"vigil/internal/cursor"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/judge"
	"vigil/internal/posture/notify"
	"vigil/internal/posture/onboard"
	"vigil/internal/posture/rulebook"
	"vigil/internal/posture/walk"
)

// Document is the OpenAPI document. The routes must match it.
//
//go:embed openapi.yaml
var Document []byte

// The roles that routes require.
const (
	viewer  = "viewer"
	analyst = "analyst"
	admin   = "admin"
)

// API handles requests.
type API struct {
	Org         func(context.Context) posture.OrgID // the caller's organisation
	Onboarding  *onboard.Service
	Store       posture.OnboardingStore
	Cloud       posture.Cloud
	Runs        posture.RunStore
	Plans       posture.PlanStore
	Collections Collections
	Book        *rulebook.Book
	Findings    posture.FindingStore
	Entities    posture.EntityStore
	Walker      *walk.Walker
	Pulses      Pulses
	Views       posture.ViewStore
	Mutes       posture.MuteStore
	Notify      notify.Store
	Sender      NotifySender
	User        func(context.Context) string // id of the caller
	Judge       *judge.Judge
	Caller      func(context.Context) string // name of the caller
	Cursors     *cursor.Cursors
	Now         func() time.Time
	Version     string // of Vigil, for exports

	Declarations func() []collect.Declaration                                      // of all entity types
	Reads        func(ctx context.Context, org posture.OrgID) ([]RuleReads, error) // types and attributes that the rules of an organisation read
}

// Routes returns the routes of this package and the roles that they require.
func (a *API) Routes() []httpapi.Route {
	large := httpapi.Limits{Body: httpapi.LargeBody}
	return slices.Concat(a.exportRoutes(), a.viewRoutes(), a.muteRoutes(), a.notifyRoutes(), []httpapi.Route{
		{Pattern: "POST /v1/cloud-accounts/query", Need: viewer, Operation: "queryCloudAccounts", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryAccounts)},
		{Pattern: "POST /v1/providers/{provider}/cloud-accounts", Need: admin, Operation: "addCloudAccount", Handler: httpapi.JSON(a.addAccount)},
		{Pattern: "GET /v1/providers/{provider}/cloud-accounts/{cloud_account_id}", Need: viewer, Operation: "getProviderCloudAccount", Limited: true, Handler: httpapi.JSON(a.getAccount)},
		{Pattern: "PUT /v1/providers/{provider}/cloud-accounts/{cloud_account_id}", Need: admin, Operation: "updateProviderCloudAccount", Handler: httpapi.JSON(a.putAccount)},
		{Pattern: "DELETE /v1/providers/{provider}/cloud-accounts/{cloud_account_id}", Need: admin, Operation: "deleteCloudAccount", Handler: httpapi.JSON(a.deleteAccount)},
		{Pattern: "GET /v1/cloud-accounts/{cloud_account_id}", Need: viewer, Operation: "getCloudAccount", Limited: true, Handler: httpapi.JSON(a.getAccount)},
		{Pattern: "PUT /v1/cloud-accounts/{cloud_account_id}", Need: admin, Operation: "updateCloudAccount", Handler: httpapi.JSON(a.putAccount)},

		{Pattern: "POST /v1/cloud-accounts/{cloud_account_id}/validation", Need: admin, Operation: "validateCloudAccount", Handler: httpapi.JSON(a.validateAccount)},
		{Pattern: "GET /console/pulse", Need: viewer, Operation: "getPulse", Limited: true, Quiet: true, Handler: httpapi.JSON(a.getPulse)},
		{Pattern: "GET /console/pulse/stream", Need: viewer, Operation: "streamPulse", Limited: true, Quiet: true, Events: true, Limits: httpapi.StreamLimits, Handler: a.streamPulse()},

		{Pattern: "POST /v1/cloud-credentials/query", Need: viewer, Operation: "queryCloudCredentials", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryCredentials)},
		{Pattern: "GET /v1/cloud-credentials/aws-external-id", Need: admin, Operation: "getAWSExternalId", Handler: httpapi.JSON(a.externalID)},
		{Pattern: "POST /v1/providers/{provider}/cloud-credentials", Need: admin, Operation: "addCloudCredential", Handler: httpapi.JSON(a.addCredential)},
		{Pattern: "GET /v1/providers/{provider}/cloud-credentials/{credential_id}", Need: viewer, Operation: "getCloudCredential", Limited: true, Handler: httpapi.JSON(a.getCredential)},
		{Pattern: "PUT /v1/providers/{provider}/cloud-credentials/{credential_id}", Need: admin, Operation: "updateCloudCredential", Handler: httpapi.JSON(a.putCredential)},
		{Pattern: "DELETE /v1/providers/{provider}/cloud-credentials/{credential_id}", Need: admin, Operation: "deleteCloudCredential", Handler: httpapi.JSON(a.deleteCredential)},

		{Pattern: "POST /v1/providers/{provider}/account-credential-relationship", Need: admin, Operation: "addRelationship", Handler: httpapi.JSON(a.addLink)},
		{Pattern: "DELETE /v1/providers/{provider}/account-credential-relationship/{pair}", Need: admin, Operation: "deleteRelationship", Handler: httpapi.JSON(a.deleteLink)},
		{Pattern: "DELETE /v1/providers/{provider}/{pair}", Need: admin, Operation: "deleteRelationshipByPair", Handler: httpapi.JSON(a.deleteLink)},

		{Pattern: "POST /v1/cloud-accounts/collection-status/query", Need: viewer, Operation: "queryCollections", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryRuns)},
		{Pattern: "GET /v1/collection-plan", Need: viewer, Operation: "getCollectionPlan", Limited: true, Handler: httpapi.JSON(a.getPlan)},
		{Pattern: "PUT /v1/collection-plan", Need: admin, Operation: "putCollectionPlan", Handler: httpapi.JSON(a.putPlan)},
		{Pattern: "GET /v1/cloud-accounts/{cloud_account_id}/collection-settings", Need: viewer, Operation: "getCollectionSettings", Limited: true, Handler: httpapi.JSON(a.getCollectionSettings)},
		{Pattern: "PUT /v1/cloud-accounts/{cloud_account_id}/collection-settings", Need: admin, Operation: "putCollectionSettings", Handler: httpapi.JSON(a.putCollectionSettings)},
		{Pattern: "POST /v1/cloud-accounts/{cloud_account_id}/collections", Need: analyst, Operation: "startCollection", Limited: true, Deferrable: true, Handler: httpapi.JSON(a.startRun)},
		{Pattern: "GET /v1/cloud-accounts/{cloud_account_id}/collections/{collection_id}", Need: viewer, Operation: "getCollection", Limited: true, Handler: httpapi.JSON(a.getRun)},
		{Pattern: "DELETE /v1/cloud-accounts/{cloud_account_id}/collections/{collection_id}", Need: analyst, Operation: "stopCollection", Limited: true, Handler: httpapi.JSON(a.stopRun)},

		{Pattern: "POST /v1/entities/query", Need: viewer, Operation: "queryEntities", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryEntities)},
		{Pattern: "POST /v1/entities/aggregations-query", Need: viewer, Operation: "aggregateEntities", Limited: true, Safe: true, Handler: httpapi.JSON(a.aggregateEntities)},
		{Pattern: "POST /v1/entities/changes-query", Need: viewer, Operation: "queryChanges", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryFeed)},
		{Pattern: "POST /v1/entities/graph-query", Need: viewer, Operation: "queryGraph", Limited: true, Safe: true, Limits: httpapi.Limits{Rate: httpapi.RateHeavy}, Handler: httpapi.JSON(a.queryGraph)},
		{Pattern: "GET /v1/entities/schema", Need: viewer, Operation: "getSchema", Limited: true, Handler: httpapi.JSON(a.getSchema)},
		{Pattern: "GET /v1/entities/{resource_id}", Need: viewer, Operation: "getEntity", Limited: true, Handler: httpapi.JSON(a.getEntity)},
		{Pattern: "GET /v1/entities/{resource_id}/neighbors", Need: viewer, Operation: "getNeighbors", Limited: true, Handler: httpapi.JSON(a.getNeighbors)},
		{Pattern: "GET /v1/entities/{resource_id}/verdicts", Need: viewer, Operation: "getEntityVerdicts", Limited: true, Limits: httpapi.Limits{Rate: httpapi.RateHeavy}, Handler: httpapi.JSON(a.getEntityVerdicts)},
		{Pattern: "GET /v1/entities/{resource_id}/changelog", Need: viewer, Operation: "getChangeLog", Limited: true, Handler: httpapi.JSON(a.getChangeLog)},

		{Pattern: "GET /v1/rules", Need: viewer, Operation: "listRules", Limited: true, Handler: httpapi.JSON(a.listRules)},
		{Pattern: "POST /v1/rules", Need: analyst, Operation: "addRule", Handler: httpapi.JSON(a.addRule)},
		{Pattern: "POST /v1/rules/query", Need: viewer, Operation: "queryRules", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryRules)},
		{Pattern: "POST /v1/rules/check", Need: viewer, Operation: "checkRule", Limited: true, Safe: true, Handler: httpapi.JSON(a.checkRule)},
		{Pattern: "POST /v1/rules/verdicts-query", Need: viewer, Operation: "queryVerdicts", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryVerdicts)},
		{Pattern: "POST /v1/rules/test", Need: analyst, Operation: "testRule", Limited: true, Safe: true, Limits: httpapi.Limits{Rate: httpapi.RateHeavy}, Handler: httpapi.JSON(a.tryRule)},
		{Pattern: "GET /v1/rules/{rule_id}", Need: viewer, Operation: "getRule", Limited: true, Handler: httpapi.JSON(a.getRule)},
		{Pattern: "PUT /v1/rules/{rule_id}", Need: analyst, Operation: "putRule", Handler: httpapi.JSON(a.putRule)},
		{Pattern: "PATCH /v1/rules/{rule_id}", Need: analyst, Operation: "patchRule", Handler: httpapi.JSON(a.patchRule)},
		{Pattern: "DELETE /v1/rules/{rule_id}", Need: analyst, Operation: "deleteRule", Handler: httpapi.JSON(a.deleteRule)},
		{Pattern: "POST /v1/rules/{rule_id}/unknown-query", Need: viewer, Operation: "queryUnknown", Limited: true, Safe: true, Limits: httpapi.Limits{Rate: httpapi.RateHeavy}, Handler: httpapi.JSON(a.queryUnknown)},
		{Pattern: "GET /v1/rules/{rule_id}/history", Need: viewer, Operation: "getRuleHistory", Limited: true, Handler: httpapi.JSON(a.getRuleHistory)},

		{Pattern: "GET /v1/compliance-frameworks", Need: viewer, Operation: "listFrameworks", Limited: true, Handler: httpapi.JSON(a.listFrameworks)},
		{Pattern: "GET /v1/compliance-frameworks/{framework_id}", Need: viewer, Operation: "getFramework", Limited: true, Handler: httpapi.JSON(a.getFramework)},
		{Pattern: "PUT /v1/compliance-frameworks/{framework_id}", Need: analyst, Operation: "putFramework", Handler: httpapi.JSON(a.putFramework)},
		{Pattern: "DELETE /v1/compliance-frameworks/{framework_id}", Need: analyst, Operation: "deleteFramework", Handler: httpapi.JSON(a.deleteFramework)},
		{Pattern: "GET /v1/compliance-frameworks/{framework_id}/controls", Need: viewer, Operation: "listControls", Limited: true, Handler: httpapi.JSON(a.listControls)},
		{Pattern: "POST /v1/compliance-frameworks/{framework_id}/posture", Need: viewer, Operation: "getPosture", Limited: true, Safe: true, Handler: httpapi.JSON(a.getPosture)},
		{Pattern: "POST /v1/compliance-frameworks/{framework_id}/posture/trend", Need: viewer, Operation: "getPostureTrend", Limited: true, Safe: true, Handler: httpapi.JSON(a.getPostureTrend)},
		{Pattern: "PUT /v1/compliance-frameworks/{framework_id}/controls/{control_id}/assessment", Need: analyst, Operation: "assessControl", Handler: httpapi.JSON(a.assessControl)},
		{Pattern: "DELETE /v1/compliance-frameworks/{framework_id}/controls/{control_id}/assessment", Need: analyst, Operation: "deleteAssessment", Handler: httpapi.JSON(a.deleteAssessment)},

		{Pattern: "POST /v2/findings/query", Need: viewer, Operation: "queryFindings", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryFindings)},
		{Pattern: "POST /v2/findings/trends-query", Need: viewer, Operation: "queryTrends", Limited: true, Safe: true, Handler: httpapi.JSON(a.queryTrends)},
		{Pattern: "POST /v2/findings/suppressions", Need: analyst, Operation: "suppressFindings", Limited: true, Handler: httpapi.JSON(a.suppressMany)},
		{Pattern: "POST /v2/findings/releases", Need: analyst, Operation: "releaseFindings", Limited: true, Handler: httpapi.JSON(a.releaseMany)},
		{Pattern: "GET /v2/findings/{finding_id}", Need: viewer, Operation: "getFinding", Limited: true, Handler: httpapi.JSON(a.getFinding)},
		{Pattern: "GET /v2/findings/{finding_id}/history", Need: viewer, Operation: "getFindingHistory", Limited: true, Handler: httpapi.JSON(a.getFindingHistory)},
		{Pattern: "PUT /v2/findings/{finding_id}/suppression", Need: analyst, Operation: "suppressFinding", Limited: true, Handler: httpapi.JSON(a.suppress)},
		{Pattern: "DELETE /v2/findings/{finding_id}/suppression", Need: analyst, Operation: "releaseFinding", Limited: true, Handler: httpapi.JSON(a.release)},

		{Pattern: "POST /v1/cloud-accounts/bulk-update", Need: admin, Operation: "bulkUpdate", Limits: large, Handler: httpapi.JSON(a.bulkUpdate)},
		{Pattern: "POST /v1/cloud-accounts/gcp-discovery-task", Need: admin, Operation: "discoverProjects", Safe: true, Handler: httpapi.JSON(a.discover)},
		{Pattern: "POST /v1/cloud-accounts/aws-discovery-task", Need: admin, Operation: "discoverMembers", Safe: true, Handler: httpapi.JSON(a.discoverMembers)},
		{Pattern: "POST /v1/cloud-accounts/azure-discovery-task", Need: admin, Operation: "discoverSubscriptions", Safe: true, Handler: httpapi.JSON(a.discoverSubscriptions)},
	})
}

// providerPath is the provider in a path.
type providerPath struct {
	Provider string `path:"provider"`
}

// provider returns the provider in the path. It fails with fault.NotFound if there is
// no such provider.
func (p providerPath) provider() (posture.Provider, error) {
	v, ok := posture.ParseProvider(p.Provider)
	if !ok {
		return "", fault.New(fault.NotFound, "there is no provider %q", p.Provider)
	}
	return v, nil
}

// sameProvider fails if the body has another provider than the path.
func sameProvider(path posture.Provider, body string) error {
	if body == "" || strings.EqualFold(body, string(path)) {
		return nil
	}
	return fault.Field("provider", "must be %q, as in the path", path)
}

// one returns the only record of a set of changes that has one item, or the item's error.
func one[T any](records []T, err error) (T, error) {
	if err != nil {
		var zero T
		return zero, onboard.Cause(err)
	}
	return records[0], nil
}

// status is the wire form of a status.
type status struct {
	Value          string       `json:"value"`
	LastUpdateTime httpapi.Time `json:"lastUpdateTime"`
	Reason         string       `json:"reason,omitempty"`
}

func statusOf[T ~string](s posture.Stamped[T]) status {
	return status{Value: string(s.Value), LastUpdateTime: httpapi.Time{Time: s.Since}}
}
