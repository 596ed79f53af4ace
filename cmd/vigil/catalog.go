package main

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"vigil/internal/fault"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	"vigil/resources"
)

// catalogCmd works with declarations of resource types.
type catalogCmd struct {
	Check      catalogCheckCmd      `cmd:"" help:"Check the resource types of a folder and run their cases."`
	Try        catalogTryCmd        `cmd:"" help:"Read a resource type from an account and print the calls, answers and entities; nothing is saved."`
	Policy     catalogPolicyCmd     `cmd:"" help:"Print the minimal permissions that a role needs to read everything, including custom types, as managed policies."`
	Operations catalogOperationsCmd `cmd:"" help:"List the operations of a cloud's services and the members that they return."`
}

type catalogCheckCmd struct {
	Dir string `arg:"" optional:"" type:"existingdir" help:"Folder with <cloud>/<service>/<noun>.yaml; default: the built-in types."`
}

// Run checks a folder together with the built-in types, which its types may refer to.
func (c *catalogCheckCmd) Run(env *environment) error {
	var root fs.FS = resources.Files
	var folders []string
	if c.Dir != "" {
		root, folders = declared.Folder(c.Dir), []string{c.Dir}
	}
	catalog, err := declared.Load(folders...)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	types, count, err := cases.Check(env.ctx, root, catalog, len(folders))
	if err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	_, err = fmt.Fprintf(env.stdout, "%d types, %d cases: all as declared\n", types, count)
	return err
}

type catalogPolicyCmd struct {
	Cloud string   `arg:"" enum:"aws" help:"aws."`
	Dirs  []string `arg:"" optional:"" type:"existingdir" help:"Folders with custom resource types."`
}

// Run prints the managed policies of the built-in types and of the types in folders, one
// JSON document after the other.
func (c *catalogPolicyCmd) Run(env *environment) error {
	catalog, err := declared.Load(c.Dirs...)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	for _, policy := range aws.Policies(catalog) {
		if _, err := env.stdout.Write(policy); err != nil {
			return err
		}
	}
	return nil
}

type catalogOperationsCmd struct {
	Cloud     string `arg:"" enum:"aws" help:"aws."`
	Service   string `arg:"" optional:"" help:"Service, such as sqs; default: all services."`
	Operation string `arg:"" optional:"" help:"Operation, such as GetQueueAttributes; default: all of the service."`
}

// Run lists services, the operations of one, or the members of an operation.
func (c *catalogOperationsCmd) Run(env *environment) error {
	out := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
	defer out.Flush()
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

func memberNames(s *model.Shape) (names []string) {
	if s == nil {
		return nil
	}
	for _, m := range s.Members {
		names = append(names, m.Name)
	}
	return names
}

// describeShape writes the members of a shape, indented. It does not expand recursive
// shapes again.
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
