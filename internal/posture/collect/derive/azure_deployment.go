package derive

import "github.com/tidwall/gjson"

// azureDeploymentSecrets scans the outputs and parameters of the deployments of a resource group.
// Deployments are not entities, because a resource group keeps up to 800 of them.
var azureDeploymentSecrets = secretFunction("deploymentSecrets", "outputs and parameters of its deployments", func(deployments gjson.Result) ([]string, error) {
	var found []string
	for _, deployment := range deployments.Array() {
		for _, kind := range []string{"outputs", "parameters"} {
			for _, secret := range variableSecrets(deployment.Get("properties." + kind)) {
				found = append(found, secret+" ("+kind+" of "+deployment.Get("name").String()+")")
			}
		}
	}
	return found, nil
})
