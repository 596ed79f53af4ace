package value

import "vigil/graph"

// classNames are the names of kinds in error messages: the class names of TinkerPop,
// because authors of queries know them.
var classNames = [...]string{
	graph.KindNull: "null", graph.KindBool: "Boolean", graph.KindByte: "Byte", graph.KindShort: "Short", graph.KindInt: "Integer",
	graph.KindLong: "Long", graph.KindBigInt: "BigInteger", graph.KindFloat: "Float", graph.KindDouble: "Double",
	graph.KindBigDecimal: "BigDecimal", graph.KindDateTime: "OffsetDateTime", graph.KindString: "String", graph.KindUUID: "UUID",
	graph.KindVertex: "Vertex", graph.KindEdge: "Edge", graph.KindVertexProperty: "VertexProperty", graph.KindProperty: "Property",
	graph.KindSet: "HashSet", graph.KindList: "ArrayList", graph.KindMap: "LinkedHashMap", graph.KindEntry: "Entry",
}

// ClassName returns the name of v's type for messages.
func ClassName(v graph.Value) string {
	if int(v.Kind()) < len(classNames) {
		return classNames[v.Kind()]
	}
	switch v.Opaque().(type) {
	case *Path:
		return "Path"
	case *Tree:
		return "Tree"
	case *BulkSet:
		return "BulkSet"
	case *Subgraph:
		return "Graph"
	}
	return "T" // a Token
}

// typeKinds maps the GType types that have a single kind of value to this kind.
var typeKinds = map[string]graph.Kind{
	"BIGDECIMAL": graph.KindBigDecimal, "BIGINT": graph.KindBigInt, "BOOLEAN": graph.KindBool, "BYTE": graph.KindByte,
	"DATETIME": graph.KindDateTime, "DOUBLE": graph.KindDouble, "EDGE": graph.KindEdge, "FLOAT": graph.KindFloat,
	"INT": graph.KindInt, "LIST": graph.KindList, "LONG": graph.KindLong, "NULL": graph.KindNull, "SHORT": graph.KindShort,
	"STRING": graph.KindString, "UUID": graph.KindUUID, "VERTEX": graph.KindVertex, "VPROPERTY": graph.KindVertexProperty,
}

// typeAliases are the class names that typeOf() accepts in addition to GType names.
var typeAliases = map[string]string{
	"BigDecimal": "BIGDECIMAL", "BigInteger": "BIGINT", "ByteBuffer": "BINARY", "Boolean": "BOOLEAN", "Byte": "BYTE",
	"Character": "CHAR", "OffsetDateTime": "DATETIME", "Double": "DOUBLE", "Duration": "DURATION", "Edge": "EDGE",
	"Float": "FLOAT", "Graph": "GRAPH", "Integer": "INT", "List": "LIST", "Long": "LONG", "Map": "MAP", "Number": "NUMBER",
	"Path": "PATH", "Property": "PROPERTY", "Set": "SET", "Short": "SHORT", "String": "STRING", "Tree": "TREE", "UUID": "UUID",
	"Vertex": "VERTEX", "VertexProperty": "VPROPERTY",
}

// TypeName returns the GType name for a class name: INT for Integer.
func TypeName(className string) (string, bool) {
	t, ok := typeAliases[className]
	return t, ok
}

// NumberKind returns the kind of number of a GType type.
func NumberKind(gtype string) (graph.Kind, bool) {
	k, ok := typeKinds[gtype]
	return k, ok && k >= graph.KindByte && k <= graph.KindBigDecimal
}

// IsType reports whether v has a GType type. Some types include others: NUMBER
// is any number, PROPERTY includes vertex properties, a tree is a MAP.
func IsType(v graph.Value, gtype string) bool {
	if k, ok := typeKinds[gtype]; ok {
		return v.Kind() == k
	}
	switch gtype {
	case "NUMBER":
		return v.IsNumber()
	case "PROPERTY":
		return v.Kind() == graph.KindProperty || v.Kind() == graph.KindVertexProperty
	case "SET":
		return isSet(v)
	case "MAP":
		_, tree := As[*Tree](v)
		return tree || v.Kind() == graph.KindMap
	case "PATH":
		_, ok := As[*Path](v)
		return ok
	case "TREE":
		_, ok := As[*Tree](v)
		return ok
	case "GRAPH":
		_, ok := As[*Subgraph](v)
		return ok
	}
	return false
}
