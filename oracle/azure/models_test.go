// Package azure compares the declared Azure resource types with the typed modules of
// the Azure SDK, which Microsoft generates from its API descriptions. It parses the
// source of the modules, so that none of them has to be compiled.
package azure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"vigil/internal/posture/collect/awsapi/model"
)

// A module holds what the source of one typed module declares.
type module struct {
	name      string
	types     map[string]ast.Expr          // declared types by name
	enums     map[string][]string          // permitted values of string types
	members   map[string]map[string]string // structure name -> JSON member -> field
	concrete  map[string][]string          // interface name -> structures that implement it
	unixTimes map[string]bool              // "Structure.Field" of times that are sent as Unix seconds
	responses map[string]string            // "Client.Method" -> "Response/Field", where Field holds the decoded body
	requests  map[string]*ast.FuncDecl     // "Client.Method" -> the function that creates the request
	shapes    map[string]*model.Shape      // converted types by name
}

// parseModule reads the source of a module.
func parseModule(dir string) (*module, error) {
	m := &module{
		name: filepath.Base(dir), types: map[string]ast.Expr{}, enums: map[string][]string{}, members: map[string]map[string]string{}, concrete: map[string][]string{}, unixTimes: map[string]bool{},
		responses: map[string]string{}, requests: map[string]*ast.FuncDecl{}, shapes: map[string]*model.Shape{},
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				m.addSpecs(d)
			case *ast.FuncDecl:
				m.addFunc(d)
			}
		}
	}
	return m, nil
}

// addSpecs records types and the constants of string types.
func (m *module) addSpecs(d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			m.types[s.Name.Name] = s.Type
		case *ast.ValueSpec:
			kind, ok := s.Type.(*ast.Ident)
			if d.Tok == token.CONST && ok && len(s.Values) == 1 {
				if value, ok := text(s.Values[0]); ok {
					m.enums[kind.Name] = append(m.enums[kind.Name], value)
				}
			}
		}
	}
}

// addFunc records the information in generated functions: the members from which a
// structure is decoded, the structures that implement an interface, and the requests
// and responses of methods.
func (m *module) addFunc(d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv == nil {
		// unmarshalXClassification decodes the interface XClassification: its body has a
		// literal of every structure that implements it.
		if kind, ok := strings.CutPrefix(name, "unmarshal"); ok && strings.HasSuffix(kind, "Classification") {
			m.concrete[kind] = compositeTypes(d.Body)
		}
		return
	}
	star, ok := d.Recv.List[0].Type.(*ast.StarExpr)
	if !ok || len(d.Recv.List[0].Names) == 0 {
		return
	}
	kind := star.X.(*ast.Ident).Name
	if name == "UnmarshalJSON" {
		m.recordMembers(kind, d.Body, d.Recv.List[0].Names[0].Name)
	} else if method, ok := strings.CutSuffix(name, "CreateRequest"); ok {
		m.requests[kind+"."+method] = d
	} else if method, ok := strings.CutSuffix(name, "HandleResponse"); ok {
		if response, field := responseBody(d); field != "" {
			m.responses[kind+"."+method] = response + "/" + field
		}
	}
}

// text returns the value of a string literal.
func text(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

// compositeTypes returns the types of the composite literals in a function.
func compositeTypes(body ast.Node) (all []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CompositeLit); ok {
			if kind, ok := c.Type.(*ast.Ident); ok {
				all = append(all, kind.Name)
			}
		}
		return true
	})
	return all
}

// recordMembers records the fields of a structure by the names of the JSON members that
// its UnmarshalJSON reads.
func (m *module) recordMembers(kind string, body ast.Node, receiver string) {
	all := map[string]string{}
	m.members[kind] = all
	ast.Inspect(body, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok || len(clause.List) != 1 {
			return true
		}
		member, ok := text(clause.List[0])
		if !ok {
			return true
		}
		isUnixTime := false
		for _, s := range clause.Body {
			ast.Inspect(s, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident: // the name of the function, which comes before its argument &receiver.Field
					isUnixTime = isUnixTime || n.Name == "unpopulateTimeUnix"
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == receiver && all[member] == "" {
						all[member] = n.Sel.Name
						m.unixTimes[kind+"."+n.Sel.Name] = isUnixTime
					}
				}
				return true
			})
		}
		return false
	})
}

// responseBody returns the type of a method's response and the field that the JSON body
// is decoded into: "." for the response itself, "" if no body is decoded.
func responseBody(d *ast.FuncDecl) (kind, field string) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "UnmarshalAsJSON" {
			return true
		}
		if pointer, ok := call.Args[1].(*ast.UnaryExpr); ok {
			if s, ok := pointer.X.(*ast.SelectorExpr); ok {
				field = s.Sel.Name
			} else {
				field = "."
			}
		}
		return false
	})
	if d.Type.Results != nil {
		if result, ok := d.Type.Results.List[0].Type.(*ast.Ident); ok {
			kind = result.Name
		}
	}
	return kind, field
}

