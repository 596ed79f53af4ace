package vigil.bench;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import org.apache.tinkerpop.gremlin.process.traversal.Path;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;

/** An order-independent checksum of results, for comparing two engines. */
final class Checksum {
    private long count;
    private long value;

    void add(Object result) {
        CRC32 crc = new CRC32();
        crc.update(text(result).getBytes(StandardCharsets.UTF_8));
        count++;
        value += crc.getValue();
    }

    long count() {
        return count;
    }

    long value() {
        return value;
    }

    private static String text(Object o) {
        if (o instanceof Double || o instanceof Float) {
            return String.format("%.6e", ((Number) o).doubleValue());
        } else if (o instanceof Vertex) {
            return "v[" + text(((Vertex) o).id()) + "]";
        } else if (o instanceof Edge) {
            Edge e = (Edge) o;
            return "e[" + text(e.outVertex().id()) + "-" + e.label() + "->" + text(e.inVertex().id()) + "]";
        } else if (o instanceof VertexProperty) {
            VertexProperty<?> p = (VertexProperty<?>) o;
            return "vp[" + p.key() + "->" + text(p.value()) + "]";
        } else if (o instanceof Path) {
            return texts(((Path) o).objects(), false);
        } else if (o instanceof Map) {
            List<String> entries = new ArrayList<>();
            ((Map<?, ?>) o).forEach((k, v) -> entries.add(text(k) + ":" + text(v)));
            Collections.sort(entries);
            return "{" + String.join(",", entries) + "}";
        } else if (o instanceof Collection) {
            return texts((Collection<?>) o, o instanceof Set);
        }
        return String.valueOf(o);
    }

    private static String texts(Collection<?> items, boolean sort) {
        List<String> parts = new ArrayList<>();
        items.forEach(i -> parts.add(text(i)));
        if (sort) {
            Collections.sort(parts);
        }
        return "[" + String.join(",", parts) + "]";
    }
}
