// Package tinkerpop reads the scenarios that Apache TinkerPop publishes for
// implementations of Gremlin, and the toy graphs that they run on: the artefact
// gremlin-test on Maven Central, which is downloaded once.
package tinkerpop

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The artefact of Apache TinkerPop with its scenarios and toy graphs. Published
// artefacts on Maven Central never change.
const (
	artefactVersion = "3.8.1"
	artefactURL     = "https://repo1.maven.org/maven2/org/apache/tinkerpop/gremlin-test/" + artefactVersion + "/gremlin-test-" + artefactVersion + ".jar"
	artefactSum     = "8660a0319913fa09364c556cefedc25456fb5a3f719ecfb4268a3211ecc41f9e"
	maxArtefactSize = 16 << 20 // in bytes
)

// Fetch opens the artefact. It downloads it unless it is in the user's cache folder.
func Fetch(ctx context.Context) (*Artefact, error) {
	if a, err := Open(); err == nil {
		return a, nil
	}
	file, err := cachedFile()
	if err != nil {
		return nil, err
	}
	data, err := download(ctx, artefactURL)
	if err == nil {
		err = checkSum(data)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", artefactURL, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	// Write to a temporary name, because another process may read the file.
	part := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return nil, err
	}
	if err := os.Rename(part, file); err != nil {
		return nil, err
	}
	return Open()
}

// Open opens the artefact in the user's cache folder.
func Open() (*Artefact, error) {
	file, err := cachedFile()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := checkSum(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	jar, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	return &Artefact{jar}, err
}

// cachedFile returns the path of the artefact in the cache folder.
func cachedFile() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "vigil", path.Base(artefactURL)), err
}

func checkSum(data []byte) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != artefactSum {
		return fmt.Errorf("its SHA-256 is %x, want %s", sum, artefactSum)
	}
	return nil
}

func download(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxArtefactSize))
}

// An Artefact is the downloaded artefact.
type Artefact struct{ jar *zip.Reader }

const (
	featureFolder = "org/apache/tinkerpop/gremlin/test/features/"
	graphFolder   = "org/apache/tinkerpop/gremlin/structure/io/graphson/"
)

// graphFiles are the toy graphs by the names that scenarios use.
var graphFiles = map[string]string{
	"modern": "tinkerpop-modern-v3.json", "crew": "tinkerpop-crew-v3.json", "sink": "tinkerpop-sink-v3.json", "grateful": "grateful-dead-v3.json",
}

// Graphs calls read for every toy graph; r yields the graph in GraphSON 3.0.
func (a *Artefact) Graphs(read func(name string, r io.Reader) error) error {
	for name, file := range graphFiles {
		f, err := a.jar.Open(graphFolder + file)
		if err != nil {
			return err
		}
		if err := read(name, f); err != nil {
			return fmt.Errorf("read graph %s: %w", name, err)
		}
	}
	return nil
}

// Scenarios returns all scenarios, ordered by file name and by position in the file.
func (a *Artefact) Scenarios() ([]Scenario, error) {
	var all []Scenario
	files := slices.SortedFunc(slices.Values(a.jar.File), func(x, y *zip.File) int { return strings.Compare(x.Name, y.Name) })
	for _, file := range files {
		name, ok := strings.CutPrefix(file.Name, featureFolder)
		if !ok || path.Ext(name) != ".feature" {
			continue
		}
		f, err := file.Open()
		if err != nil {
			return nil, err
		}
		scenarios, err := readFeature(name, f)
		if err != nil {
			return nil, err
		}
		all = append(all, scenarios...)
	}
	return all, nil
}
