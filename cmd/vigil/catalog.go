package main

import (
	"errors"
	"fmt"
	"io/fs"

	"vigil/frameworks"
	"vigil/internal/fault"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/catalog/rulecases"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
	"vigil/resources"
	"vigil/rules"
)

// catalogCmd works with declarations of resource types.
type catalogCmd struct {
	Check      catalogCheckCmd      `cmd:"" help:"Check the resource types of a folder, and rules, and run their cases."`
	Try        catalogTryCmd        `cmd:"" help:"Read a resource type from an account and print the calls, answers and entities; nothing is saved."`
	Policy     catalogPolicyCmd     `cmd:"" help:"Print the minimal permissions that a role needs to read everything, including custom types, as managed policies."`
	Operations catalogOperationsCmd `cmd:"" help:"List the operations of a cloud's services and the members that they return."`
}

type catalogCheckCmd struct {
	Dir   string   `arg:"" optional:"" type:"existingdir" help:"Folder with <cloud>/<service>/<noun>.yaml; default: the built-in types, or none with --rules."`
	Rules []string `placeholder:"DIR" type:"existingdir" help:"Check the rules of this folder too and run their cases. They may use the types of DIR. May be repeated."`
}

// Run checks a folder together with the built-in types, which its types may refer to.
func (c *catalogCheckCmd) Run(env *environment) error {
	var root fs.FS = resources.Files
	var folders []string
	if c.Dir != "" {
		root, folders = declared.Folder(c.Dir), []string{c.Dir}
	}
	types, err := declared.Load(folders...)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	if c.Dir != "" || len(c.Rules) == 0 {
		// The built-in types are root 0 of the catalog; a folder is root 1.
		typeCount, caseCount, err := cases.Check(env.ctx, root, types, len(folders))
		if err != nil {
			return fault.New(fault.Invalid, "%s", err)
		}
		fmt.Fprintf(env.stdout, "%d types, %d cases: all as declared\n", typeCount, caseCount)
	}
	if len(c.Rules) == 0 {
		return nil
	}
	return c.checkRules(env, types)
}

// checkRules checks the rules of folders and runs their cases.
func (c *catalogCheckCmd) checkRules(env *environment, types *resource.Catalog) error {
	var folders []fs.FS
	for _, dir := range c.Rules {
		folders = append(folders, declared.Folder(dir))
	}
	book, err := catalog.Load(rules.Files, frameworks.Files, folders...)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	all, err := clouds.New(clouds.Options{Catalog: types})
	if err != nil {
		return err
	}
	defer all.Close()
	var declarations []collect.Declaration
	for _, source := range all.Sources() {
		declarations = append(declarations, source.Declarations()...)
	}
	if err := book.CheckOwn(catalog.Schema(declarations)); err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	runner := rulecases.New(types, declarations)
	ruleCount, caseCount := 0, 0
	var problems []error
	for _, e := range book.Rules {
		if !e.Own {
			continue
		}
		ruleCount++
		for _, rc := range e.Cases {
			caseCount++
			if err := runner.Check(env.ctx, e, rc); err != nil {
				problems = append(problems, fmt.Errorf("%s: %s: %w", e.File, e.ID, err))
			}
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	_, err = fmt.Fprintf(env.stdout, "%d rules, %d cases: all as expected\n", ruleCount, caseCount)
	return err
}

type catalogPolicyCmd struct {
	Cloud string   `arg:"" enum:"aws" help:"aws."`
	Dirs  []string `arg:"" optional:"" type:"existingdir" help:"Folders with custom resource types."`
}

// Run prints the managed policies of the built-in types and of the types in folders, one
// JSON document after the other.
func (c *catalogPolicyCmd) Run(env *environment) error {
	types, err := declared.Load(c.Dirs...)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	for _, policy := range aws.Policies(types) {
		if _, err := env.stdout.Write(policy); err != nil {
			return err
		}
	}
	return nil
}
