// Command export measures exports of many findings by a real server: for each format the
// time, the size of the file and the peak memory of the server. It reads every file
// back with a streaming reader of its format and counts the findings. With -python,
// readers.py also reads every file with a common library for its format, or Chromium.
// scripts/bench-export installs the libraries.
//
//	go run ./bench/export -vigil bin/vigil
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vigil/internal/posture/export"
)

// options are the flags.
type options struct {
	findings int
	vigil    string // path of the binary
	dir      string // data folder; a new one when empty
	most     int    // maximum growth of the server's memory, in MB
	python   string // Python with the packages of readers.py, which does not run when empty
}

func main() {
	var o options
	flag.IntVar(&o.findings, "findings", 1_000_000, "number of findings")
	flag.StringVar(&o.vigil, "vigil", "bin/vigil", "path of the vigil binary")
	flag.StringVar(&o.dir, "dir", "", "data folder, kept and used again; a new one when empty")
	flag.IntVar(&o.most, "most", 200, "maximum growth of the server's memory during an export, in MB")
	flag.StringVar(&o.python, "python", "", "Python with the packages that readers.py needs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "vigil-export-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	start := time.Now()
	token, err := load(ctx, filepath.Join(o.dir, "data"), o.findings)
	if err != nil {
		return fmt.Errorf("load findings: %w", err)
	}
	fmt.Printf("%d findings loaded in %v\n", o.findings, time.Since(start).Round(time.Second))
	s, err := serve(ctx, o, token)
	if err != nil {
		return err
	}
	defer s.stop()
	before, err := s.peak()
	if err != nil {
		return err
	}
	fmt.Printf("memory of the server before the exports: %d MB\n", before)
	fmt.Printf("%-8s %10s %8s %10s %10s %10s\n", "format", "findings", "seconds", "MB", "peak MB", "read back")
	for _, f := range export.Formats {
		if err := s.measure(ctx, o, f, before); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	return nil
}

// A server is a running vigil.
type server struct {
	process *exec.Cmd
	url     string
	token   string // API token
}

// serve starts a server on the data folder and waits until it answers.
func serve(ctx context.Context, o options, token string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	l.Close()
	log, err := os.Create(filepath.Join(o.dir, "server.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &server{url: "http://" + address, token: token}
	s.process = exec.CommandContext(ctx, o.vigil, "serve", "--data-dir", filepath.Join(o.dir, "data"), "--posture-listen", address, "--posture-plain-http")
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if ctx.Err() != nil {
			s.stop()
			return nil, ctx.Err()
		}
		if answer, err := http.Get(s.url + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("the server does not answer: %s", text)
}

func (s *server) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM)
	_ = s.process.Wait()
}

// peak returns the peak of the server's resident memory since it was last reset, in
// MB.
func (s *server) peak() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	return kb >> 10, err
}

func (s *server) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.process.Process.Pid), []byte("5"), 0)
}

// measure exports in one format and reads the file back.
func (s *server) measure(ctx context.Context, o options, f export.Format, before int) error {
	access, err := s.access(ctx)
	if err != nil {
		return err
	}
	if err := s.resetPeak(); err != nil {
		return err
	}
	name := filepath.Join(o.dir, "findings"+f.Suffix())
	start := time.Now()
	size, err := s.export(ctx, access, f, name)
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	peak, err := s.peak()
	if err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	n, err := readers[f](file)
	if err == nil && o.python != "" {
		err = checkWithPython(ctx, o.python, f, name, n)
	}
	if err := errors.Join(err, file.Close(), os.Remove(name)); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	fmt.Printf("%-8s %10d %8.1f %10.1f %10d %10d\n", f, o.findings, elapsed.Seconds(), float64(size)/1e6, peak, n)
	if want := min(o.findings, maxFindings[f]); n != want {
		return fmt.Errorf("the file has %d findings, want %d", n, want)
	}
	if peak-before > o.most {
		return fmt.Errorf("the memory of the server grew by %d MB", peak-before)
	}
	return nil
}

// access exchanges the API token for an access token.
func (s *server) access(ctx context.Context) (string, error) {
	var got struct {
		Token string `json:"access_token"`
	}
	form := url.Values{"refresh_token": {s.token}}.Encode()
	err := s.post(ctx, "/csp/gateway/am/api/auth/api-tokens/authorize", "application/x-www-form-urlencoded", "", []byte(form), func(r io.Reader) error {
		return json.NewDecoder(r).Decode(&got)
	})
	return got.Token, err
}

// export writes an export to a file and returns its size.
func (s *server) export(ctx context.Context, access string, f export.Format, name string) (size int64, err error) {
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	body := fmt.Sprintf(`{"format":%q,"filters":{"statuses":["Open"]}}`, f)
	err = s.post(ctx, "/v2/findings/export", "application/json", access, []byte(body), func(r io.Reader) error {
		size, err = io.Copy(file, r)
		return err
	})
	return size, errors.Join(err, file.Close())
}

func (s *server) post(ctx context.Context, path, media, access string, body []byte, use func(io.Reader) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", media)
	if access != "" {
		r.Header.Set("Authorization", "Bearer "+access)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return fmt.Errorf("%s: %d %s", path, answer.StatusCode, text)
	}
	return use(answer.Body)
}
