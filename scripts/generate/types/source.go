package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// declaration is one named Go type with what its comment marks.
type declaration struct {
	pkg     *goPackage
	name    string
	expr    ast.Expr
	file    *ast.File
	markers markers
	same    bool // another name of the same type
}

type goPackage struct {
	path   string
	types  map[string]*declaration
	consts map[string]ast.Expr
	typed  map[string][]string // type name -> constants declared with it
	model  string              // prefix of published names
}

type source struct {
	modules  map[string]string
	packages map[string]*goPackage
	files    *token.FileSet
}

func newSource() *source {
	return &source{modules: map[string]string{}, packages: map[string]*goPackage{}, files: token.NewFileSet()}
}

func (s *source) directory(path string) string {
	for module, directory := range s.modules {
		if path == module || strings.HasPrefix(path, module+"/") {
			return filepath.Join(directory, strings.TrimPrefix(path, module))
		}
	}
	return ""
}

// load parses a package once. It answers nil for packages of other modules.
func (s *source) load(path string) *goPackage {
	if p, ok := s.packages[path]; ok {
		return p
	}
	directory := s.directory(path)
	if directory == "" {
		return nil
	}
	p := &goPackage{path: path, types: map[string]*declaration{}, consts: map[string]ast.Expr{}, typed: map[string][]string{}}
	s.packages[path] = p
	entries, err := os.ReadDir(directory)
	check(err)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_") || strings.HasSuffix(name, ".pb.go") {
			continue
		}
		file, err := parser.ParseFile(s.files, filepath.Join(directory, name), nil, parser.ParseComments)
		check(err)
		p.add(file)
	}
	return p
}

func (p *goPackage) add(file *ast.File) {
	for _, comment := range file.Comments {
		if comment.End() > file.Package {
			break
		}
		m := markersOf(comment)
		if v, ok := m.first("k8s:openapi-model-package"); ok {
			p.model = v
		}
	}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				doc := spec.Doc
				if doc == nil {
					doc = general.Doc
				}
				p.types[spec.Name.Name] = &declaration{p, spec.Name.Name, spec.Type, file, markersOf(doc), spec.Assign.IsValid()}
			case *ast.ValueSpec:
				if general.Tok == token.CONST {
					p.addConst(spec)
				}
			}
		}
	}
}

func (p *goPackage) addConst(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if i >= len(spec.Values) {
			continue
		}
		p.consts[name.Name] = spec.Values[i]
		typeName := ""
		if ident, ok := spec.Type.(*ast.Ident); ok {
			typeName = ident.Name
		} else if call, ok := spec.Values[i].(*ast.CallExpr); ok && spec.Type == nil {
			if ident, ok := call.Fun.(*ast.Ident); ok {
				typeName = ident.Name
			}
		}
		if typeName != "" {
			p.typed[typeName] = append(p.typed[typeName], name.Name)
		}
	}
}

// markers are the `+name=value` lines of a comment, in order.
type markers map[string][]string

func markersOf(comment *ast.CommentGroup) markers {
	result := markers{}
	if comment == nil {
		return result
	}
	for _, line := range comment.List {
		text := strings.TrimSpace(strings.TrimPrefix(line.Text, "//"))
		if strings.HasPrefix(text, "+") {
			name, value, _ := strings.Cut(text[1:], "=")
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			result[name] = append(result[name], strings.TrimSpace(value))
		}
	}
	return result
}

func (m markers) first(name string) (string, bool) {
	if values := m[name]; len(values) > 0 {
		return values[0], true
	}
	return "", false
}

func (m markers) has(name string) bool { _, ok := m[name]; return ok }
