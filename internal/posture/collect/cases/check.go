package cases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// Check runs every case of the declarations below a root, by default the first root of the
// catalog. It returns the number of types and cases, and an error that lists all failures.
func Check(ctx context.Context, root fs.FS, catalog *resource.Catalog, position ...int) (types, count int, err error) {
	var errs []error
	for _, t := range catalog.Types() {
		if t.Root() != append(position, 0)[0] {
			continue
		}
		types++
		all, err := Read(root, t.File())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(all) == 0 {
			errs = append(errs, fmt.Errorf("%s: the declaration has no cases", t.Where()))
		}
		for _, c := range all {
			count++
			if diff := Run(ctx, catalog, naming.Of(t.Type.Provider(), catalog), t, c); diff != "" {
				errs = append(errs, fmt.Errorf("%s: case %q: (-expected +read)\n%s", t.Where(), c.Name, diff))
			}
		}
	}
	return types, count, errors.Join(errs...)
}
