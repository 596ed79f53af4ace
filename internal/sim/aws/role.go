package aws

import (
	"slices"
	"strings"
	"sync"
)

// A Role is one that somebody made in an account for the product. It may do what
// its policy allows and nothing else.
type Role struct {
	Account    string
	Name       string
	Trusts     string   // who may take it on
	ExternalID string   // that the trust policy asks for; "" for none, "a*" for all that begin with a
	Actions    []string // that it may do: "ec2:DescribeVpcs"
}

// Collector is what the identity that may ask for roles is called.
const Collector = "arn:aws:iam::111111111111:user/collector"

// roles are those that were made.
type roles struct {
	mu   sync.Mutex
	made map[string]Role // by account and name
}

// PutRole makes a role, or changes it.
func (c *Cloud) PutRole(r Role) {
	c.madeRoles.mu.Lock()
	defer c.madeRoles.mu.Unlock()
	if c.madeRoles.made == nil {
		c.madeRoles.made = map[string]Role{}
	}
	c.madeRoles.made[r.Account+"/"+r.Name] = r
}

// DropRole removes a role.
func (c *Cloud) DropRole(account, name string) {
	c.madeRoles.mu.Lock()
	defer c.madeRoles.mu.Unlock()
	delete(c.madeRoles.made, account+"/"+name)
}

// RoleMade returns a role that was made.
func (c *Cloud) RoleMade(account, name string) (Role, bool) {
	c.madeRoles.mu.Lock()
	defer c.madeRoles.mu.Unlock()
	r, ok := c.madeRoles.made[account+"/"+name]
	return r, ok
}

// forbidden reports whether the caller's role is one that was made and does not
// allow the call.
func (c *Cloud) forbidden(x *call) bool {
	r, ok := c.RoleMade(x.account, x.role)
	return ok && x.service != "sts" && !slices.Contains(r.Actions, x.permission())
}

// permission is what AWS calls the right to make a call.
func (x *call) permission() string {
	name := x.service + ":" + x.action
	switch name {
	case "s3:ListBuckets":
		return "s3:ListAllMyBuckets"
	case "s3:GetBucketEncryption":
		return "s3:GetEncryptionConfiguration"
	case "s3:GetPublicAccessBlock":
		return "s3:GetBucketPublicAccessBlock"
	case "s3:GetBucketLifecycleConfiguration":
		return "s3:GetLifecycleConfiguration"
	case "s3-control:GetPublicAccessBlock":
		return "s3:GetAccountPublicAccessBlock"
	}
	if x.service == "apigateway" {
		return "apigateway:GET"
	}
	return strings.Replace(name, "monitoring:", "cloudwatch:", 1)
}
