package peer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"vigil/internal/posture"
)

// neighbours creates gateways, identity providers and clusters, which connect the other
// resources of the test.
func (m *maker) neighbours(role, subnet, group string) {
	m.gateways(subnet)
	m.identityProviders()
	m.clusters(role, subnet, group)
}

func (m *maker) gateways(subnet string) {
	c := ec2.NewFromConfig(m.config)
	template := must[*ec2.CreateLaunchTemplateOutput](m)(c.CreateLaunchTemplate(m.ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: sdk.String("peer"),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: sdk.String("ami-12c6146b"), InstanceType: ec2types.InstanceTypeT3Micro}})).LaunchTemplate
	m.expect("AWS.EC2.LaunchTemplate", *template.LaunchTemplateId, posture.Number("latestVersion", 1))
	must[*autoscaling.CreateAutoScalingGroupOutput](m)(autoscaling.NewFromConfig(m.config).CreateAutoScalingGroup(m.ctx, &autoscaling.CreateAutoScalingGroupInput{AutoScalingGroupName: sdk.String("peer"),
		MinSize: sdk.Int32(0), MaxSize: sdk.Int32(2), VPCZoneIdentifier: &subnet, LaunchTemplate: launch(template.LaunchTemplateId)}))
	m.expect("AWS.AutoScaling.Group", "peer", posture.Number("maxSize", 2))
	tgw := must[*ec2.CreateTransitGatewayOutput](m)(c.CreateTransitGateway(m.ctx, &ec2.CreateTransitGatewayInput{})).TransitGateway
	m.expect("AWS.EC2.TransitGateway", *tgw.TransitGatewayId)
	vpn := must[*ec2.CreateVpnGatewayOutput](m)(c.CreateVpnGateway(m.ctx, &ec2.CreateVpnGatewayInput{Type: ec2types.GatewayTypeIpsec1})).VpnGateway
	m.expect("AWS.EC2.VpnGateway", *vpn.VpnGatewayId)
	customer := must[*ec2.CreateCustomerGatewayOutput](m)(c.CreateCustomerGateway(m.ctx, &ec2.CreateCustomerGatewayInput{Type: ec2types.GatewayTypeIpsec1, BgpAsn: sdk.Int32(65000), IpAddress: sdk.String("203.0.113.7")})).CustomerGateway
	tunnel := must[*ec2.CreateVpnConnectionOutput](m)(c.CreateVpnConnection(m.ctx, &ec2.CreateVpnConnectionInput{Type: sdk.String("ipsec.1"), CustomerGatewayId: customer.CustomerGatewayId, VpnGatewayId: vpn.VpnGatewayId})).VpnConnection
	m.expect("AWS.EC2.VpnConnection", *tunnel.VpnConnectionId)
	vpcs := make([]string, 2)
	for i, block := range []string{"10.10.0.0/16", "10.11.0.0/16"} {
		vpcs[i] = *must[*ec2.CreateVpcOutput](m)(c.CreateVpc(m.ctx, &ec2.CreateVpcInput{CidrBlock: &block})).Vpc.VpcId
	}
	peering := must[*ec2.CreateVpcPeeringConnectionOutput](m)(c.CreateVpcPeeringConnection(m.ctx, &ec2.CreateVpcPeeringConnectionInput{VpcId: &vpcs[0], PeerVpcId: &vpcs[1]})).VpcPeeringConnection
	m.expect("AWS.EC2.VpcPeeringConnection", *peering.VpcPeeringConnectionId)
	endpoint := must[*ec2.CreateVpcEndpointOutput](m)(c.CreateVpcEndpoint(m.ctx, &ec2.CreateVpcEndpointInput{VpcId: &vpcs[0], ServiceName: sdk.String("com.amazonaws.us-east-1.s3"), VpcEndpointType: ec2types.VpcEndpointTypeGateway})).VpcEndpoint
	m.expect("AWS.EC2.VpcEndpoint", *endpoint.VpcEndpointId, posture.Text("vpcEndpointType", "Gateway"))
	l := cloudwatchlogs.NewFromConfig(m.config)
	must[*cloudwatchlogs.PutMetricFilterOutput](m)(l.PutMetricFilter(m.ctx, &cloudwatchlogs.PutMetricFilterInput{LogGroupName: sdk.String("/peer/log"), FilterName: sdk.String("denied"), FilterPattern: sdk.String("x"),
		MetricTransformations: []logtypes.MetricTransformation{{MetricName: sdk.String("Denied"), MetricNamespace: sdk.String("Security"), MetricValue: sdk.String("1")}}}))
	m.expect("AWS.Logs.MetricFilter", "/peer/log/denied", posture.Text("metricNames", "Security/Denied"))
	m.createAlarm(url.Values{"AlarmName": {"denied"}, "Namespace": {"Security"}, "MetricName": {"Denied"}, "ComparisonOperator": {"GreaterThanThreshold"},
		"EvaluationPeriods": {"1"}, "Period": {"60"}, "Statistic": {"Sum"}, "Threshold": {"0"}})
	m.expect("AWS.CloudWatch.Alarm", "denied", posture.Text("namespace", "Security"), posture.Text("metricName", "Denied"))
}

