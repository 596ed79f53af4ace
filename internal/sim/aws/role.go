package aws

import (
	"slices"
	"strings"
	"sync"
)

// A Role is a role that was created in an account for the product. It allows
// exactly the actions of its policy.
type Role struct {
	Account    string
	Name       string
	Trusts     string   // principal that may assume it
	ExternalID string   // required by the trust policy; "" for none, "a*" for a prefix
	Actions    []string // allowed actions, such as "ec2:DescribeVpcs"
}

// Collector is the ARN of the identity that may assume roles.
const Collector = "arn:aws:iam::111111111111:user/collector"

// roles are the created roles.
type roles struct {
	mu      sync.Mutex
	created map[string]Role // by account and name
}

// PutRole creates or replaces a role.
func (c *Cloud) PutRole(r Role) {
	c.createdRoles.mu.Lock()
	defer c.createdRoles.mu.Unlock()
	if c.createdRoles.created == nil {
		c.createdRoles.created = map[string]Role{}
	}
	c.createdRoles.created[r.Account+"/"+r.Name] = r
}

// DropRole removes a role.
func (c *Cloud) DropRole(account, name string) {
	c.createdRoles.mu.Lock()
	defer c.createdRoles.mu.Unlock()
	delete(c.createdRoles.created, account+"/"+name)
}

// Role returns a created role.
func (c *Cloud) Role(account, name string) (Role, bool) {
	c.createdRoles.mu.Lock()
	defer c.createdRoles.mu.Unlock()
	r, ok := c.createdRoles.created[account+"/"+name]
	return r, ok
}

// isForbidden reports whether the caller's role was created by PutRole and does not allow
// the call.
func (c *Cloud) isForbidden(x *call) bool {
	r, ok := c.Role(x.account, x.role)
	return ok && x.service != "sts" && !slices.Contains(r.Actions, x.permission())
}

// permission returns the IAM action of a call.
func (c *call) permission() string {
	name := c.service + ":" + c.action
	switch name {
	case "s3:ListBuckets":
		return "s3:ListAllMyBuckets"
	case "s3:GetBucketEncryption":
		return "s3:GetEncryptionConfiguration"
	case "s3:GetPublicAccessBlock":
		return "s3:GetBucketPublicAccessBlock"
	case "s3:GetBucketLifecycleConfiguration":
		return "s3:GetLifecycleConfiguration"
	case "s3:GetObjectLockConfiguration":
		return "s3:GetBucketObjectLockConfiguration"
	case "s3-control:ListAccessPoints":
		return "s3:ListAccessPoints"
	case "s3-control:GetPublicAccessBlock":
		return "s3:GetAccountPublicAccessBlock"
	}
	if c.service == "apigateway" {
		return "apigateway:GET"
	}
	return strings.Replace(name, "monitoring:", "cloudwatch:", 1)
}
