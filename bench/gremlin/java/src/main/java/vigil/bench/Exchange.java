package vigil.bench;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Property;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph;

/** The text format of graphs: see exchange.go. */
final class Exchange {
    private Exchange() {}

    static TinkerGraph read(Path path) throws IOException {
        TinkerGraph graph = TinkerGraph.open();
        Map<String, String> strings = new HashMap<>();
        try (BufferedReader in = Files.newBufferedReader(path)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] f = line.split("\t", -1);
                Element element;
                int next;
                if (f[0].equals("V")) {
                    element = graph.addVertex(T.id, value(f[1], strings), T.label, shared(f[2], strings));
                    next = 3;
                } else {
                    Vertex from = graph.vertices(value(f[2], strings)).next();
                    Vertex to = graph.vertices(value(f[3], strings)).next();
                    element = from.addEdge(shared(f[1], strings), to);
                    next = 4;
                }
                for (; next < f.length; next += 2) {
                    element.property(shared(f[next], strings), value(f[next + 1], strings));
                }
            }
        }
        return graph;
    }

    /** Interns strings, so that equal strings are one object. */
    private static String shared(String s, Map<String, String> strings) {
        String known = strings.putIfAbsent(s, s);
        return known == null ? s : known;
    }

    private static Object value(String field, Map<String, String> strings) {
        String text = field.substring(1);
        switch (field.charAt(0)) {
            case 's':
                return shared(text.indexOf('\\') < 0 ? text : unescaped(text), strings);
            case 'b':
                return Boolean.valueOf(text);
            case 'i':
                return Integer.valueOf(text);
            case 'l':
                return Long.valueOf(text);
            case 'd':
                return Double.valueOf(text);
            default:
                throw new IllegalArgumentException("no such type: " + field);
        }
    }

    private static String unescaped(String s) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '\\') {
                c = s.charAt(++i);
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
            }
            b.append(c);
        }
        return b.toString();
    }

    static void write(TinkerGraph graph, Path path) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(path)) {
            for (Iterator<Vertex> vs = graph.vertices(); vs.hasNext();) {
                Vertex v = vs.next();
                out.write("V\t" + field(v.id()) + "\t" + v.label());
                properties(out, v.properties());
            }
            for (Iterator<Edge> es = graph.edges(); es.hasNext();) {
                Edge e = es.next();
                out.write("E\t" + e.label() + "\t" + field(e.outVertex().id()) + "\t" + field(e.inVertex().id()));
                properties(out, e.properties());
            }
        }
    }

    private static void properties(BufferedWriter out, Iterator<? extends Property<?>> ps) throws IOException {
        while (ps.hasNext()) {
            Property<?> p = ps.next();
            out.write("\t" + p.key() + "\t" + field(p.value()));
        }
        out.write("\n");
    }

    private static String field(Object v) {
        if (v instanceof Integer) {
            return "i" + v;
        } else if (v instanceof Long) {
            return "l" + v;
        } else if (v instanceof Double) {
            return "d" + v;
        } else if (v instanceof Boolean) {
            return "b" + v;
        }
        return "s" + ((String) v).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n");
    }
}
