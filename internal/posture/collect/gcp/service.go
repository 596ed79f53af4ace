package gcp

import (
	"context"
	"errors"
	"net/http"

	"google.golang.org/api/apikeys/v2"
	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/bigquery/v2"
	"google.golang.org/api/cloudfunctions/v2"
	"google.golang.org/api/cloudkms/v1"
	"google.golang.org/api/cloudresourcemanager/v1"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
	"google.golang.org/api/dns/v1"
	"google.golang.org/api/file/v1"
	"google.golang.org/api/iam/v1"
	"google.golang.org/api/logging/v2"
	"google.golang.org/api/monitoring/v3"
	"google.golang.org/api/option"
	"google.golang.org/api/pubsub/v1"
	"google.golang.org/api/redis/v1"
	runlocations "google.golang.org/api/run/v1"
	"google.golang.org/api/run/v2"
	"google.golang.org/api/secretmanager/v1"
	"google.golang.org/api/serviceusage/v1"
	"google.golang.org/api/sqladmin/v1"
	"google.golang.org/api/storage/v1"
)

// services are the parts of Google Cloud that are asked, all through one client.
type services struct {
	apiKeys      *apikeys.Service
	artifacts    *artifactregistry.Service
	bigquery     *bigquery.Service
	functions    *cloudfunctions.Service
	kms          *cloudkms.Service
	resources    *cloudresourcemanager.Service
	compute      *compute.Service
	container    *container.Service
	dns          *dns.Service
	files        *file.Service
	iam          *iam.Service
	logging      *logging.Service
	monitoring   *monitoring.Service
	pubsub       *pubsub.Service
	redis        *redis.Service
	run          *run.Service
	runLocations *runlocations.APIService
	secrets      *secretmanager.Service
	usage        *serviceusage.Service
	sql          *sqladmin.Service
	storage      *storage.Service
}

func newServices(client *http.Client) (services, error) {
	var failed []error
	s := services{
		apiKeys:      open(client, apikeys.NewService, &failed),
		artifacts:    open(client, artifactregistry.NewService, &failed),
		bigquery:     open(client, bigquery.NewService, &failed),
		functions:    open(client, cloudfunctions.NewService, &failed),
		kms:          open(client, cloudkms.NewService, &failed),
		resources:    open(client, cloudresourcemanager.NewService, &failed),
		compute:      open(client, compute.NewService, &failed),
		container:    open(client, container.NewService, &failed),
		dns:          open(client, dns.NewService, &failed),
		files:        open(client, file.NewService, &failed),
		iam:          open(client, iam.NewService, &failed),
		logging:      open(client, logging.NewService, &failed),
		monitoring:   open(client, monitoring.NewService, &failed),
		pubsub:       open(client, pubsub.NewService, &failed),
		redis:        open(client, redis.NewService, &failed),
		run:          open(client, run.NewService, &failed),
		runLocations: open(client, runlocations.NewService, &failed),
		secrets:      open(client, secretmanager.NewService, &failed),
		usage:        open(client, serviceusage.NewService, &failed),
		sql:          open(client, sqladmin.NewService, &failed),
		storage:      open(client, storage.NewService, &failed),
	}
	return s, errors.Join(failed...)
}

// open prepares one service.
func open[T any](client *http.Client, begin func(context.Context, ...option.ClientOption) (*T, error), failed *[]error) *T {
	s, err := begin(context.Background(), option.WithHTTPClient(client))
	if err != nil {
		*failed = append(*failed, err)
	}
	return s
}
