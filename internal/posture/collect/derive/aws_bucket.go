package derive

import (
	"strings"

	"vigil/internal/posture/resource"
)

// awsBucketACL adds the grants of an S3 bucket's access control list.
var awsBucketACL = resource.Function{
	Properties: []resource.Property{
		{Name: "aclGrants", Kind: resource.Texts, Doc: "What its access control list grants to whom, such as AllUsers READ."},
		{Name: "aclIsPublic", Kind: resource.Flag, Doc: "Its access control list grants something to everybody, or to everybody with an AWS account.", Exposed: "has an access list that lets anybody in"},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var grants []string
		public := false
		for _, grant := range in.Value.Array() {
			grantee := grant.Get("Grantee")
			if !grantee.Exists() {
				continue
			}
			granteeID := ""
			for _, name := range []string{"URI", "ID", "EmailAddress"} {
				if value := grantee.Get(name); value.Exists() {
					granteeID = value.String()
					break
				}
			}
			granteeID = granteeID[strings.LastIndex(granteeID, "/")+1:]
			public = public || granteeID == "AllUsers" || granteeID == "AuthenticatedUsers"
			grants = append(grants, granteeID+" "+grant.Get("Permission").String())
		}
		b.Set("aclGrants", grants).Flag("aclIsPublic", public)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("aclIsPublic", false) },
}

// awsBucketPublicAccessBlock adds the enabled Block Public Access settings.
var awsBucketPublicAccessBlock = resource.Function{
	Properties: []resource.Property{{Name: "publicAccessBlock", Kind: resource.Texts, Doc: "The Block Public Access settings that are on."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		for _, name := range []string{"blockPublicAcls", "ignorePublicAcls", "blockPublicPolicy", "restrictPublicBuckets"} {
			if in.Value.Get(strings.ToUpper(name[:1]) + name[1:]).Bool() {
				b.Text("publicAccessBlock", name)
			}
		}
		return nil
	},
}
