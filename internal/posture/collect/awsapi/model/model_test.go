package model

import (
	"errors"
	"slices"
	"testing"
)

func TestEveryServiceOpens(t *testing.T) {
	t.Parallel()
	names, operations := Services(), 0
	if len(names) < 420 || !slices.IsSorted(names) {
		t.Fatalf("%d services, want at least 420; sorted %v", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		s, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		operations += len(s.Operations)
		for _, op := range s.Operations {
			if op.Method == "" || op.URI == "" {
				t.Errorf("%s %s has no address", name, op.Name)
			}
			for _, region := range []string{"us-east-1", "ap-south-2", "cn-north-1", "us-gov-east-1"} {
				// A service may have no endpoint in the partition of a region.
				if e, err := op.Endpoint(region, false); err == nil && (e.Host == "" || e.SigningName == "" || e.SigningRegion == "") {
					t.Errorf("%s %s in %s is at %+v", name, op.Name, region, e)
				}
			}
			if p := op.Page; p != nil {
				if op.Input == nil || len(p.Input) != len(p.Output) {
					t.Errorf("%s %s: pages %+v", name, op.Name, p)
					continue
				}
				for _, token := range p.Input {
					if op.Input.Member(token) == nil {
						t.Errorf("%s %s has no member %s for its token", name, op.Name, token)
					}
				}
			}
		}
	}
	if operations < 8300 {
		t.Errorf("%d operations, want at least 8300", operations)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		service, operation, region       string
		fips                             bool
		host, signingName, signingRegion string
	}{
		{"sqs", "ListQueues", "eu-west-1", false, "sqs.eu-west-1.amazonaws.com", "sqs", "eu-west-1"},
		{"sqs", "ListQueues", "xx-new-7", false, "sqs.xx-new-7.amazonaws.com", "sqs", "xx-new-7"}, // not in the models: the default form
		{"sqs", "ListQueues", "cn-north-1", false, "sqs.cn-north-1.amazonaws.com.cn", "sqs", "cn-north-1"},
		{"ec2", "DescribeInstances", "us-east-1", true, "ec2-fips.us-east-1.amazonaws.com", "ec2", "us-east-1"},
		// In this partition, the usual hosts of EC2 and STS are validated by FIPS 140.
		{"ec2", "DescribeInstances", "us-gov-west-1", true, "ec2.us-gov-west-1.amazonaws.com", "ec2", "us-gov-west-1"},
		{"iam", "ListUsers", "eu-west-1", false, "iam.amazonaws.com", "iam", "us-east-1"},
		{"iam", "ListUsers", "us-gov-east-1", false, "iam.us-gov.amazonaws.com", "iam", "us-gov-west-1"},
		{"iam", "ListUsers", "cn-northwest-1", false, "iam.cn-north-1.amazonaws.com.cn", "iam", "cn-north-1"},
		{"route53", "ListHostedZones", "eu-west-1", false, "route53.amazonaws.com", "route53", "us-east-1"},
		{"organizations", "ListAccounts", "eu-west-1", false, "organizations.us-east-1.amazonaws.com", "organizations", "us-east-1"},
		{"cloudfront", "ListDistributions", "eu-west-1", false, "cloudfront.amazonaws.com", "cloudfront", "us-east-1"},
		{"cloudwatch", "DescribeAlarms", "eu-west-1", false, "monitoring.eu-west-1.amazonaws.com", "monitoring", "eu-west-1"},
		{"elbv2", "DescribeLoadBalancers", "eu-west-1", false, "elasticloadbalancing.eu-west-1.amazonaws.com", "elasticloadbalancing", "eu-west-1"},
		{"acm", "ListCertificates", "eu-west-1", false, "acm.eu-west-1.amazonaws.com", "acm", "eu-west-1"},
		{"s3", "ListBuckets", "eu-west-1", false, "s3.eu-west-1.amazonaws.com", "s3", "eu-west-1"},
		{"s3control", "GetPublicAccessBlock", "eu-west-1", false, "s3-control.eu-west-1.amazonaws.com", "s3", "eu-west-1"},
		{"sts", "AssumeRole", "us-gov-west-1", true, "sts.us-gov-west-1.amazonaws.com", "sts", "us-gov-west-1"},
	} {
		op, err := Find(tt.service, tt.operation)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := op.Endpoint(tt.region, tt.fips)
		if want := (Endpoint{tt.host, tt.signingName, tt.signingRegion}); err != nil || got != want {
			t.Errorf("%s in %s (FIPS %v) is at %+v, %v, want %+v", tt.service, tt.region, tt.fips, got, err, want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	if _, err := Find("nosuch", "ListThings"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown service: %v", err)
	}
	if _, err := Find("sqs", "DeleteQueue"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an operation that writes: %v", err)
	}
	if got := Operations("nosuch"); got != nil {
		t.Errorf("operations of an unknown service: %v", got)
	}
}

func TestTruncatedModels(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 3, 100, 4000, len(services) / 2, len(services) - 1} {
		if _, err := open(services[:n]); err == nil {
			t.Errorf("%d bytes of %d are accepted", n, len(services))
		}
	}
}

func BenchmarkOpenEC2(b *testing.B) {
	ix, err := open(services)
	if err != nil {
		b.Fatal(err)
	}
	offset := len(services) // the file ends with the services, in the order of the index
	for i := len(ix.Services) - 1; i >= 0; i-- {
		offset -= ix.Services[i].length
		if ix.Services[i].name != "ec2" {
			continue
		}
		frame := services[offset : offset+ix.Services[i].length]
		for b.Loop() {
			if _, err := ix.service("ec2", frame); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	b.Fatal("the index lacks ec2")
}
