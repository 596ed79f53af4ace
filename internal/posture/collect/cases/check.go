package cases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// Check runs every case of the declarations below root. If the catalog has several roots,
// position is the index of this one; it is 0 by default. Check returns the number of types and
// cases, and an error that lists all failures.
func Check(ctx context.Context, root fs.FS, catalog *resource.Catalog, position ...int) (types, count int, err error) {
	rootIndex := 0
	if len(position) > 0 {
		rootIndex = position[0]
	}
	var errs []error
	for _, t := range catalog.Types() {
		if t.Root() != rootIndex {
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
