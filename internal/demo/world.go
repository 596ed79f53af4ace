package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/auth"
	"vigil/internal/posture"
	"vigil/internal/posture/app"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/onboard"
	"vigil/internal/posture/resource"
	simaws "vigil/internal/sim/aws"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/events"
	"vigil/internal/sim/gateway"
	simgcp "vigil/internal/sim/gcp"
	simworld "vigil/internal/sim/world"
)

// simulated names one account per provider that exists in the simulated clouds
// but is not onboarded.
type simulated struct {
	AWSAccountID           string `json:"aws_account_id"`
	AWSRoleArn             string `json:"aws_role_arn"`
	AWSExternalID          string `json:"aws_external_id"`
	AWSDeniedRoleArn       string `json:"aws_denied_role_arn"`
	AzureSubscriptionID    string `json:"azure_subscription_id"`
	AzureTenantID          string `json:"azure_tenant_id"`
	AzureApplicationID     string `json:"azure_application_id"`
	AzureApplicationKey    string `json:"azure_application_key"`
	GCPProjectID           string `json:"gcp_project_id"`
	GCPServiceAccountEmail string `json:"gcp_service_account_email"`
	GCPServiceAccountKey   string `json:"gcp_service_account_key"`
}

// world contains the simulated clouds, which the product reaches by their real
// host names through one gateway.
type world struct {
	clouds  *clouds.Clouds
	metrics *prometheus.Registry // of the server that reads the clouds
	sim     simulated
	sets    []onboard.Changes // the accounts of the demo organisation

	publisher *events.Publisher // publishes the clouds' events
	tenant    *events.Tenant    // makes changes in the clouds

	stop context.CancelFunc
	work sync.WaitGroup
}

// perCloud is the number of accounts of each cloud; the first is left for
// visitors to onboard.
const (
	perCloud = 3
	size     = 120 // approximate number of resources of an account
)

func newWorld(log *slog.Logger, metrics *prometheus.Registry, types *resource.Catalog) (*world, error) {
	g, err := gateway.Listen("127.0.0.1:0", log)
	if err != nil {
		return nil, err
	}
	shares := simworld.Shares{Default: 0.15} // each rule finds violations in 15 % of the resources
	defaults, err := newDefaultAnswers()
	if err != nil {
		return nil, err
	}
	amazon := simaws.New(simaws.Options{Seed: 1, Accounts: perCloud, Size: size, Shares: shares, Unsimulated: defaults.aws}, g.Faults)
	azure := simazure.New(simazure.Options{Seed: 2, Subscriptions: perCloud, Size: size, Shares: shares, Unsimulated: defaults.azure}, g.Faults)
	google := simgcp.New(simgcp.Options{Seed: 3, Projects: perCloud, Size: size, Shares: shares, Unsimulated: defaults.google}, g.Faults)
	defaults.account, defaults.subscription, defaults.project = amazon.Account(1).ID, azure.Subscriptions()[1], google.Projects()[1]
	for _, host := range simaws.Hosts {
		g.Handle(host, amazon)
	}
	for _, host := range simazure.Hosts {
		g.Handle(host, azure)
	}
	for _, host := range simgcp.Hosts {
		g.Handle(host, google)
	}
	w := &world{metrics: metrics}
	if w.publisher, err = newPublisher(log); err != nil {
		return nil, err
	}
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		g.Handle("sns."+region+".amazonaws.com", w.publisher.SNS.Handler(amazon))
	}
	g.Handle(events.KeysHost, w.publisher.Google.Handler(google))
	w.publisher.WatchAWS(amazon)
	w.publisher.WatchGCP(google)
	w.tenant = &events.Tenant{Publisher: w.publisher, Every: tenantEvery, Log: log}
	if err := errors.Join(
		w.tenant.WorkAWS(amazon, amazon.Account(1).ID, "us-east-1"),
		w.tenant.WorkAzure(azure, azure.Subscriptions()[1].ID),
		w.tenant.WorkGCP(google, google.Projects()[1].ID),
	); err != nil {
		return nil, err
	}
	key, secret := amazon.Identity()
	// There is no limiter of calls: the simulated clouds have no rate limits.
	w.clouds, err = clouds.New(clouds.Options{
		AWS: aws.Identity{AccessKeyID: key, SecretAccessKey: secret}, Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()},
		Metrics: metrics, Catalog: types,
	})
	if err != nil {
		return nil, err
	}
	if _, err := g.Faults.Add(missingGrant(amazon)); err != nil {
		return nil, err
	}
	w.addAWS(amazon)
	w.addAzure(azure)
	w.addGCP(google)
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.work.Go(func() {
		if err := g.Serve(ctx); err != nil {
			log.Error("simulated clouds stopped", "error", err)
		}
	})
	return w, nil
}

