// Command types turns the published Kubernetes API types into what kube/ reads of them: the table of types, with names,
// tags, markers and numbers; their descriptions; the shapes of kube-apiserver's own types.
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// types -out FOLDER MODULE=DIRECTORY...
func main() {
	out := flag.String("out", "", "the repository: where kube/ is")
	flag.Parse()
	source := newSource()
	for _, pair := range flag.Args() {
		module, directory, _ := strings.Cut(pair, "=")
		source.modules[module] = directory
	}
	table := source.table()
	write(filepath.Join(*out, "kube/schema/generated/types.json.gz"), table)
	write(filepath.Join(*out, "kube/schema/generated/internal.json.gz"), source.internal())
	write(filepath.Join(*out, "kube/openapi/generated/descriptions.json.gz"), source.descriptions(table))
	log.Printf("%d types, %d kinds", len(table.Types), len(table.Kinds))
}

func write(path string, value any) {
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	file, err := os.Create(path)
	check(err)
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	check(err)
	encoder := json.NewEncoder(packed)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	check(packed.Close())
	check(file.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
