package derive

import (
	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// awsJobContainers adds facts about the containers of a job definition of AWS Batch. A job has
// one container, several containers of an ECS task, the containers of a pod, or one of these for
// each range of its nodes.
var awsJobContainers = resource.Function{
	Properties: []resource.Property{
		{Name: "privileged", Kind: resource.Flag, Doc: "A container of its jobs runs privileged."},
		{Name: "environmentNames", Kind: resource.Texts, Doc: "The names of environment variables of its containers."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		containers := taskContainers(in.Value)
		if c := in.Value.Get("containerProperties"); c.Exists() {
			containers = append(containers, c)
		}
		for _, node := range in.Value.Get("nodeProperties.nodeRangeProperties").Array() {
			containers = append(containers, node.Get("container"))
			containers = append(containers, taskContainers(node)...)
		}
		privileged := false
		var names []string
		for _, c := range containers {
			privileged = privileged || c.Get("privileged").Bool() || c.Get("securityContext.privileged").Bool()
			for _, name := range c.Get("[environment.#.name,env.#.name]|@flatten").Array() {
				names = append(names, name.Str)
			}
		}
		b.Flag("privileged", privileged).Set("environmentNames", names)
		return nil
	},
}

// taskContainers returns the containers of the ECS tasks and the pods of a job or node.
func taskContainers(job gjson.Result) (containers []gjson.Result) {
	for _, task := range job.Get("ecsProperties.taskProperties").Array() {
		containers = append(containers, task.Get("containers").Array()...)
	}
	containers = append(containers, job.Get("eksProperties.podProperties.containers").Array()...)
	return append(containers, job.Get("eksProperties.podProperties.initContainers").Array()...)
}