// createAlarm creates an alarm by the query protocol: the generated module speaks CBOR, which moto
// does not for CloudWatch.
func (m *maker) createAlarm(form url.Values) {
	form.Set("Action", "PutMetricAlarm")
	form.Set("Version", "2010-08-01")
	body := form.Encode()
	r, err := http.NewRequestWithContext(m.ctx, http.MethodPost, "https://monitoring."+peerRegion+".amazonaws.com/", strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	keys, err := m.config.Credentials.Retrieve(m.ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := v4.NewSigner().SignHTTP(m.ctx, keys, r, fmt.Sprintf("%x", sha256.Sum256([]byte(body))), "monitoring", peerRegion, time.Now()); err != nil {
		m.t.Fatal(err)
	}
	answer, err := m.config.HTTPClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		m.t.Fatalf("create an alarm: %s %s", answer.Status, text)
	}
}

func (m *maker) identityProviders() {
	c := iam.NewFromConfig(m.config)
	must[*iam.CreateOpenIDConnectProviderOutput](m)(c.CreateOpenIDConnectProvider(m.ctx, &iam.CreateOpenIDConnectProviderInput{Url: sdk.String("https://vouch.example.com"), ThumbprintList: []string{strings.Repeat("a", 40)}, ClientIDList: []string{"x"}}))
	m.expectIn("AWS.IAM.OidcProvider", "", "vouch.example.com")
	must[*iam.CreateSAMLProviderOutput](m)(c.CreateSAMLProvider(m.ctx, &iam.CreateSAMLProviderInput{Name: sdk.String("corporate"), SAMLMetadataDocument: sdk.String(strings.Repeat("a", 1024))}))
	m.expectIn("AWS.IAM.SamlProvider", "", "corporate")
	must[*iam.CreateVirtualMFADeviceOutput](m)(c.CreateVirtualMFADevice(m.ctx, &iam.CreateVirtualMFADeviceInput{VirtualMFADeviceName: sdk.String("phone")}))
	m.expectIn("AWS.IAM.VirtualMfaDevice", "", "phone", posture.Flag("assigned", false))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		m.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "peer"}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		m.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		m.t.Fatal(err)
	}
	must[*iam.UploadServerCertificateOutput](m)(c.UploadServerCertificate(m.ctx, &iam.UploadServerCertificateInput{ServerCertificateName: sdk.String("old"),
		CertificateBody: sdk.String(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))), PrivateKey: sdk.String(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))}))
	m.expectIn("AWS.IAM.ServerCertificate", "", "old")
}

