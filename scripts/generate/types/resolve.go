package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"log"
	"sort"
	"strconv"
	"strings"
)

// lookup finds the declaration that a type expression names; nil for basic and composite types.
func (s *source) lookup(d *declaration, e ast.Expr) *declaration {
	switch e := e.(type) {
	case *ast.Ident:
		return d.pkg.types[e.Name]
	case *ast.SelectorExpr:
		alias := e.X.(*ast.Ident).Name
		for _, spec := range d.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			name := path[strings.LastIndex(path, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if name == alias {
				if p := s.load(path); p != nil {
					return p.types[e.Sel.Name]
				}
			}
		}
	}
	return nil
}

// typeOf writes a type in the table's notation: a letter, #N for a struct, eN for an enum, [] list, {} map, @N; for
// the name of one that has its own.
func (s *source) typeOf(t *Table, d *declaration, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return s.typeOf(t, d, e.X)
	case *ast.ArrayType:
		element := s.typeOf(t, d, e.Elt)
		if element == "B" {
			return "y"
		}
		return "[]" + element
	case *ast.MapType:
		return "{" + s.keyOf(t, d, e.Key) + "}" + s.typeOf(t, d, e.Value)
	case *ast.InterfaceType:
		return "*"
	case *ast.Ident:
		if letter, ok := basic[e.Name]; ok && d.pkg.types[e.Name] == nil {
			return letter
		}
	}
	named := s.lookup(d, e)
	if named == nil {
		if sel, ok := e.(*ast.SelectorExpr); ok && sel.Sel.Name == "Object" {
			return "*"
		}
		log.Printf("%s.%s: unknown type %v", d.pkg.path, d.name, e)
		return "*"
	}
	if _, ok := named.expr.(*ast.StructType); ok || special[named.pkg.path+"."+named.name] != "" {
		return fmt.Sprintf("#%d", s.typeIndex(t, named))
	}
	result := s.typeOf(t, named, named.expr)
	if named.markers.has("enum") && result == "s" {
		result = s.enum(t, named)
	}
	if isWrapper(named) {
		result = "w" + result
	}
	if named.same {
		return result
	}
	return alias(t, named) + result
}

// alias is the mark of a named type that is no struct: decoders tell of it by name.
func alias(t *Table, d *declaration) string {
	key := d.pkg.path + "." + d.name
	if _, ok := t.aliases[key]; !ok {
		t.aliases[key] = len(t.Aliases)
		t.Aliases = append(t.Aliases, d.pkg.path[strings.LastIndex(d.pkg.path, "/")+1:]+"."+d.name)
	}
	return fmt.Sprintf("@%d;", t.aliases[key])
}

func (s *source) keyOf(t *Table, d *declaration, e ast.Expr) string {
	if named := s.lookup(d, e); named != nil {
		return alias(t, named)
	}
	return ""
}

// isWrapper tells a named list that protobuf carries as a message of its own.
func isWrapper(d *declaration) bool {
	_, list := d.expr.(*ast.ArrayType)
	return list && d.markers.has("protobuf.nullable")
}

func (s *source) enum(t *Table, d *declaration) string {
	key := d.pkg.path + "." + d.name
	if _, ok := t.enums[key]; !ok {
		values := map[string]bool{}
		for _, name := range d.pkg.typed[d.name] {
			values[s.constant(d, d.pkg.consts[name])] = true
		}
		t.enums[key] = len(t.Enums)
		t.Enums = append(t.Enums, sorted(values))
	}
	return fmt.Sprintf("e%d", t.enums[key])
}

func (s *source) constant(d *declaration, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		check(err)
		return value
	case *ast.Ident:
		return s.constant(d, d.pkg.consts[e.Name])
	case *ast.CallExpr:
		return s.constant(d, e.Args[0])
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.constant(d, e.X) + s.constant(d, e.Y)
		}
	case *ast.SelectorExpr:
		alias := e.X.(*ast.Ident).Name
		for path, p := range s.packages {
			if v, ok := p.consts[e.Sel.Name]; ok && strings.Contains(path, strings.TrimSuffix(alias, "v1")) {
				return s.constant(&declaration{pkg: p}, v)
			}
		}
	}
	log.Fatalf("%s: cannot read a constant %T", d.pkg.path, e)
	return ""
}

// defaultOf reads +default from the field, else from the named type it has.
func (s *source) defaultOf(d *declaration, m markers, e ast.Expr) (any, bool) {
	text, ok := m.first("default")
	owner := d
	for !ok {
		if star, isPointer := e.(*ast.StarExpr); isPointer {
			e = star.X
			continue
		}
		named := s.lookup(owner, e)
		if named == nil {
			return nil, false
		}
		text, ok = named.markers.first("default")
		owner, e = named, named.expr
	}
	if ref := reference.FindStringSubmatch(text); ref != nil {
		return s.constant(owner, owner.pkg.consts[ref[1]]), true
	}
	var value any
	check(json.Unmarshal([]byte(text), &value))
	return json.RawMessage(text), true
}

// unionOf reads +union: the discriminator and, for each other field, the value that selects it.
func unionOf(d *declaration, structType *ast.StructType) any {
	if !d.markers.has("union") {
		return nil
	}
	fields := map[string]string{}
	discriminator := ""
	for _, f := range structType.Fields.List {
		if len(f.Names) == 0 || f.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		_, after, _ := strings.Cut(text, `json:"`)
		name, _, _ := strings.Cut(after, `"`)
		name, _, _ = strings.Cut(name, ",")
		m := markersOf(f.Doc)
		if m.has("unionDiscriminator") {
			discriminator = name
		} else if m.has("optional") {
			fields[name] = f.Names[0].Name
		}
	}
	return map[string]any{"d": discriminator, "f": fields}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