// response returns the shape of the response of a method, or nil.
func (m *module) response(method string) *model.Shape {
	kind, field, _ := strings.Cut(m.responses[method], "/")
	s, ok := m.types[kind].(*ast.StructType)
	if !ok {
		return nil
	}
	if field == "." { // the response embeds its only field
		return m.shape(s.Fields.List[0].Type)
	}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 && embedded(f.Type) == field || len(f.Names) == 1 && f.Names[0].Name == field {
			return m.shape(f.Type)
		}
	}
	return nil
}

// embedded returns the name of an embedded field.
func embedded(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// shape converts a type to the form with which declarations are compared.
func (m *module) shape(e ast.Expr) *model.Shape {
	switch e := e.(type) {
	case *ast.StarExpr:
		return m.shape(e.X)
	case *ast.Ident:
		return m.named(e.Name)
	case *ast.MapType:
		return &model.Shape{Type: model.Map, Key: &model.Member{Shape: &model.Shape{Type: model.String}}, Value: &model.Member{Shape: m.shape(e.Value)}}
	case *ast.ArrayType:
		if item, ok := e.Elt.(*ast.Ident); ok && item.Name == "byte" {
			return &model.Shape{Type: model.String}
		}
		return &model.Shape{Type: model.List, Item: &model.Member{Shape: m.shape(e.Elt)}}
	case *ast.SelectorExpr:
		if e.Sel.Name == "Time" {
			return &model.Shape{Type: model.Timestamp}
		}
		return &model.Shape{Type: model.String} // azcore.ETag
	}
	return &model.Shape{Type: model.Structure, Document: true}
}

// basicTypes maps basic Go types to types of shapes.
var basicTypes = map[string]model.Type{
	"string": model.String, "bool": model.Boolean, "int32": model.Integer, "int64": model.Long, "int": model.Long, "float32": model.Float, "float64": model.Double,
}

// named returns the shape of a type by its name.
func (m *module) named(name string) *model.Shape {
	if kind, ok := basicTypes[name]; ok {
		return &model.Shape{Name: name, Type: kind}
	}
	if known, ok := m.shapes[name]; ok {
		return known
	}
	shape := &model.Shape{Name: name, Type: model.Structure}
	m.shapes[name] = shape // types may contain themselves
	switch e := m.types[name].(type) {
	case *ast.Ident:
		*shape = *m.named(e.Name)
		shape.Name, shape.Enum = name, m.enums[name]
	case *ast.StructType:
		shape.Members = m.structure(name, e)
	case *ast.InterfaceType: // implemented by several structures: use the members of all
		for _, c := range m.concrete[name] {
			for _, member := range m.named(c).Members {
				if old := shape.Member(member.Name); old == nil {
					shape.Members = append(shape.Members, member)
				} else {
					old.Shape = mergeShapes(old.Shape, member.Shape)
				}
			}
		}
	default:
		shape.Document = true
	}
	return shape
}

// mergeShapes returns a shape with the members of both and, if both are enumerations,
// the values of both. If their types differ, it returns a. It does not change a or b: their
// slices are cut to their length, so that append copies them.
func mergeShapes(a, b *model.Shape) *model.Shape {
	if a == b || a.Type != b.Type {
		return a
	}
	both := *a
	for _, m := range b.Members {
		if both.Member(m.Name) == nil {
			both.Members = append(both.Members[:len(both.Members):len(both.Members)], m)
		}
	}
	if len(a.Enum) > 0 && len(b.Enum) > 0 {
		both.Enum = append(a.Enum[:len(a.Enum):len(a.Enum)], b.Enum...)
	}
	return &both
}

// structure returns the members of a structure.
func (m *module) structure(name string, s *ast.StructType) (all []model.Member) {
	fields := map[string]ast.Expr{}
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			fields[n.Name] = f.Type
			if f.Tag != nil {
				tag, _ := text(f.Tag)
				if member, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); member != "" && member != "-" {
					all = append(all, model.Member{Name: member, Shape: m.shape(f.Type)})
				}
			}
		}
	}
	for member, field := range m.members[name] {
		switch kind, ok := fields[field]; {
		case m.unixTimes[name+"."+field]:
			all = append(all, model.Member{Name: member, Shape: &model.Shape{Type: model.Long}})
		case ok:
			all = append(all, model.Member{Name: member, Shape: m.shape(kind)})
		}
	}
	return all
}
