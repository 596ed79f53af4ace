package declared

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/conform"
	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
	"vigil/resources"
)

// A Folder is a directory with declarations of an organisation's own types.
type Folder string

// Open implements [fs.FS].
func (f Folder) Open(name string) (fs.File, error) { return os.DirFS(string(f)).Open(name) }

// Path returns the path of a file of the folder. Package resource calls it for the paths in
// error messages.
func (f Folder) Path(file string) string { return filepath.Join(string(f), file) }

// Load returns the types that come with Vigil and those in folders. The error names every
// mistake in the folders with its file and line; calls and edges are checked once all files
// can be parsed.
func Load(folders ...string) (*resource.Catalog, error) {
	if len(folders) == 0 {
		return Catalog(), nil
	}
	roots, err := rootsOf(folders)
	if err != nil {
		return nil, err
	}
	c, err := resource.Load(derive.Functions(), roots...)
	if err != nil {
		return nil, err
	}
	return c, checkConforms(c, func(t *resource.Type) bool { return t.Root() > 0 }) // root 0 is resources.Files
}

// LoadReplacing loads like Load, but with the type that file declares in place of the loaded
// type of the same name, if there is one. It returns that type too, and checks the calls and
// edges of that type only.
func LoadReplacing(file string, folders ...string) (*resource.Catalog, *resource.Type, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	roots, err := rootsOf(folders)
	if err != nil {
		return nil, nil, err
	}
	c, declared, err := resource.LoadReplacing(derive.Functions(), file, text, roots...)
	if err != nil {
		return nil, nil, err
	}
	return c, declared, checkConforms(c, func(t *resource.Type) bool { return t == declared })
}

// rootsOf returns the file systems of the types that come with Vigil and of the folders.
func rootsOf(folders []string) ([]fs.FS, error) {
	roots := []fs.FS{resources.Files}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a folder", folder)
		}
		roots = append(roots, Folder(folder))
	}
	return roots, nil
}

// checkConforms checks types against the published descriptions of their calls, and edges against
// the declared types.
func checkConforms(c *resource.Catalog, include func(*resource.Type) bool) error {
	var errs []error
	for _, t := range c.Types() {
		if !include(t) {
			continue
		}
		problems := unknownTargets(c, t)
		if t.Type.Provider() == posture.AWS {
			problems = append(problems, conform.AWS(c, t)...)
		}
		for _, err := range problems {
			errs = append(errs, fmt.Errorf("%s: %w", t.Where(), t.Locate(err)))
		}
	}
	return errors.Join(errs...)
}

// unknownTargets returns an error for each edge of a type whose target is not declared.
func unknownTargets(c *resource.Catalog, t *resource.Type) (errs []error) {
	for a := range t.Answers() { // the responses of the list and of the calls, each with the edges that it contributes
		for _, e := range a.Edges {
			for _, to := range e.To {
				if c.Type(to) == nil {
					errs = append(errs, fmt.Errorf("edge %s leads to %s, which is not declared", e.Label, to))
				}
			}
		}
	}
	return errs
}
