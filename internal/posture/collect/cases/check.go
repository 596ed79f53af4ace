package cases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// Check runs every case of the declarations below a root, which is the first that
// the catalog has loaded unless its position is given. It returns how many types
// and cases there are, and what is wrong.
func Check(ctx context.Context, root fs.FS, catalog *resource.Catalog, position ...int) (types, count int, err error) {
	var wrong []error
	for _, t := range catalog.Types() {
		if t.Root() != append(position, 0)[0] {
			continue
		}
		types++
		all, err := Read(root, t.File())
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if len(all) == 0 {
			wrong = append(wrong, fmt.Errorf("%s: it has no cases", t.Where()))
		}
		for _, c := range all {
			count++
			if diff := Run(ctx, catalog, naming.Of(t.Type.Provider(), catalog), t, c); diff != "" {
				wrong = append(wrong, fmt.Errorf("%s: case %q: (-expected +read)\n%s", t.Where(), c.Name, diff))
			}
		}
	}
	return types, count, errors.Join(wrong...)
}
