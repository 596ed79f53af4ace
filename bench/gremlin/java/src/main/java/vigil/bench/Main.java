package vigil.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.apache.tinkerpop.gremlin.language.grammar.GremlinAntlrToJava;
import org.apache.tinkerpop.gremlin.language.grammar.GremlinQueryParser;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerFactory;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph;

/**
 * Runs queries on TinkerGraph. It reads commands from standard input, one per
 * line, and responds to each with a line that starts with "ok" or "error".
 */
public final class Main {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private TinkerGraph graph;

    public static void main(String[] args) throws IOException {
        Locale.setDefault(Locale.ROOT);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Main main = new Main();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = "ok " + main.command(line.split("\t"));
            } catch (Throwable e) {
                answer = "error " + String.valueOf(e).replace('\n', ' ');
            }
            out.println(answer);
        }
    }

    private String command(String[] args) throws IOException {
        switch (args[0]) {
            case "grateful":
                Exchange.write(TinkerFactory.createGratefulDead(), Path.of(args[1]));
                return "";
            case "load":
                return load(Path.of(args[1]));
            case "index":
                graph.createIndex(args[1], Vertex.class);
                return "";
            case "run":
                return run(args[1], millis(args[2]), millis(args[3]));
            default:
                throw new IllegalArgumentException("no such command: " + args[0]);
        }
    }

    private static long millis(String s) {
        return Long.parseLong(s) * 1_000_000;
    }

    private String load(Path path) throws IOException {
        graph = null;
        long before = usedMemory();
        graph = Exchange.read(path);
        long bytes = usedMemory() - before;
        return graph.getVerticesCount() + " " + graph.getEdgesCount() + " " + bytes;
    }

    private static long usedMemory() {
        Runtime rt = Runtime.getRuntime();
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        return rt.totalMemory() - rt.freeMemory();
    }

    /**
     * Runs a query until it is warm, then repeatedly for the given time. Parsing
     * and the strategies of TinkerPop run once: each run iterates a copy of the
     * compiled traversal to its end.
     */
    private String run(String query, long warm, long time) {
        Traversal.Admin<?, ?> compiled = ((Traversal<?, ?>) GremlinQueryParser.parse(query, new GremlinAntlrToJava(graph.traversal()))).asAdmin();
        compiled.applyStrategies();
        Checksum sum = new Checksum();
        Traversal.Admin<?, ?> first = compiled.clone();
        while (first.hasNext()) {
            sum.add(first.next());
        }
        warmUp(compiled, warm);
        long[] runs = new long[16];
        int n = 0;
        long start = System.nanoTime();
        for (; n < 3 || System.nanoTime() - start < time; n++) {
            if (n == runs.length) {
                runs = Arrays.copyOf(runs, 2 * n);
            }
            runs[n] = once(compiled);
        }
        Arrays.sort(runs, 0, n);
        return sum.count() + " " + sum.value() + " " + n + " " + runs[0] + " " + runs[n / 2];
    }

    /**
     * Runs a query for the given time, and continues while it gets faster: the JIT
     * compiler runs concurrently and may finish late.
     */
    private static void warmUp(Traversal.Admin<?, ?> compiled, long time) {
        long best = Long.MAX_VALUE;
        for (int rounds = 0; rounds < 10; rounds++) {
            long before = best;
            long start = System.nanoTime();
            do {
                best = Math.min(best, once(compiled));
            } while (System.nanoTime() - start < time);
            if (rounds > 0 && best > before - before / 20) {
                return;
            }
        }
    }

    /**
     * Returns the lower of the wall-clock and the CPU time of a run. Other load on
     * the machine increases only the former.
     */
    private static long once(Traversal.Admin<?, ?> compiled) {
        long used = THREADS.getCurrentThreadCpuTime();
        long start = System.nanoTime();
        Traversal.Admin<?, ?> t = compiled.clone();
        while (t.hasNext()) {
            t.next();
        }
        long time = System.nanoTime() - start;
        return time > 1_000_000 ? Math.min(time, THREADS.getCurrentThreadCpuTime() - used) : time;
    }
}
