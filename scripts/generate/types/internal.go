package main

import (
	"go/ast"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// internal tells how kube-apiserver itself shapes the kinds that it validates, for messages that show a part of
// one: by `core.PodSpec` the fields in order, each `Name:type`, or `:type` for an embedded struct and `name?:type` for
// one left out when empty. A type is s string, n number, b boolean, y bytes, j what is shown as the API shows it,
// `*T`, `[]T`, `{}T` or the name of a struct.
func (s *source) internal() map[string]string {
	root := s.modules["k8s.io/kubernetes"]
	files, err := filepath.Glob(filepath.Join(root, "pkg", "apis", "*", "types.go"))
	check(err)
	types := map[string]string{}
	for _, file := range files {
		relative, _ := filepath.Rel(root, filepath.Dir(file))
		p := s.load("k8s.io/kubernetes/" + relative)
		for _, name := range sorted(p.types) {
			if structType, ok := p.types[name].expr.(*ast.StructType); ok && !strings.HasSuffix(name, "List") {
				types[filepath.Base(relative)+"."+name] = s.internalFields(p.types[name], structType)
			}
		}
	}
	return types
}

func (s *source) internalFields(d *declaration, structType *ast.StructType) string {
	var words []string
	for _, f := range structType.Fields.List {
		var tag reflect.StructTag
		if f.Tag != nil {
			text, err := strconv.Unquote(f.Tag.Value)
			check(err)
			tag = reflect.StructTag(text)
		}
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		shape := s.internalType(d, f.Type)
		if len(f.Names) == 0 && name == "" {
			words = append(words, ":"+shape)
		}
		for _, ident := range f.Names {
			word := ident.Name
			if name != "" {
				word = name
			}
			if strings.Contains(options, "omitempty") {
				word += "?"
			}
			words = append(words, word+":"+shape)
		}
	}
	return strings.Join(words, " ")
}

func (s *source) internalType(d *declaration, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + s.internalType(d, e.X)
	case *ast.ArrayType:
		if element := s.internalType(d, e.Elt); element != "B" {
			return "[]" + element
		}
		return "y"
	case *ast.MapType:
		return "{}" + s.internalType(d, e.Value)
	case *ast.Ident:
		if letter, ok := basic[e.Name]; ok && d.pkg.types[e.Name] == nil {
			if strings.Contains("iln", letter) {
				return "n"
			}
			return letter
		}
	}
	named := s.lookup(d, e)
	if named == nil {
		return "j"
	}
	if _, ok := named.expr.(*ast.StructType); ok {
		if strings.HasPrefix(named.pkg.path, "k8s.io/kubernetes/") {
			return filepath.Base(named.pkg.path) + "." + named.name
		}
		return "j" + named.name
	}
	return s.internalType(named, named.expr)
}
