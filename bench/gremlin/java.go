package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tinker is a running Java program with TinkerGraph.
type tinker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// buildJava compiles the Java program into dir and returns its class path.
func buildJava(ctx context.Context, source, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "classpath")
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", filepath.Join(source, "pom.xml"), "-Dbench.directory="+dir,
		"package", "dependency:build-classpath", "-Dmdep.outputFile="+list)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the Java program: %w\n%s", err, out)
	}
	libs, err := os.ReadFile(list)
	if err != nil {
		return "", fmt.Errorf("build the Java program: %w", err)
	}
	return filepath.Join(dir, "classes") + string(os.PathListSeparator) + strings.TrimSpace(string(libs)), nil
}

// startTinker starts the Java program. It ends with the context or when closed.
func startTinker(ctx context.Context, classPath, heap string) (*tinker, error) {
	cmd := exec.CommandContext(ctx, "java", "-Xmx"+heap,
		"--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED",
		"-cp", classPath, "vigil.bench.Main")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start java: %w", err)
	}
	return &tinker{cmd, in, bufio.NewReader(out)}, nil
}

// close ends the program and waits for it.
func (t *tinker) close() error {
	if err := t.in.Close(); err != nil {
		return err
	}
	return t.cmd.Wait()
}

// request sends one command and returns the response.
func (t *tinker) request(args ...string) (string, error) {
	if _, err := fmt.Fprintln(t.in, strings.Join(args, "\t")); err != nil {
		return "", fmt.Errorf("send a command to the Java program: %w", err)
	}
	line, err := t.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("send a command to the Java program: %w", err)
	}
	answer, ok := strings.CutPrefix(strings.TrimSpace(line), "ok")
	if !ok {
		return "", fmt.Errorf("java: %s", answer)
	}
	return strings.TrimSpace(answer), nil
}

// load makes TinkerGraph load a graph, and returns the size of the graph and the memory
// that it takes.
func (t *tinker) load(path string) (vertices, edges int, bytes int64, err error) {
	answer, err := t.request("load", path)
	if err != nil {
		return 0, 0, 0, err
	}
	_, err = fmt.Sscan(answer, &vertices, &edges, &bytes)
	return vertices, edges, bytes, err
}

// run measures a query on TinkerGraph.
func (t *tinker) run(text string, warm, measure time.Duration) (result, error) {
	answer, err := t.request("run", text, fmt.Sprint(warm.Milliseconds()), fmt.Sprint(measure.Milliseconds()))
	if err != nil {
		return result{}, err
	}
	var r result
	_, err = fmt.Sscan(answer, &r.sum.count, &r.sum.value, &r.runs, &r.best, &r.median)
	return r, err
}
