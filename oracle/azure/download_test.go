package azure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// download returns the folders of the modules that a file lists. go.mod does not require
// them, because it would then also have to list the modules that their tests need.
func download(list string) (dirs []string, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	args := []string{"mod", "download", "-json"}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "#" {
			module := fields[0] + "@" + fields[1]
			sums[module] = fields[2]
			args = append(args, module)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = os.TempDir()                                      // outside of any module: go would extend its go.sum
	cmd.Env = append(os.Environ(), "GONOSUMDB=*", "GOWORK=off") // the list has the checksums
	out, failure := cmd.Output()
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var m struct{ Path, Version, Dir, Sum, Error string }
		switch err := decoder.Decode(&m); {
		case errors.Is(err, io.EOF) && failure == nil:
			return dirs, nil
		case err != nil:
			return nil, fmt.Errorf("download the typed modules: %w", errors.Join(err, failure))
		case m.Error != "":
			return nil, fmt.Errorf("download %s: %s", m.Path, m.Error)
		case m.Sum != sums[m.Path+"@"+m.Version]:
			return nil, fmt.Errorf("%s %s has the checksum %s, not %s", m.Path, m.Version, m.Sum, sums[m.Path+"@"+m.Version])
		}
		dirs = append(dirs, m.Dir)
	}
}