// missingGrant denies the second account one permission, so that the demo shows an account
// that is read in part: the rotation of its keys is unknown.
func missingGrant(c *simaws.Cloud) gateway.Fault {
	return gateway.Fault{Kind: gateway.Deny, Match: gateway.Call{Cloud: "aws", Account: c.Account(2).ID, Service: "kms", Action: "GetKeyRotationStatus"}}
}

func (w *world) close() {
	w.stop()
	w.work.Wait()
}

// add adds an account to those of the demo organisation.
func (w *world) add(p posture.Provider, idProperty, id, name string, credential ...posture.Property) {
	w.sets = append(w.sets, onboard.Changes{
		Provider:    p,
		Credentials: []onboard.CredentialChange{{Action: onboard.Post, Ref: "c", Properties: credential}},
		Accounts: []onboard.AccountChange{{Action: onboard.Post, Spec: posture.AccountSpec{
			Name: name, Properties: posture.Give([]posture.Property{posture.Text(idProperty, id)}),
		}}},
		Links: []onboard.LinkChange{{Action: onboard.Post, Account: posture.AccountID(id), Ref: "c"}},
	})
}

// firstAccount returns the id of the first account of the demo organisation.
func (w *world) firstAccount() string { return string(w.sets[0].Links[0].Account) }

func (w *world) addAWS(c *simaws.Cloud) {
	spare := c.Account(0)
	w.sim.AWSAccountID, w.sim.AWSRoleArn, w.sim.AWSExternalID, w.sim.AWSDeniedRoleArn = spare.ID, spare.RoleArn, spare.ExternalID, spare.DeniedRoleArn
	for i := 1; i < perCloud; i++ {
		a := c.Account(i)
		w.add(posture.AWS, "accountId", a.ID, fmt.Sprintf("aws-demo-%d", i),
			posture.Text(posture.PropRoleArn, a.RoleArn), posture.Text(posture.PropExternalID, a.ExternalID))
	}
}

func (w *world) addAzure(c *simazure.Cloud) {
	reader := c.Reader(simazure.PublicCloud)
	for i, s := range c.Subscriptions() {
		if i == 0 {
			w.sim.AzureSubscriptionID, w.sim.AzureTenantID = s.ID, reader.Tenant
			w.sim.AzureApplicationID, w.sim.AzureApplicationKey = reader.Application, reader.Key
			continue
		}
		w.add(posture.Azure, "subscriptionId", s.ID, fmt.Sprintf("azure-demo-%d", i),
			posture.Text(posture.PropApplicationID, reader.Application), posture.Text(posture.PropApplicationKey, reader.Key),
			posture.Text(posture.PropDirectoryID, reader.Tenant))
	}
}

func (w *world) addGCP(c *simgcp.Cloud) {
	reader := c.Reader()
	for i, p := range c.Projects() {
		if i == 0 {
			w.sim.GCPProjectID, w.sim.GCPServiceAccountEmail, w.sim.GCPServiceAccountKey = p.ID, reader.Email, reader.Key
			continue
		}
		w.add(posture.GCP, "projectId", p.ID, fmt.Sprintf("gcp-demo-%d", i),
			posture.Text(posture.PropServiceAccountEmail, reader.Email), posture.Text(posture.PropServiceAccountKey, reader.Key))
	}
}

// onboard adds the accounts of the demo organisation and waits until they are
// collected. Their evaluation may take longer: generateHistory waits for it.
func (w *world) onboard(ctx context.Context, a *app.App, id auth.OrgID) error {
	org := posture.OrgID(id)
	for _, set := range w.sets {
		if _, err := a.Onboarding().Apply(ctx, org, set); err != nil {
			return fmt.Errorf("onboard the accounts of the demo: %w", err)
		}
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		settled, err := a.Settled(ctx, org)
		if err != nil || settled {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
	return fmt.Errorf("the accounts of the demo were not collected within two minutes")
}
