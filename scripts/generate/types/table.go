package main

import (
	"go/ast"
	"log"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Table is what kube/schema/table.ts reads; its comments say what the letters mean.
type Table struct {
	Names   []string       `json:"names"`
	Enums   [][]string     `json:"enums"`
	Aliases []string       `json:"aliases"`
	Types   []*Type        `json:"types"`
	Kinds   map[string]int `json:"kinds"`
	index   map[string]int
	enums   map[string]int
	aliases map[string]int
}

type Type struct {
	Special string   `json:"s,omitempty"`
	Map     string   `json:"m,omitempty"`
	Union   any      `json:"u,omitempty"`
	Fields  []*Field `json:"f,omitempty"`
}

type Field struct {
	Name          string   `json:"n"`
	Type          string   `json:"t"`
	Tag           int      `json:"p,omitempty"`
	Flags         string   `json:"x,omitempty"`
	Default       any      `json:"d,omitempty"`
	PatchStrategy []string `json:"ps,omitempty"`
	PatchMergeKey string   `json:"pk,omitempty"`
	ListType      string   `json:"lt,omitempty"`
	ListMapKeys   []string `json:"lk,omitempty"`
	Map           string   `json:"m,omitempty"`
}

const (
	meta       = "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiext     = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	aggregator = "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Types that encode themselves: table.ts, the codecs and the OpenAPI builder know each by this word.
var special = map[string]string{
	meta + ".Time":                                    "time",
	meta + ".MicroTime":                               "microtime",
	meta + ".Duration":                                "duration",
	meta + ".FieldsV1":                                "fields",
	apiext + ".JSON":                                  "json",
	apiext + ".JSONSchemaPropsOrArray":                "props-or-array",
	apiext + ".JSONSchemaPropsOrBool":                 "props-or-bool",
	apiext + ".JSONSchemaPropsOrStringArray":          "props-or-strings",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": "int-or-string",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    "raw",
}

var basic = map[string]string{
	"string": "s", "bool": "b", "int32": "i", "int64": "l", "int": "l", "uint32": "i", "uint64": "l", "float64": "n", "float32": "n", "byte": "B", "uint8": "B",
}

func (s *source) table() *Table {
	t := &Table{Kinds: map[string]int{}, index: map[string]int{}, enums: map[string]int{}, aliases: map[string]int{}}
	for _, path := range append(s.apiPackages(), meta, apiext, aggregator, "k8s.io/apimachinery/pkg/version") {
		p := s.load(path)
		version := filepath.Base(path)
		for _, name := range sorted(p.types) {
			d := p.types[name]
			structType, ok := d.expr.(*ast.StructType)
			if !ok || !ast.IsExported(name) || special[path+"."+name] != "" || d.markers["k8s:openapi-gen"] != nil && d.markers["k8s:openapi-gen"][0] == "false" {
				continue
			}
			id := s.typeIndex(t, d)
			if group, ok := p.consts["GroupName"]; ok && hasTypeMeta(structType) {
				t.Kinds[s.constant(d, group)+"/"+version+"/"+name] = id
			}
		}
	}
	return t
}

func (s *source) apiPackages() []string {
	var result []string
	root := s.modules["k8s.io/api"]
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "register.go"))
	check(err)
	for _, file := range files {
		relative, _ := filepath.Rel(root, filepath.Dir(file))
		result = append(result, "k8s.io/api/"+relative)
	}
	sort.Strings(result)
	return result
}

func hasTypeMeta(t *ast.StructType) bool {
	for _, f := range t.Fields.List {
		if len(f.Names) == 0 && typeName(f.Type) == "TypeMeta" {
			return true
		}
	}
	return false
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return typeName(e.X)
	}
	return ""
}

func publishedName(d *declaration) string {
	prefix := d.pkg.model
	if prefix == "" {
		prefix = "io." + strings.ReplaceAll(strings.TrimPrefix(strings.Replace(d.pkg.path, "k8s.io/", "k8s/", 1), "io."), "/", ".")
	}
	return prefix + "." + d.name
}

