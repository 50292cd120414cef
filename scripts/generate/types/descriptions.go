package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
)

// Descriptions is what kube/openapi/descriptions.ts reads: the texts, each once, and by the published name of a type
// the number of its own text (-1 for none) and those of its fields.
type Descriptions struct {
	Texts []string            `json:"texts"`
	Types map[string]Describe `json:"types"`
	index map[string]int
}

type Describe struct {
	Type   int            `json:"t"`
	Fields map[string]int `json:"f,omitempty"`
}

// descriptions reads the OpenAPI definitions that kube-apiserver is built with, for the types of the table.
func (s *source) descriptions(t *Table) *Descriptions {
	path := filepath.Join(s.modules["k8s.io/kubernetes"], "pkg", "generated", "openapi", "zz_generated.openapi.go")
	file, err := parser.ParseFile(s.files, path, nil, parser.SkipObjectResolution)
	check(err)
	functions := map[string]*ast.FuncDecl{}
	for _, decl := range file.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok {
			functions[function.Name.Name] = function
		}
	}
	d := &Descriptions{Types: map[string]Describe{}, index: map[string]int{}}
	here := &declaration{pkg: &goPackage{}, file: file}
	ast.Inspect(functions["GetOpenAPIDefinitions"], func(node ast.Node) bool {
		pair, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		named := s.lookup(here, definedType(pair.Key))
		if named == nil {
			return false
		}
		if _, ok := t.index[named.pkg.path+"."+named.name]; ok {
			call := pair.Value.(*ast.CallExpr)
			d.Types[publishedName(named)] = d.describe(schemaOf(functions[typeName(call.Fun)].Body))
		}
		return false
	})
	return d
}

// definedType is T of `T{}.OpenAPIModelName()`.
func definedType(key ast.Expr) ast.Expr {
	call, ok := key.(*ast.CallExpr)
	if !ok {
		return nil
	}
	return call.Fun.(*ast.SelectorExpr).X.(*ast.CompositeLit).Type
}

// schemaOf finds the outermost properties of a schema.
func schemaOf(node ast.Node) *ast.CompositeLit {
	var found *ast.CompositeLit
	ast.Inspect(node, func(node ast.Node) bool {
		if literal, ok := node.(*ast.CompositeLit); ok && found == nil && literal.Type != nil && typeName(literal.Type) == "SchemaProps" {
			found = literal
		}
		return found == nil
	})
	return found
}

func (d *Descriptions) describe(schema *ast.CompositeLit) Describe {
	result := Describe{Type: d.text(schema), Fields: map[string]int{}}
	if properties, ok := value(schema, "Properties").(*ast.CompositeLit); ok {
		for _, element := range properties.Elts {
			pair := element.(*ast.KeyValueExpr)
			if text := d.text(schemaOf(pair.Value)); text >= 0 {
				result.Fields[unquoted(pair.Key)] = text
			}
		}
	}
	return result
}

// text is the number of a schema's description, -1 where it has none.
func (d *Descriptions) text(schema *ast.CompositeLit) int {
	if schema == nil {
		return -1
	}
	text := unquoted(value(schema, "Description"))
	if text == "" {
		return -1
	}
	if _, ok := d.index[text]; !ok {
		d.index[text] = len(d.Texts)
		d.Texts = append(d.Texts, text)
	}
	return d.index[text]
}

func value(literal *ast.CompositeLit, key string) ast.Expr {
	if literal == nil {
		return nil
	}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok && typeName(pair.Key) == key {
			return pair.Value
		}
	}
	return nil
}

func unquoted(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	check(err)
	return text
}
