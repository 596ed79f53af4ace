// Command gremlin compares our Gremlin engine with TinkerGraph on the same
// graphs and queries in one run: time per query, memory per element, and for
// some queries the time of a hand-written loop.
//
// It needs java and mvn; the first run downloads TinkerPop from Maven Central.
// With -java=false only our engine is measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/bench/gremlin/accountgen"
	"vigil/graph"
)

type options struct {
	sizes      string
	javaSource string
	work       string
	heap       string
	java       bool
	index      string
	only       string
	profile    string
	warm       time.Duration
	time       time.Duration
	filter     *regexp.Regexp
}

func main() {
	var o options
	flag.StringVar(&o.sizes, "sizes", "5000,50000,500000", "numbers of resources of the generated accounts")
	flag.StringVar(&o.javaSource, "java-source", "bench/gremlin/java", "folder of the Java program")
	flag.StringVar(&o.work, "work", ".cache/bench-gremlin", "folder for the compiled Java program and the graphs passed to it")
	flag.StringVar(&o.heap, "heap", "8g", "maximum heap of the Java program")
	flag.BoolVar(&o.java, "java", true, "measure TinkerGraph too")
	flag.StringVar(&o.index, "index", "", "comma-separated keys that TinkerGraph indexes")
	flag.StringVar(&o.only, "only", "", "measure only queries whose name matches")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of our engine to a file")
	flag.DurationVar(&o.warm, "warm", time.Second, "minimum warm-up time of a query; the warm-up continues while the query gets faster")
	flag.DurationVar(&o.time, "time", 500*time.Millisecond, "duration of each measurement; at least three runs")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.filter, err = regexp.Compile(o.only); err != nil {
		return err
	}
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, f.Close())
		}()
	}
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return err
	}
	b := &bench{options: o, report: report{w: os.Stdout}}
	if o.java {
		classPath, err := buildJava(ctx, o.javaSource, o.work)
		if err != nil {
			return err
		}
		if b.tinker, err = startTinker(ctx, classPath, o.heap); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.tinker.close()) }()
	}
	if err := b.all(ctx); err != nil {
		return err
	}
	b.report.end()
	if b.report.failed > 0 {
		return errors.New("not all queries could be compared")
	}
	return nil
}

// bench is one run.
type bench struct {
	options
	report report
	tinker *tinker // nil when only our engine is measured
}

func (b *bench) all(ctx context.Context) error {
	records, err := b.gratefulRecords()
	if err != nil {
		return err
	}
	if records != nil {
		if err := b.graph(ctx, "grateful dead", records, gratefulQueries); err != nil {
			return err
		}
	}
	for size := range strings.SplitSeq(b.sizes, ",") {
		if size == "" {
			continue
		}
		n, err := strconv.Atoi(size)
		if err != nil {
			return fmt.Errorf("read -sizes: %w", err)
		}
		var records []graph.Record
		err = accountgen.Generate(n, 1, func(r graph.Record) error {
			records = append(records, r)
			return nil
		})
		if err != nil {
			return err
		}
		if err := b.graph(ctx, fmt.Sprintf("account of %d", n), records, securityQueries); err != nil {
			return err
		}
	}
	return nil
}

// gratefulRecords reads the grateful-dead graph of TinkerPop. Without TinkerPop it reads
// the file of an earlier run, and returns nil if there was none.
func (b *bench) gratefulRecords() ([]graph.Record, error) {
	path, err := filepath.Abs(filepath.Join(b.work, "grateful.tsv"))
	if err != nil {
		return nil, err
	}
	if b.tinker != nil {
		if _, err := b.tinker.request("grateful", path); err != nil {
			return nil, err
		}
	}
	records, err := readExchange(path)
	if b.tinker == nil && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return records, err
}

// graph measures queries on one graph.
func (b *bench) graph(ctx context.Context, name string, records []graph.Record, queries []query) error {
	var javaBytes int64
	if b.tinker != nil {
		path, err := filepath.Abs(filepath.Join(b.work, "graph.tsv"))
		if err != nil {
			return err
		}
		if err := writeExchange(path, records); err != nil {
			return err
		}
		if _, _, javaBytes, err = b.tinker.load(path); err != nil {
			return err
		}
		for key := range strings.SplitSeq(b.index, ",") {
			if key != "" {
				if _, err := b.tinker.request("index", key); err != nil {
					return err
				}
			}
		}
	}
	g, ownBytes, err := heapOf(func() (*graph.Graph, error) { return buildGraph(records) })
	runtime.KeepAlive(records) // keep them alive while the memory of the graph is measured
	if err != nil {
		return err
	}
	b.report.heading(name, g.NumVertices(), g.NumEdges(), ownBytes, g.Bytes(), javaBytes)
	from := b.report.mark()
	queries = slices.DeleteFunc(slices.Clone(queries), func(q query) bool { return !b.filter.MatchString(q.name) })
	if b.tinker != nil {
		// Run every query, so that Java's JIT compiles the code that they share before the
		// first measurement.
		for _, q := range queries {
			_, _ = b.tinker.run(q.text, b.warm/2, 0) // if it fails, so does its measurement, which reports it
		}
	}
	for _, q := range queries {
		if err := b.query(ctx, g, q); err != nil {
			return err
		}
	}
	b.report.subtotal(from)
	return nil
}

// query measures one query. If the query fails, the report says so and the run continues,
// unless the context has ended.
func (b *bench) query(ctx context.Context, g *graph.Graph, q query) error {
	var java *result
	if b.tinker != nil {
		r, err := b.tinker.run(q.text, b.warm, b.time)
		if err != nil {
			b.report.broken(q, "TinkerGraph", err)
			return ctx.Err()
		}
		java = &r
	}
	own, err := runOurs(ctx, g, q.text, b.warm/4, b.time)
	if err != nil {
		b.report.broken(q, "our engine", err)
		return ctx.Err()
	}
	var loop *time.Duration
	if f := loops[q.loop]; f != nil {
		r, err := measure(b.warm/4, b.time/2, func() error { f(g); return nil })
		if err != nil {
			return err
		}
		loop = &r.best
	}
	b.report.row(q, own, java, loop)
	return nil
}
