package aws

import (
	"net/http"
	"strings"
)

// restServices are the services with the REST XML protocol.
var restServices = map[string]bool{"s3": true, "s3-control": true, "cloudfront": true, "route53": true}

// A path is one operation of a service with REST paths. A segment in braces is
// a parameter.
type path struct {
	service, method, pattern, action string
}

// paths lists the operations of all services except S3, whose operations differ
// only in the query.
var paths = []path{
	{"s3-control", "GET", "/v20180820/configuration/publicAccessBlock", "GetPublicAccessBlock"},
	{"cloudfront", "GET", "/2020-05-31/distribution", "ListDistributions"},
	{"route53", "GET", "/2013-04-01/hostedzone", "ListHostedZones"},
	{"lambda", "GET", "/2015-03-31/functions", "ListFunctions"},
	{"lambda", "GET", "/2015-03-31/functions/{FunctionName}/policy", "GetPolicy"},
	{"lambda", "GET", "/2015-03-31/functions/{FunctionName}/configuration", "GetFunctionConfiguration"},
	{"lambda", "GET", "/2021-10-31/functions/{FunctionName}/urls", "ListFunctionUrlConfigs"},
	{"eks", "GET", "/clusters", "ListClusters"},
	{"eks", "GET", "/clusters/{name}", "DescribeCluster"},
	{"eks", "GET", "/clusters/{clusterName}/node-groups", "ListNodegroups"},
	{"eks", "GET", "/clusters/{clusterName}/node-groups/{nodegroupName}", "DescribeNodegroup"},
	{"elasticfilesystem", "GET", "/2015-02-01/file-systems", "DescribeFileSystems"},
	{"access-analyzer", "GET", "/analyzer", "ListAnalyzers"},
	{"guardduty", "GET", "/detector", "ListDetectors"},
	{"guardduty", "GET", "/detector/{DetectorId}", "GetDetector"},
	{"securityhub", "GET", "/accounts", "DescribeHub"},
	{"es", "GET", "/2021-01-01/domain", "ListDomainNames"},
	{"es", "POST", "/2021-01-01/opensearch/domain-info", "DescribeDomains"},
	{"apigateway", "GET", "/restapis", "GetRestApis"},
	{"apigateway", "GET", "/restapis/{restapi_id}", "GetRestApi"},
	{"apigateway", "GET", "/restapis/{restapi_id}/stages", "GetStages"},
	{"apigateway", "GET", "/v2/apis", "GetApis"},
	{"apigateway", "GET", "/v2/apis/{apiId}", "GetApi"},
	{"apigateway", "GET", "/v2/apis/{apiId}/stages", "GetV2Stages"},
}

// bucketCalls maps the query parameter of an S3 call to its operation.
var bucketCalls = map[string]string{
	"policy": "GetBucketPolicy", "policyStatus": "GetBucketPolicyStatus", "acl": "GetBucketAcl", "publicAccessBlock": "GetPublicAccessBlock",
	"encryption": "GetBucketEncryption", "versioning": "GetBucketVersioning", "logging": "GetBucketLogging", "tagging": "GetBucketTagging",
	"location": "GetBucketLocation", "lifecycle": "GetBucketLifecycleConfiguration", "ownershipControls": "GetBucketOwnershipControls",
	"object-lock": "GetObjectLockConfiguration",
}

// route finds the operation of a REST call.
func (c *call) route(r *http.Request, host string) bool {
	if c.service == "s3" {
		return c.routeBucket(r, host)
	}
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	for _, p := range paths {
		if p.service == c.service && p.method == r.Method && c.match(strings.Split(strings.Trim(p.pattern, "/"), "/"), segments) {
			c.action = p.action
			return true
		}
	}
	return false
}

func (c *call) match(pattern, segments []string) bool {
	if len(pattern) != len(segments) {
		return false
	}
	vars := map[string]string{}
	for i, segment := range pattern {
		if name, isParameter := strings.CutPrefix(segment, "{"); isParameter {
			vars[strings.TrimSuffix(name, "}")] = segments[i]
		} else if segment != segments[i] {
			return false
		}
	}
	for name, v := range vars {
		c.vars[name] = v
	}
	return true
}

// routeBucket finds the operation of an S3 call: the bucket is in the host name
// or the first segment of the path.
func (c *call) routeBucket(r *http.Request, host string) bool {
	bucket, _, _ := strings.Cut(host, ".s3.")
	if bucket == host { // the host name has no bucket
		bucket = strings.Trim(r.URL.Path, "/")
	}
	c.vars["Bucket"] = bucket
	if bucket == "" {
		c.action = "ListBuckets"
		return r.Method == http.MethodGet
	}
	for query, action := range bucketCalls {
		if r.URL.Query().Has(query) && r.Method == http.MethodGet {
			c.action = action
			return true
		}
	}
	return false
}
