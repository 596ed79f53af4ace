package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
)

type catalogOperationsCmd struct {
	Cloud     string `arg:"" enum:"aws,azure,gcp" help:"aws, azure or gcp."`
	Service   string `arg:"" optional:"" help:"Service, such as sqs, Microsoft.Sql or cloudkms; default: all services."`
	Operation string `arg:"" optional:"" help:"Operation of an AWS service, such as GetQueueAttributes; default: all of the service."`
}

// Run lists services, the operations of one, or the members of an operation.
func (c *catalogOperationsCmd) Run(env *environment) error {
	out := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
	defer out.Flush()
	if c.Cloud != "aws" {
		return c.listDeclared(out)
	}
	switch {
	case c.Service == "":
		for _, name := range awsapi.Services() {
			fmt.Fprintf(out, "%s\t%d operations\n", name, len(awsapi.Operations(name)))
		}
		return nil
	case !slices.Contains(awsapi.Services(), c.Service):
		return fault.New(fault.Invalid, "AWS has no service %q; \"vigil catalog operations aws\" lists them", c.Service)
	case c.Operation == "":
		for _, name := range awsapi.Operations(c.Service) {
			op, err := awsapi.Describe(c.Service, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s.%s\t%s\n", c.Service, name, strings.Join(memberNames(op.Output), ", "))
		}
		return nil
	}
	op, err := awsapi.Describe(c.Service, c.Operation)
	if err != nil {
		return fault.New(fault.Invalid, "%s has no read operation %q; \"vigil catalog operations aws %s\" lists them", c.Service, c.Operation, c.Service)
	}
	fmt.Fprintln(out, "input:")
	describeShape(out, op.Input, 1, map[*model.Shape]bool{})
	fmt.Fprintln(out, "output:")
	describeShape(out, op.Output, 1, map[*model.Shape]bool{})
	return nil
}

// A describedAPI is the API of Azure or Google Cloud. The binary has no models of their operations:
// it lists only the calls of the built-in types, and notice names the page that describes all calls.
type describedAPI struct {
	provider posture.Provider
	notice   string
}

var describedAPIs = map[string]describedAPI{
	"azure": {posture.Azure, `A declaration can read any resource type of Azure Resource Manager; these are the calls of the built-in types. The binary has no
description of the other ones: https://learn.microsoft.com/azure/templates lists the resource types of each namespace with their API
versions and properties. "vigil catalog try FILE" shows the responses of a declaration.`},
	"gcp": {posture.GCP, `A declaration can make any GET request of a Google Cloud API, and POST requests that only read; these are the calls of the built-in
types. The binary has no description of the other ones: https://www.googleapis.com/discovery/v1/apis/API/VERSION/rest describes
each method and its response, for example of cloudkms and v1. "vigil catalog try FILE" shows the responses of a declaration.`},
}

// listDeclared lists the calls that the built-in types of Azure or Google Cloud make, with
// the types that make them.
func (c *catalogOperationsCmd) listDeclared(out io.Writer) error {
	api := describedAPIs[c.Cloud]
	if c.Operation != "" {
		return fault.New(fault.Invalid, "the binary has descriptions of operations of AWS only; \"vigil catalog operations %s %s\" lists calls", c.Cloud, c.Service)
	}
	types := declared.Catalog()
	typesOf := map[string]map[string][]string{} // service -> call -> the types that make it
	for _, t := range types.Of(api.provider) {
		for r := range types.Requests(t) {
			service, call := callOf(t, r)
			if service == "" {
				continue
			}
			if typesOf[service] == nil {
				typesOf[service] = map[string][]string{}
			}
			if !slices.Contains(typesOf[service][call], string(t.Type)) {
				typesOf[service][call] = append(typesOf[service][call], string(t.Type))
			}
		}
	}
	for service := range typesOf {
		if strings.EqualFold(service, c.Service) {
			for _, call := range slices.Sorted(maps.Keys(typesOf[service])) {
				fmt.Fprintf(out, "%s\t%s\n", call, strings.Join(typesOf[service][call], ", "))
			}
			fmt.Fprintf(out, "\n%s\n", api.notice)
			return nil
		}
	}
	if c.Service != "" {
		return fault.New(fault.Invalid, "no built-in type calls the service %q; \"vigil catalog operations %s\" lists those that are called\n%s", c.Service, c.Cloud, api.notice)
	}
	for _, service := range slices.Sorted(maps.Keys(typesOf)) {
		fmt.Fprintf(out, "%s\t%d calls\n", service, len(typesOf[service]))
	}
	fmt.Fprintf(out, "\n%s\n", api.notice)
	return nil
}

// callOf returns the service and the address of a request. The service is "" if the request is
// not to be listed: it only declares a permission, or reads a single resource of Azure again.
func callOf(t *resource.Type, r *resource.Request) (service, address string) {
	address = cmp.Or(r.Path, r.Call)
	if t.Type.Provider() == posture.GCP {
		service, _, _ = strings.Cut(strings.TrimPrefix(address, "POST "), "/")
		return service, address
	}
	if address == "" || address == "$name" { // $name: the id of the resource is the address
		return "", ""
	}
	if strings.HasPrefix(address, "graph:") {
		return "graph", address
	}
	// A path that is relative to a resource does not name its service, such as Microsoft.Sql; then the call or the type does.
	for _, source := range []string{address, r.Call, t.ARM} {
		if i := strings.LastIndex(source, "Microsoft."); i >= 0 {
			service, _, _ = strings.Cut(source[i:], "/")
			return service, address
		}
	}
	return "Microsoft.Resources", address // of the subscription itself
}

func memberNames(s *model.Shape) (names []string) {
	if s == nil {
		return nil
	}
	for _, m := range s.Members {
		names = append(names, m.Name)
	}
	return names
}

// describeShape writes the members of a shape, indented. It does not expand a shape
// within itself.
func describeShape(w io.Writer, s *model.Shape, depth int, parents map[*model.Shape]bool) {
	if s == nil || parents[s] {
		return
	}
	parents[s] = true
	defer delete(parents, s)
	for _, m := range s.Members {
		shape, list := m.Shape, ""
		for shape.Type == model.List {
			shape, list = shape.Item.Shape, list+"[]"
		}
		text := list + string(shape.Type)
		if len(shape.Enum) > 0 {
			text += ": " + strings.Join(shape.Enum, " | ")
		}
		if m.Required {
			text += " (required)"
		}
		fmt.Fprintf(w, "%s%s\t%s\n", strings.Repeat("  ", depth), m.Name, text)
		if shape.Type == model.Map {
			shape = shape.Value.Shape
		}
		describeShape(w, shape, depth+1, parents)
	}
}
