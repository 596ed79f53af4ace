// Command terraform-provider-vigil manages a Vigil posture server with Terraform
// or OpenTofu.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

func main() {
	err := providerserver.Serve(context.Background(), newProvider, providerserver.ServeOpts{Address: "registry.terraform.io/vigil/vigil"})
	if err != nil {
		log.Fatal(err)
	}
}