// typeIndex answers the number of a struct's entry, which it makes first if need be.
func (s *source) typeIndex(t *Table, d *declaration) int {
	key := d.pkg.path + "." + d.name
	if id, ok := t.index[key]; ok {
		return id
	}
	id := len(t.Types)
	entry := &Type{Special: special[key]}
	t.index[key] = id
	t.Types = append(t.Types, entry)
	t.Names = append(t.Names, publishedName(d))
	if structMap, ok := d.markers.first("structType"); ok {
		entry.Map = structMap
	}
	if structType, ok := d.expr.(*ast.StructType); ok && entry.Special == "" {
		s.fields(t, d, structType, entry)
		entry.Union = unionOf(d, structType)
	}
	return id
}

func (s *source) fields(t *Table, d *declaration, structType *ast.StructType, entry *Type) {
	for _, f := range structType.Fields.List {
		m := markersOf(f.Doc)
		var tag reflect.StructTag
		if f.Tag != nil {
			text, err := strconv.Unquote(f.Tag.Value)
			check(err)
			tag = reflect.StructTag(text)
		}
		jsonTag, tagged := tag.Lookup("json")
		parts := strings.Split(jsonTag, ",")
		name := parts[0]
		inline := len(parts) > 1 && parts[1] == "inline"
		if name == "-" && !inline {
			continue
		}
		if name == "" && !inline {
			if tagged || len(f.Names) == 0 {
				log.Printf("%s.%s: a field without a JSON name", d.pkg.path, d.name)
				continue
			}
			name = f.Names[0].Name
		}
		field := &Field{Name: name}
		if v, ok := m.first("k8s:openapi-gen"); ok && v == "false" {
			field.Flags += "h"
		}
		if described(f.Doc) {
			field.Flags += "c"
		}
		protobuf := strings.Split(tag.Get("protobuf"), ",")
		if len(protobuf) > 2 {
			field.Tag, _ = strconv.Atoi(protobuf[1])
		}
		if inline && field.Tag == 0 && typeName(f.Type) == "TypeMeta" {
			field.Name, field.Flags = "", "T"
			entry.Fields = append(entry.Fields, field)
			continue
		}
		field.Type = s.typeOf(t, d, f.Type)
		if _, ok := f.Type.(*ast.StarExpr); ok {
			field.Flags += "*"
		}
		if inline {
			field.Name = ""
			field.Flags += "I"
		}
		if !inline && !optional(m, jsonTag) {
			field.Flags += "r"
		}
		for _, part := range parts[1:] {
			switch part {
			case "omitempty":
				field.Flags += "o"
			case "omitzero":
				field.Flags += "z"
			}
		}
		s.mark(field, d, f, m)
		entry.Fields = append(entry.Fields, field)
	}
}

func (s *source) mark(field *Field, d *declaration, f *ast.Field, m markers) {
	if v, ok := m.first("patchStrategy"); ok {
		field.PatchStrategy = strings.Split(v, ",")
	}
	field.PatchMergeKey, _ = m.first("patchMergeKey")
	field.ListType, _ = m.first("listType")
	field.ListMapKeys = m["listMapKey"]
	if v, ok := m.first("mapType"); ok {
		field.Map = v
	}
	if v, ok := m.first("structType"); ok {
		field.Map = v
	}
	if v, ok := s.defaultOf(d, m, f.Type); ok {
		field.Default = v
	}
}

// described tells whether the field has documentation beside its markers: OpenAPI wraps references of such fields.
func described(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, line := range strings.Split(doc.Text(), "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "TODO") {
			return true
		}
	}
	return false
}

func optional(m markers, jsonTag string) bool {
	if m.has("required") {
		return false
	}
	return m.has("optional") || strings.Contains(jsonTag, "omitempty")
}

var reference = regexp.MustCompile(`^ref\(([^")]+)\)$`)