func (m *maker) clusters(role, subnet, group string) {
	c := ecs.NewFromConfig(m.config)
	must[*ecs.RegisterTaskDefinitionOutput](m)(c.RegisterTaskDefinition(m.ctx, &ecs.RegisterTaskDefinitionInput{Family: sdk.String("peer-task"), TaskRoleArn: &role,
		ContainerDefinitions: []ecstypes.ContainerDefinition{{Name: sdk.String("main"), Image: sdk.String("app:1"), Memory: sdk.Int32(64), Privileged: sdk.Bool(true)}}}))
	m.expect("AWS.ECS.TaskDefinition", "peer-task", posture.Text("privilegedContainers", "main"), posture.Text("images", "app:1"))
	must[*ecs.CreateServiceOutput](m)(c.CreateService(m.ctx, &ecs.CreateServiceInput{Cluster: sdk.String("peer-containers"), ServiceName: sdk.String("peer-service"), TaskDefinition: sdk.String("peer-task"), DesiredCount: sdk.Int32(1)}))
	m.expect("AWS.ECS.Service", "peer-containers/peer-service", posture.Text("status", "ACTIVE"))
	must[*eks.CreateNodegroupOutput](m)(eks.NewFromConfig(m.config).CreateNodegroup(m.ctx, &eks.CreateNodegroupInput{ClusterName: sdk.String("peer-cluster"), NodegroupName: sdk.String("nodes"), NodeRole: &role, Subnets: []string{subnet}}))
	m.expect("AWS.EKS.Nodegroup", "peer-cluster/nodes", posture.Text("status", "ACTIVE"))
	cache := elasticache.NewFromConfig(m.config)
	must[*elasticache.CreateCacheClusterOutput](m)(cache.CreateCacheCluster(m.ctx, &elasticache.CreateCacheClusterInput{CacheClusterId: sdk.String("peer-cache"), Engine: sdk.String("redis"), NumCacheNodes: sdk.Int32(1), CacheNodeType: sdk.String("cache.t3.micro")}))
	m.expect("AWS.ElastiCache.CacheCluster", "peer-cache", posture.Text("engine", "redis"))
	must[*elasticache.CreateReplicationGroupOutput](m)(cache.CreateReplicationGroup(m.ctx, &elasticache.CreateReplicationGroupInput{ReplicationGroupId: sdk.String("peer-group"), ReplicationGroupDescription: sdk.String("x"),
		Engine: sdk.String("redis"), CacheNodeType: sdk.String("cache.t3.micro"), NumCacheClusters: sdk.Int32(1), TransitEncryptionEnabled: sdk.Bool(true)}))
	m.expect("AWS.ElastiCache.ReplicationGroup", "peer-group", posture.Flag("transitEncryptionEnabled", true))
	d := rds.NewFromConfig(m.config)
	must[*rds.CreateDBSubnetGroupOutput](m)(d.CreateDBSubnetGroup(m.ctx, &rds.CreateDBSubnetGroupInput{DBSubnetGroupName: sdk.String("peer-subnets"), DBSubnetGroupDescription: sdk.String("x"), SubnetIds: []string{subnet}}))
	m.expect("AWS.RDS.DBSubnetGroup", "peer-subnets")
	must[*rds.CreateDBClusterOutput](m)(d.CreateDBCluster(m.ctx, &rds.CreateDBClusterInput{DBClusterIdentifier: sdk.String("peer-aurora"), Engine: sdk.String("aurora-postgresql"), MasterUsername: sdk.String("root"), MasterUserPassword: sdk.String("Secret123456"),
		VpcSecurityGroupIds: []string{group}}))
	m.expect("AWS.RDS.DBCluster", "peer-aurora", posture.Flag("storageEncrypted", false))
	must[*rds.CreateDBClusterSnapshotOutput](m)(d.CreateDBClusterSnapshot(m.ctx, &rds.CreateDBClusterSnapshotInput{DBClusterIdentifier: sdk.String("peer-aurora"), DBClusterSnapshotIdentifier: sdk.String("peer-aurora-copy")}))
	m.expect("AWS.RDS.DBClusterSnapshot", "peer-aurora-copy", posture.Flag("public", false))
}

func launch(template *string) *astypes.LaunchTemplateSpecification {
	return &astypes.LaunchTemplateSpecification{LaunchTemplateId: template, Version: sdk.String("$Latest")}
}
