package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// idWith returns a function that returns the import id of a resource: the values of these
// attributes, separated by slashes.
func idWith(name string, attributes ...string) resource.ImportStateIdFunc {
	return func(s *terraform.State) (string, error) {
		found, ok := s.RootModule().Resources[name]
		if !ok {
			return "", fmt.Errorf("%s is not in the state", name)
		}
		var parts []string
		for _, a := range attributes {
			parts = append(parts, found.Primary.Attributes[a])
		}
		return strings.Join(parts, "/"), nil
	}
}

const linkedAccount = `
resource "vigil_cloud_account" "a" {
  cloud      = "aws"
  account_id = "210987000002"
  name       = "linked"
}
resource "vigil_credential" "a" {
  cloud = "aws"
  aws   = { role_arn = "arn:aws:iam::210987000002:role/%s", external_id = "an-external-id-of-a-test" }
}
resource "vigil_credential_link" "a" {
  cloud            = "aws"
  cloud_account_id = vigil_cloud_account.a.id
  credential_id    = vigil_credential.a.id
}
`

func TestAccountIsLinkedWithItsCredential(t *testing.T) {
	t.Parallel()
	providers, providerBlock := demoProvider(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: providers,
		Steps: []resource.TestStep{
			{Config: providerBlock + fmt.Sprintf(linkedAccount, "before"), Check: resource.TestCheckResourceAttr("vigil_credential.a", "aws.role_arn", "arn:aws:iam::210987000002:role/before")},
			{Config: providerBlock + fmt.Sprintf(linkedAccount, "after"), Check: resource.TestCheckResourceAttr("vigil_credential.a", "aws.role_arn", "arn:aws:iam::210987000002:role/after")},
		},
	})
}
